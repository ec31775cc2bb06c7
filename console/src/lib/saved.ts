// Queries that somebody keeps, and those that were run: the server has both.
import { consoleApi } from "../api/client";
import type { Saved } from "../api/types";
import { info } from "../state";
import { newId } from "./format";

export const canSave = () => info.value?.features.saved ?? false;
let last = "";
export function remember(entry: Omit<Saved, "id">) {
  const text = JSON.stringify(entry);
  if (!canSave() || text === last || text.length > 16_000) return;
  last = text;
  void consoleApi.remember({ id: newId(), ...entry }).catch(() => {});
}

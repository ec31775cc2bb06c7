// What all pages share: who is signed in, what the server is, which tables there are, how the page looks.
import { effect, signal } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { consoleApi, isAbort, listTables, messageOf, reconnections, session, signInNeeded } from "./api/client";
import type { Info } from "./api/types";

export const info = signal<Info | null>(null);
export const infoKnown = new Promise<void>((known) => effect(() => void (info.value && known())));
export const accessKey = signal<string | null>(null);
export const tableNames = signal<string[] | null>(null);
export const readOnly = () => info.value?.readOnly ?? false;

// Learns who we are and what the server is.  Called at the start, after signing in, and when the server is back.
export async function start() {
  try {
    const who = await session.get();
    accessKey.value = who.accessKeyId;
    signInNeeded.value = who.required && !who.accessKeyId;
    if (signInNeeded.value) return;
    info.value = await consoleApi.info();
    await refreshTables();
  } catch {
    // The connection is lost, and start() is called again when it is back.
  }
}
export async function refreshTables() {
  tableNames.value = await listTables();
}

// Kept by this browser: what belongs to a person's screen, and no data of the database.
export function kept<T>(name: string, otherwise: T): T {
  try {
    const text = localStorage.getItem(`stator.${name}`);
    return text === null ? otherwise : (JSON.parse(text) as T);
  } catch {
    return otherwise;
  }
}
export function keep(name: string, value: unknown) {
  try {
    localStorage.setItem(`stator.${name}`, JSON.stringify(value));
  } catch {
    // A browser that keeps nothing still shows everything.
  }
}

export type Theme = "system" | "light" | "dark";
export const theme = signal<Theme>(kept<Theme>("theme", "system"));
effect(() => {
  keep("theme", theme.value);
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});

export interface Loaded<T> {
  data: T | undefined;
  error: string | null;
  loading: boolean;
  reload: () => void;
}
// Loads when the component appears, when `of` changes, and when a lost connection is back.
export function useLoad<T>(load: (stop: AbortSignal) => Promise<T>, of: unknown[]): Loaded<T> {
  const [state, setState] = useState<{ data: T | undefined; error: string | null; loading: boolean }>({ data: undefined, error: null, loading: true });
  const [round, setRound] = useState(0);
  const again = reconnections.value;
  const key = JSON.stringify(of);
  const last = useRef(key);
  useEffect(() => {
    const controller = new AbortController();
    const keepsData = last.current === key;
    last.current = key;
    setState((old) => ({ data: keepsData ? old.data : undefined, error: null, loading: true }));
    load(controller.signal).then(
      (data) => controller.signal.aborted || setState({ data, error: null, loading: false }),
      (error) => controller.signal.aborted || isAbort(error) || setState((old) => ({ ...old, error: messageOf(error), loading: false })),
    );
    return () => controller.abort();
  }, [key, round, again]);
  return { ...state, reload: () => setRound((n) => n + 1) };
}

export function useTitle(title: string) {
  useEffect(() => {
    document.title = title ? `${title} · Stator` : "Stator";
  }, [title]);
}

// Copies the items of one table into another, page by page.
import { call } from "../api/client";
import type { Item, PageOfItems } from "../api/types";
import { writeAll } from "./batch";

export type Caller = <T>(operation: string, body: object, stop?: AbortSignal) => Promise<T>;

export async function waitUntilActive(name: string, stop: AbortSignal): Promise<void> {
  for (;;) {
    const { Table } = await call<{ Table: { TableStatus: string } }>("DescribeTable", { TableName: name }, stop);
    if (Table.TableStatus === "ACTIVE") return;
    await new Promise((done) => setTimeout(done, 200));
    stop.throwIfAborted();
  }
}
export async function copyItems(read: Caller, from: string, to: string, onDone: (copied: number) => void, stop: AbortSignal): Promise<number> {
  let copied = 0;
  let start: Item | undefined;
  do {
    const page: PageOfItems = await read("Scan", { TableName: from, ...(start ? { ExclusiveStartKey: start } : {}) }, stop);
    await writeAll(to, (page.Items ?? []).map((Item) => ({ PutRequest: { Item } })), (n) => onDone((copied += n)), stop);
    start = page.LastEvaluatedKey;
  } while (start);
  return copied;
}

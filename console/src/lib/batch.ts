// Writes of many items: 25 in a request, some requests at a time, and again what the server did not take.
import { call } from "../api/client";
import type { Item } from "../api/types";
import { each } from "./format";

export type WriteRequest = { PutRequest: { Item: Item } } | { DeleteRequest: { Key: Item } };

export async function writeAll(table: string, requests: WriteRequest[], onDone: (written: number) => void, stop: AbortSignal): Promise<void> {
  const batches: WriteRequest[][] = [];
  for (let i = 0; i < requests.length; i += 25) batches.push(requests.slice(i, i + 25));
  await each(batches, 4, async (batch) => {
    let left = batch;
    for (let wait = 50; left.length; wait = Math.min(wait * 2, 2000)) {
      stop.throwIfAborted();
      const answer: { UnprocessedItems?: Record<string, WriteRequest[]> } = await call("BatchWriteItem", { RequestItems: { [table]: left } }, stop);
      const unprocessed = answer.UnprocessedItems?.[table] ?? [];
      onDone(left.length - unprocessed.length);
      left = unprocessed;
      if (left.length) await new Promise((done) => setTimeout(done, wait));
    }
  });
}

// The rows of a search: read page by page, as far as somebody scrolls, until there are no more or somebody stops.
import { signal } from "@preact/signals";
import { ApiError, call, isAbort, messageOf } from "../../api/client";
import type { Capacity, Item, PageOfItems, Type } from "../../api/types";
import { typeOf } from "../../lib/values";
import type { Request } from "../../lib/expressions";

export interface Numbers {
  examined: number;
  returned: number;
  requests: number;
  millis: number;
  capacity: Map<string, number>; // by index; "" is the table
}
export interface ColumnFacts {
  name: string;
  count: number;
  types: Set<Type>;
}
const noNumbers = (): Numbers => ({ examined: 0, returned: 0, requests: 0, millis: 0, capacity: new Map() });
const pageSize = 250;
// A filter that matches little reads on for so many requests before it asks.
const patience = 12;

export function addCapacity(to: Map<string, number>, capacity: Capacity | undefined) {
  if (!capacity) return;
  const add = (name: string, units: number | undefined) => units && to.set(name, (to.get(name) ?? 0) + units);
  const indexes = { ...capacity.GlobalSecondaryIndexes, ...capacity.LocalSecondaryIndexes };
  const ofIndexes = Object.values(indexes).reduce((sum, one) => sum + (one.CapacityUnits ?? 0), 0);
  add("", capacity.Table?.CapacityUnits ?? (capacity.CapacityUnits ?? 0) - ofIndexes);
  for (const [name, one] of Object.entries(indexes)) add(name, one.CapacityUnits);
}

export class Rows {
  readonly items: Item[] = [];
  readonly columns = new Map<string, ColumnFacts>();
  readonly numbers = noNumbers();
  readonly version = signal(0);
  readonly state = signal<"idle" | "loading" | "paused" | "done" | "error">("idle");
  error: string | null = null;
  private next: Item | undefined;
  private controller: AbortController | null = null;

  constructor(readonly operation: "Query" | "Scan", readonly request: Request) {}

  // Reads until there are `more` further rows, at most `requests` requests.
  async load(more = pageSize, requests = patience) {
    if (this.state.peek() === "loading" || this.state.peek() === "done") return;
    this.state.value = "loading";
    this.error = null;
    const controller = (this.controller = new AbortController());
    const wanted = this.items.length + more;
    const filtered = this.request.FilterExpression !== undefined;
    try {
      for (let n = 0; this.items.length < wanted; n++) {
        if (n >= requests) {
          this.state.value = "paused";
          return;
        }
        const started = performance.now();
        const page: PageOfItems = await call(this.operation, {
          ...this.request, ReturnConsumedCapacity: "INDEXES", ...(filtered ? {} : { Limit: pageSize }), ...(this.next ? { ExclusiveStartKey: this.next } : {}),
        }, controller.signal);
        this.add(page, performance.now() - started);
        this.next = page.LastEvaluatedKey;
        if (!this.next) {
          this.state.value = "done";
          return;
        }
      }
      this.state.value = "idle";
    } catch (problem) {
      if (isAbort(problem)) this.state.value = "paused";
      else {
        this.error = problem instanceof ApiError ? problem.message : messageOf(problem);
        this.state.value = "error";
      }
    } finally {
      this.version.value++;
    }
  }
  stop() {
    this.controller?.abort();
  }
  private add(page: PageOfItems, millis: number) {
    const numbers = this.numbers;
    numbers.requests++;
    numbers.millis += millis;
    numbers.examined += page.ScannedCount ?? 0;
    numbers.returned += page.Count ?? 0;
    addCapacity(numbers.capacity, page.ConsumedCapacity);
    for (const item of page.Items ?? []) {
      this.items.push(item);
      for (const [name, value] of Object.entries(item)) {
        const facts = this.columns.get(name);
        if (facts) {
          facts.count++;
          facts.types.add(typeOf(value));
        } else this.columns.set(name, { name, count: 1, types: new Set([typeOf(value)]) });
      }
    }
    this.version.value++;
  }
}

// All items of a search, page after page, for work on many.
export async function* pages(operation: "Query" | "Scan", request: Request, stop: AbortSignal): AsyncGenerator<Item[]> {
  let next: Item | undefined;
  do {
    const page: PageOfItems = await call(operation, { ...request, ...(next ? { ExclusiveStartKey: next } : {}) }, stop);
    yield page.Items ?? [];
    next = page.LastEvaluatedKey;
  } while (next);
}

// The whole items behind keys: what an index shows may be a part.
export async function wholeItems(table: string, keys: Item[], stop: AbortSignal): Promise<Item[]> {
  const found: Item[] = [];
  for (let i = 0; i < keys.length; i += 100) {
    let left: Item[] = keys.slice(i, i + 100);
    for (let wait = 50; left.length; wait *= 2) {
      const answer: { Responses?: Record<string, Item[]>; UnprocessedKeys?: Record<string, { Keys: Item[] }> } = await call("BatchGetItem", { RequestItems: { [table]: { Keys: left, ConsistentRead: true } } }, stop);
      found.push(...(answer.Responses?.[table] ?? []));
      left = answer.UnprocessedKeys?.[table]?.Keys ?? [];
      if (left.length) await new Promise((done) => setTimeout(done, Math.min(wait, 2000)));
    }
  }
  return found;
}

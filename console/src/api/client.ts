// The one place that talks to the server.
import { signal } from "@preact/signals";
import type { Identified, Info, Item, ModelSummary, Saved, Tag, TableDescription, TimeToLive } from "./types";

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly type: string,
    message: string,
    readonly body: { Item?: Item; CancellationReasons?: { Code?: string; Message?: string; Item?: Item }[] } = {},
  ) {
    super(message);
  }
}

export const connected = signal(true);
// Grows each time that a lost connection is back; what was loaded before is loaded again.
export const reconnections = signal(0);
// Whether the server wants a key and has none from us.
export const signInNeeded = signal(false);

let watching = false;
async function watchForReturn() {
  if (watching) return;
  watching = true;
  connected.value = false;
  for (let wait = 500; ; wait = Math.min(wait * 1.5, 5000)) {
    await new Promise((done) => setTimeout(done, wait));
    try {
      if ((await fetch("/health", { cache: "no-store" })).status < 600) break;
    } catch {
      // It is still away.
    }
  }
  watching = false;
  connected.value = true;
  reconnections.value++;
}

export async function request<T>(method: string, path: string, body?: unknown, stop?: AbortSignal): Promise<T> {
  let answer: Response;
  let text: string;
  try {
    answer = await fetch(path, {
      method,
      headers: { "X-Stator-Console": "1", ...(body === undefined ? {} : { "Content-Type": typeof body === "string" ? "text/plain" : "application/json" }) },
      body: body === undefined ? null : typeof body === "string" ? body : JSON.stringify(body),
      signal: stop ?? null,
      cache: "no-store",
    });
    text = await answer.text();
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    void watchForReturn();
    throw new ApiError(0, "ConnectionLost", "The server does not answer. The console asks again until it is back.");
  }
  if (answer.ok) return (text ? JSON.parse(text) : null) as T;
  let said: { __type?: string; message?: string; Message?: string } = {};
  try {
    said = JSON.parse(text);
  } catch {
    said = { message: text.trim().slice(0, 500) || `The server answered ${answer.status}.` };
  }
  const type = (said.__type ?? "").replace(/^.*#/, "");
  if (answer.status === 401 && path !== "/session") signInNeeded.value = true;
  throw new ApiError(answer.status, type, said.message ?? said.Message ?? type, said as ApiError["body"]);
}

// Any operation of the DynamoDB API.
export const call = <T = Record<string, never>>(operation: string, body: object, stop?: AbortSignal) => request<T>("POST", `/api/${operation}`, body, stop);
export const isAbort = (error: unknown) => error instanceof DOMException && error.name === "AbortError";
export const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

export const session = {
  get: () => request<{ required: boolean; accessKeyId: string | null }>("GET", "/session"),
  open: (accessKeyId: string, secretAccessKey: string) => request<null>("POST", "/session", { accessKeyId, secretAccessKey }),
  close: () => request<null>("DELETE", "/session"),
};

const unknownServer: Info = {
  version: "", readOnly: false, endpoint: null, api: null, region: "us-east-1", inMemory: false,
  features: { models: false, live: false, saved: false, impersonate: false }, systems: [],
};
// A server without a feature answers 404; then the console does without it.
async function optional<T>(loading: Promise<T>, otherwise: T): Promise<T> {
  try {
    return await loading;
  } catch (error) {
    if (error instanceof ApiError && [404, 405, 501].includes(error.status)) return otherwise;
    throw error;
  }
}

export const consoleApi = {
  info: () => optional(request<Info>("GET", "/console/info"), unknownServer),
  saved: () => optional(request<{ items: Saved[] }>("GET", "/console/saved"), { items: [] }),
  save: (entry: Saved) => request<null>("PUT", `/console/saved/${encodeURIComponent(entry.id)}`, entry),
  forget: (id: string) => request<null>("DELETE", `/console/saved/${encodeURIComponent(id)}`),
  history: () => optional(request<{ items: Saved[] }>("GET", "/console/history"), { items: [] }),
  remember: (entry: Saved) => optional(request<null>("POST", "/console/history", entry), null),
  forgetHistory: () => request<null>("DELETE", "/console/history"),
  models: () => optional(request<{ models: ModelSummary[] }>("GET", "/console/models"), { models: [] }),
  identify: (model: string, items: Item[], stop?: AbortSignal) =>
    request<{ items: Identified[] }>("POST", `/console/models/${encodeURIComponent(model)}/identify`, { items }, stop),
};

export async function listTables(): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const page: { TableNames: string[]; LastEvaluatedTableName?: string } = await call("ListTables", after ? { ExclusiveStartTableName: after } : {});
    names.push(...page.TableNames);
    after = page.LastEvaluatedTableName;
  } while (after);
  return names;
}
export const describeTable = async (TableName: string, stop?: AbortSignal) => (await call<{ Table: TableDescription }>("DescribeTable", { TableName }, stop)).Table;
export const describeTtl = async (TableName: string) =>
  (await call<{ TimeToLiveDescription?: TimeToLive }>("DescribeTimeToLive", { TableName })).TimeToLiveDescription ?? {};
export async function listTags(ResourceArn: string): Promise<Tag[]> {
  const tags: Tag[] = [];
  let NextToken: string | undefined;
  do {
    const page: { Tags?: Tag[]; NextToken?: string } = await call("ListTagsOfResource", { ResourceArn, ...(NextToken ? { NextToken } : {}) });
    tags.push(...(page.Tags ?? []));
    NextToken = page.NextToken;
  } while (NextToken);
  return tags;
}

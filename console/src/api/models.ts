// What the server says about models, and does for them.
import { request } from "./client";

export interface Finding {
  severity: "error" | "warning";
  rule: string;
  message: string;
  line: number;
  column: number;
  entity?: string;
  pattern?: string;
  subject: string;
  witness: string;
  fix: string;
  accepted: boolean;
  because: string;
}
export interface Parameter {
  name: string;
  in: "path" | "query" | "body";
  type: string;
  required: boolean;
  values?: string[];
  description: string;
}
export interface ModelAttribute {
  name: string;
  type: string;
  required: boolean;
  writable: boolean;
  values?: string[];
  flags: string[];
  detail: string;
  description: string;
  line: number;
}
export interface ModelEntity {
  name: string;
  description: string;
  path: string | null;
  owner: string | null;
  operations: string[];
  routes: { operation: string; method: string; path: string }[];
  keys: Record<string, string[]>;
  records: { name: string; type: string; keys: Record<string, string[]> }[];
  attributes: ModelAttribute[];
  parents: { entity: string; relation: string; by: string[] }[];
  line: number;
}
export interface ModelPattern {
  name: string;
  description: string;
  method: string;
  path: string | null;
  index: string | null;
  kind: string;
  condition: string;
  filter: string | null;
  parameters: Parameter[];
  returns: string[];
  returnedRecords: string[];
  order: string;
  single: boolean;
  access: string;
  cost: string;
  line: number;
}
export interface ModelAction {
  name: string;
  description: string;
  method: string;
  path: string;
  inputs: Parameter[];
  accepts: string[];
  steps: string[];
  native: boolean;
  access: string;
  line: number;
}
export interface ModelIndex {
  name: string;
  kind: string;
  partitionKey: string;
  sortKey: string | null;
  projection: string;
  description: string;
}
export interface ModelView {
  name: string;
  title: string;
  description: string;
  table: { name: string; partitionKey: string; sortKey: string | null; typeAttribute: string; indexes: ModelIndex[] };
  entities: ModelEntity[];
  patterns: ModelPattern[];
  actions: ModelAction[];
  relations: { from: string; to: string; kind: "parent" | "copy" | "count" | "unique"; label: string }[];
  findings: Finding[];
}
export interface CheckedModel {
  ok: boolean;
  findings: Finding[];
  model: ModelView | null;
  document: string | null;
  costs: Costs | null;
}
export interface Costs {
  patterns: { pattern: string; reads: string; requests: number; itemsRead: number; readUnits: number }[];
  creates: { entity: string; rows: number; indexEntries: number; writeUnits: number }[];
  copies: { source: string; copy: string; rows: number; indexEntries: number; writeUnits: number }[];
}
export interface ServedModel extends CheckedModel {
  model: ModelView;
  prefix: string;
  builtin: boolean;
  source: string;
}
export interface ListedModel {
  name: string;
  title: string;
  description: string;
  table: string;
  prefix: string;
  builtin: boolean;
  entities: number;
  patterns: number;
  actions: number;
  findings: { error: number; warning: number; accepted: number };
}
export interface TracedCall {
  operation: string;
  request: unknown;
  response: unknown;
  error?: string;
  micros: number;
  capacity?: number;
}
export interface RunAnswer {
  status: number;
  headers: Record<string, string>;
  body: unknown;
  text: string;
  micros: number;
  requests: TracedCall[];
  leftOut: number;
}
export interface RunRequest {
  method: string;
  path: string;
  query: Record<string, string>;
  body: string | null;
  contentType?: string;
  as: { subject: string; claims?: Record<string, unknown> } | null;
}
export interface VerifyFinding {
  kind: string;
  entity: string;
  key: string;
  what: string;
  expected: string;
  found: string;
  repairable: boolean;
  state: "found" | "repaired" | "pending";
}
export interface Consistency {
  needed: boolean;
  running: boolean;
  verifying?: boolean;
  held?: boolean;
  lagMs: number;
  waiting?: number;
  propagated?: number;
  repaired?: number;
  problem?: string;
  shards: { id: string; owner: string; checkpoint: string | null; done: boolean; lagMs: number }[];
  parkedCount: number;
  parked: { id: string; sequence: string; reason: string; attempts: number; at: string; record: unknown }[];
  migration: null | { steps: string[]; step: number; rows: number; since: string };
  verify: { state: "idle" | "running" | "done"; busy: boolean; repair?: boolean; checked: number; found: number; repaired: number; pending: number; problem?: string; findings: VerifyFinding[] };
}
export interface Plan {
  steps: string[];
  warnings: string[];
  obstacles: string[];
  report: string;
}

const at = (model: string, rest = "") => `/console/models/${encodeURIComponent(model)}${rest}`;
export const models = {
  list: (stop?: AbortSignal) => request<{ models: ListedModel[] }>("GET", "/console/models", undefined, stop),
  get: (model: string, stop?: AbortSignal) => request<ServedModel>("GET", at(model), undefined, stop),
  check: (yaml: string, stop?: AbortSignal) => request<CheckedModel>("POST", "/console/models/check", yaml, stop),
  run: (model: string, asked: RunRequest, stop?: AbortSignal) => request<RunAnswer>("POST", at(model, "/run"), asked, stop),
  consistency: (model: string, stop?: AbortSignal) => request<Consistency>("GET", at(model, "/consistency"), undefined, stop),
  verify: (model: string, repair: boolean) => request<null>("POST", at(model, "/consistency/verify"), { repair }),
  replay: (model: string, id: string) => request<null>("POST", at(model, "/consistency/replay"), { id }),
  plan: (model: string, yaml: string, stop?: AbortSignal) => request<Plan>("POST", at(model, "/plan"), yaml, stop),
};

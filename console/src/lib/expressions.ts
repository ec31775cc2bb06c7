// From what the query builder shows to the request of a Query or Scan.
import type { AttributeValue, IndexDescription, Item, KeyType, TableDescription, Type } from "../api/types";

export type KeyOperator = "=" | "<" | "<=" | ">" | ">=" | "between" | "begins_with";
export type FilterOperator = KeyOperator | "<>" | "in" | "contains" | "not contains" | "exists" | "not exists" | "type is" | "size >" | "size <";
export interface Filter {
  name: string;
  op: FilterOperator;
  type: Type;
  value: string;
  value2?: string;
}
export interface Search {
  index: string; // "" is the table
  pk: string;
  op: KeyOperator;
  sk: string;
  sk2: string;
  filters: Filter[];
  select: string;
  desc: boolean;
  consistent: boolean;
}
export const emptySearch: Search = { index: "", pk: "", op: "=", sk: "", sk2: "", filters: [], select: "", desc: false, consistent: false };

export function keyOperators(type: KeyType): KeyOperator[] {
  return type === "N" ? ["=", "<", "<=", ">", ">=", "between"] : ["begins_with", "=", "<", "<=", ">", ">=", "between"];
}
export function filterOperators(type: Type): FilterOperator[] {
  const always: FilterOperator[] = ["exists", "not exists", "type is"];
  switch (type) {
    case "S": case "B": return ["=", "<>", "begins_with", "contains", "not contains", "<", "<=", ">", ">=", "between", "in", "size >", "size <", ...always];
    case "N": return ["=", "<>", "<", "<=", ">", ">=", "between", "in", ...always];
    case "BOOL": case "NULL": return ["=", "<>", ...always];
    default: return ["contains", "not contains", "size >", "size <", ...always];
  }
}
export const operatorText: Partial<Record<FilterOperator, string>> = {
  "=": "=", "<>": "≠", "<=": "≤", ">=": "≥", begins_with: "begins with", between: "between", in: "is one of", contains: "contains",
  "not contains": "does not contain", exists: "exists", "not exists": "does not exist", "type is": "has the type", "size >": "is longer than", "size <": "is shorter than",
};
export const takesValue = (op: FilterOperator) => op !== "exists" && op !== "not exists";

export interface Target {
  index: IndexDescription | null;
  kind: "table" | "global" | "local";
  pk: { name: string; type: KeyType };
  sk: { name: string; type: KeyType } | null;
}
// What is browsed: the table, or one of its indexes.  An index may have several attributes in each part of its key; the first counts.
export function targetOf(table: TableDescription, index: string): Target {
  const global = table.GlobalSecondaryIndexes?.find((one) => one.IndexName === index);
  const local = table.LocalSecondaryIndexes?.find((one) => one.IndexName === index);
  const schema = (global ?? local ?? table).KeySchema;
  const key = (role: string) => {
    const found = schema.find((one) => one.KeyType === role);
    if (!found) return null;
    return { name: found.AttributeName, type: table.AttributeDefinitions.find((one) => one.AttributeName === found.AttributeName)?.AttributeType ?? "S" };
  };
  return { index: global ?? local ?? null, kind: global ? "global" : local ? "local" : "table", pk: key("HASH")!, sk: key("RANGE") };
}
export const indexesOf = (table: TableDescription) => [...(table.GlobalSecondaryIndexes ?? []), ...(table.LocalSecondaryIndexes ?? [])];

// A value as somebody types it.
export function valueOf(type: Type, text: string): AttributeValue {
  switch (type) {
    case "N": return { N: text.trim() };
    case "B": return { B: text.trim() };
    case "BOOL": return { BOOL: text.trim() === "true" };
    case "NULL": return { NULL: true };
    default: return { S: text };
  }
}

export interface Request {
  TableName: string;
  IndexName?: string;
  KeyConditionExpression?: string;
  FilterExpression?: string;
  ProjectionExpression?: string;
  ExpressionAttributeNames?: Record<string, string>;
  ExpressionAttributeValues?: Item;
  ScanIndexForward?: boolean;
  ConsistentRead?: boolean;
}

// Names and values behind placeholders; the same name has the same placeholder.
export class Placeholders {
  readonly names: Record<string, string> = {};
  readonly values: Item = {};
  private known = new Map<string, string>();
  name(name: string): string {
    const old = this.known.get(name);
    if (old) return old;
    const simple = /^[A-Za-z][A-Za-z0-9]*$/.test(name) && !(`#${name}` in this.names) ? `#${name}` : `#n${this.known.size}`;
    this.known.set(name, simple);
    this.names[simple] = name;
    return simple;
  }
  // `a.b[0]`: a path; `"a.b"` in quotes is one name.
  path(text: string): string {
    const quoted = /^"(.*)"$/s.exec(text.trim());
    if (quoted) return this.name(quoted[1]!);
    return text.trim().split(".").map((part) => {
      const [, name, rest] = /^(.*?)((?:\[\d+\])*)$/s.exec(part)!;
      return this.name(name!) + rest;
    }).join(".");
  }
  value(value: AttributeValue): string {
    const name = `:v${Object.keys(this.values).length}`;
    this.values[name] = value;
    return name;
  }
  addTo<T extends object>(request: T): T & { ExpressionAttributeNames?: Record<string, string>; ExpressionAttributeValues?: Item } {
    return {
      ...request,
      ...(Object.keys(this.names).length ? { ExpressionAttributeNames: this.names } : {}),
      ...(Object.keys(this.values).length ? { ExpressionAttributeValues: this.values } : {}),
    };
  }
}

function condition(path: string, op: FilterOperator, type: Type, value: string, value2: string, holders: Placeholders): string {
  const one = (text: string) => holders.value(valueOf(type, text));
  switch (op) {
    case "between": return `${path} BETWEEN ${one(value)} AND ${one(value2)}`;
    case "begins_with": return `begins_with(${path}, ${one(value)})`;
    case "contains": return `contains(${path}, ${one(value)})`;
    case "not contains": return `NOT contains(${path}, ${one(value)})`;
    case "exists": return `attribute_exists(${path})`;
    case "not exists": return `attribute_not_exists(${path})`;
    case "type is": return `attribute_type(${path}, ${holders.value({ S: value })})`;
    case "size >": return `size(${path}) > ${holders.value({ N: value || "0" })}`;
    case "size <": return `size(${path}) < ${holders.value({ N: value || "0" })}`;
    case "in": return `${path} IN (${value.split(",").map((text) => one(text.trim())).join(", ")})`;
    default: return `${path} ${op} ${one(value)}`;
  }
}

export function build(table: TableDescription, search: Search): { operation: "Query" | "Scan"; request: Request } {
  const target = targetOf(table, search.index);
  const holders = new Placeholders();
  const request: Request = { TableName: table.TableName };
  if (target.index) request.IndexName = target.index.IndexName;
  const isQuery = search.pk !== "";
  if (isQuery) {
    let text = `${holders.name(target.pk.name)} = ${holders.value(valueOf(target.pk.type, search.pk))}`;
    if (target.sk && search.sk !== "") text += ` AND ${condition(holders.name(target.sk.name), search.op, target.sk.type, search.sk, search.sk2, holders)}`;
    request.KeyConditionExpression = text;
    if (search.desc) request.ScanIndexForward = false;
  }
  const filters = search.filters.filter((one) => one.name.trim() !== "");
  if (filters.length) request.FilterExpression = filters.map((one) => condition(holders.path(one.name), one.op, one.type, one.value, one.value2 ?? "", holders)).join(" AND ");
  const selected = search.select.split(",").map((name) => name.trim()).filter(Boolean);
  if (selected.length) request.ProjectionExpression = selected.map((name) => holders.path(name)).join(", ");
  if (search.consistent && target.kind !== "global") request.ConsistentRead = true;
  return { operation: isQuery ? "Query" : "Scan", request: holders.addTo(request) };
}

// The search in the URL and back.  What is as usual is left out.
export function searchToQuery(search: Search): Record<string, string | null> {
  return {
    index: search.index || null, pk: search.pk || null, op: search.sk && search.op !== "=" ? search.op : null, sk: search.sk || null, sk2: search.sk2 || null,
    filter: search.filters.length ? JSON.stringify(search.filters.map((one) => [one.name, one.op, one.type, one.value, ...(one.value2 ? [one.value2] : [])])) : null,
    select: search.select || null, desc: search.desc ? "1" : null, consistent: search.consistent ? "1" : null,
  };
}
export function searchFromQuery(query: URLSearchParams): Search {
  let filters: Filter[] = [];
  try {
    const rows = JSON.parse(query.get("filter") ?? "[]") as string[][];
    filters = rows.map(([name = "", op = "=", type = "S", value = "", value2]) => ({ name, op: op as FilterOperator, type: type as Type, value, ...(value2 ? { value2 } : {}) }));
  } catch {
    // An address that somebody has changed by hand: the rest of it counts.
  }
  return {
    index: query.get("index") ?? "", pk: query.get("pk") ?? "", op: (query.get("op") ?? "=") as KeyOperator, sk: query.get("sk") ?? "", sk2: query.get("sk2") ?? "",
    filters, select: query.get("select") ?? "", desc: query.get("desc") === "1", consistent: query.get("consistent") === "1",
  };
}

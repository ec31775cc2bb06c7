// The design of a table as the form has it, and as CreateTable has it.
import type { IndexDescription, KeyType, Projection, TableDescription, Tag } from "../../api/types";

export interface KeyDesign {
  name: string;
  type: KeyType;
}
export interface IndexDesign {
  name: string;
  kind: "global" | "local";
  pk: KeyDesign;
  sk: KeyDesign; // no name: no sort key
  projection: "ALL" | "KEYS_ONLY" | "INCLUDE";
  include: string;
}
export interface Design {
  name: string;
  pk: KeyDesign;
  sk: KeyDesign;
  indexes: IndexDesign[];
  stream: "" | "NEW_AND_OLD_IMAGES" | "NEW_IMAGE" | "OLD_IMAGE" | "KEYS_ONLY";
  ttl: string;
  protect: boolean;
  tags: Tag[];
}
export const streamViews = ["NEW_AND_OLD_IMAGES", "NEW_IMAGE", "OLD_IMAGE", "KEYS_ONLY"] as const;
export const keyTypes = [{ value: "S", text: "String" }, { value: "N", text: "Number" }, { value: "B", text: "Binary" }] as const;
export const emptyDesign: Design = { name: "", pk: { name: "pk", type: "S" }, sk: { name: "sk", type: "S" }, indexes: [], stream: "", ttl: "", protect: false, tags: [] };
export const newIndex = (n: number): IndexDesign => ({ name: `gsi${n}`, kind: "global", pk: { name: `gsi${n}pk`, type: "S" }, sk: { name: `gsi${n}sk`, type: "S" }, projection: "ALL", include: "" });

export interface CreateTable {
  TableName: string;
  AttributeDefinitions: { AttributeName: string; AttributeType: KeyType }[];
  KeySchema: { AttributeName: string; KeyType: "HASH" | "RANGE" }[];
  BillingMode: "PAY_PER_REQUEST";
  GlobalSecondaryIndexes?: object[];
  LocalSecondaryIndexes?: object[];
  StreamSpecification?: object;
  DeletionProtectionEnabled?: boolean;
  Tags?: Tag[];
}
const schema = (pk: KeyDesign, sk: KeyDesign) => [
  { AttributeName: pk.name, KeyType: "HASH" as const },
  ...(sk.name ? [{ AttributeName: sk.name, KeyType: "RANGE" as const }] : []),
];
const projection = (index: IndexDesign): Projection => ({
  ProjectionType: index.projection,
  ...(index.projection === "INCLUDE" ? { NonKeyAttributes: index.include.split(",").map((name) => name.trim()).filter(Boolean) } : {}),
});
export const indexRequest = (index: IndexDesign, pk: KeyDesign) => ({
  IndexName: index.name, KeySchema: schema(index.kind === "local" ? pk : index.pk, index.sk), Projection: projection(index),
});
export function definitions(...keys: KeyDesign[]) {
  const found = new Map<string, KeyType>();
  for (const key of keys) if (key.name && !found.has(key.name)) found.set(key.name, key.type);
  return [...found].map(([AttributeName, AttributeType]) => ({ AttributeName, AttributeType }));
}
export function requestOf(design: Design): CreateTable {
  const global = design.indexes.filter((one) => one.kind === "global");
  const local = design.indexes.filter((one) => one.kind === "local");
  return {
    TableName: design.name,
    AttributeDefinitions: definitions(design.pk, design.sk, ...design.indexes.flatMap((one) => (one.kind === "global" ? [one.pk, one.sk] : [one.sk]))),
    KeySchema: schema(design.pk, design.sk),
    BillingMode: "PAY_PER_REQUEST",
    ...(global.length ? { GlobalSecondaryIndexes: global.map((one) => indexRequest(one, design.pk)) } : {}),
    ...(local.length ? { LocalSecondaryIndexes: local.map((one) => indexRequest(one, design.pk)) } : {}),
    ...(design.stream ? { StreamSpecification: { StreamEnabled: true, StreamViewType: design.stream } } : {}),
    ...(design.protect ? { DeletionProtectionEnabled: true } : {}),
    ...(design.tags.length ? { Tags: design.tags } : {}),
  };
}

export function designOf(table: TableDescription, ttl = "", tags: Tag[] = []): Design {
  const type = (name: string): KeyType => table.AttributeDefinitions.find((one) => one.AttributeName === name)?.AttributeType ?? "S";
  const key = (keys: TableDescription["KeySchema"], role: string): KeyDesign => {
    const name = keys.find((one) => one.KeyType === role)?.AttributeName ?? "";
    return { name, type: name ? type(name) : "S" };
  };
  const index = (kind: "global" | "local") => (one: IndexDescription): IndexDesign => ({
    name: one.IndexName, kind, pk: key(one.KeySchema, "HASH"), sk: key(one.KeySchema, "RANGE"),
    projection: one.Projection?.ProjectionType ?? "ALL", include: (one.Projection?.NonKeyAttributes ?? []).join(", "),
  });
  return {
    name: table.TableName, pk: key(table.KeySchema, "HASH"), sk: key(table.KeySchema, "RANGE"),
    indexes: [...(table.GlobalSecondaryIndexes ?? []).map(index("global")), ...(table.LocalSecondaryIndexes ?? []).map(index("local"))],
    stream: table.StreamSpecification?.StreamEnabled ? ((table.StreamSpecification.StreamViewType ?? "NEW_AND_OLD_IMAGES") as Design["stream"]) : "",
    ttl, protect: table.DeletionProtectionEnabled ?? false, tags,
  };
}

// A CreateTable request that somebody wrote, as the form shows it.
export function designOfRequest(request: Partial<CreateTable>): Design {
  return designOf({
    TableName: "", TableStatus: "", KeySchema: [], AttributeDefinitions: [], ...(request as object),
  } as TableDescription, "", request.Tags ?? []);
}

// What is wrong, by field; the server says the rest.
export function problems(design: Design, existing: string[]): Record<string, string> {
  const found: Record<string, string> = {};
  if (!/^[A-Za-z0-9_.-]{3,255}$/.test(design.name)) found.name = "3 to 255 letters, digits, _ - and .";
  else if (existing.includes(design.name)) found.name = "There is a table with this name.";
  if (!design.pk.name) found.pk = "A table needs a partition key.";
  if (design.sk.name && design.sk.name === design.pk.name) found.sk = "The sort key is another attribute than the partition key.";
  design.indexes.forEach((index, i) => {
    if (!/^[A-Za-z0-9_.-]{3,255}$/.test(index.name)) found[`index${i}`] = "3 to 255 letters, digits, _ - and .";
    else if (design.indexes.findIndex((one) => one.name === index.name) < i) found[`index${i}`] = "Another index has this name.";
    else if (index.kind === "global" ? !index.pk.name : !index.sk.name) found[`index${i}`] = index.kind === "global" ? "An index needs a partition key." : "A local index needs a sort key.";
  });
  return found;
}

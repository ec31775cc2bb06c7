// What the API of DynamoDB says, as far as the console reads it.  Numbers of items are texts, and stay so: they have 38 digits.
export type AttributeValue =
  | { S: string }
  | { N: string }
  | { B: string }
  | { BOOL: boolean }
  | { NULL: true }
  | { L: AttributeValue[] }
  | { M: Item }
  | { SS: string[] }
  | { NS: string[] }
  | { BS: string[] };
export type Item = { [name: string]: AttributeValue };
export type Type = "S" | "N" | "B" | "BOOL" | "NULL" | "L" | "M" | "SS" | "NS" | "BS";
export type KeyType = "S" | "N" | "B";

export interface KeyElement {
  AttributeName: string;
  KeyType: "HASH" | "RANGE";
}
export interface Projection {
  ProjectionType?: "ALL" | "KEYS_ONLY" | "INCLUDE";
  NonKeyAttributes?: string[];
}
export interface IndexDescription {
  IndexName: string;
  KeySchema: KeyElement[];
  Projection?: Projection;
  IndexStatus?: string;
  Backfilling?: boolean;
  ItemCount?: number;
  IndexSizeBytes?: number;
}
export interface TableDescription {
  TableName: string;
  TableStatus: string;
  TableArn?: string;
  CreationDateTime?: number;
  ItemCount?: number;
  TableSizeBytes?: number;
  KeySchema: KeyElement[];
  AttributeDefinitions: { AttributeName: string; AttributeType: KeyType }[];
  GlobalSecondaryIndexes?: IndexDescription[];
  LocalSecondaryIndexes?: IndexDescription[];
  StreamSpecification?: { StreamEnabled: boolean; StreamViewType?: string };
  LatestStreamArn?: string;
  DeletionProtectionEnabled?: boolean;
  BillingModeSummary?: { BillingMode?: string };
  ProvisionedThroughput?: { ReadCapacityUnits?: number; WriteCapacityUnits?: number };
}
export interface TimeToLive {
  TimeToLiveStatus?: string;
  AttributeName?: string;
}
export interface Tag {
  Key: string;
  Value: string;
}
export interface Capacity {
  TableName?: string;
  CapacityUnits?: number;
  Table?: { CapacityUnits?: number };
  GlobalSecondaryIndexes?: Record<string, { CapacityUnits?: number }>;
  LocalSecondaryIndexes?: Record<string, { CapacityUnits?: number }>;
}
export interface PageOfItems {
  Items?: Item[];
  Count?: number;
  ScannedCount?: number;
  LastEvaluatedKey?: Item;
  ConsumedCapacity?: Capacity;
}
export interface StatementAnswer {
  Items?: Item[];
  NextToken?: string;
  LastEvaluatedKey?: Item;
  ConsumedCapacity?: Capacity;
}

// The console's own endpoints.
export interface Info {
  version: string;
  readOnly: boolean;
  endpoint: string | null;
  api: { secure: boolean; host: string; port: number } | null; // of this server; no host: that of the page
  region: string;
  inMemory: boolean;
  features: { models: boolean; live: boolean; saved: boolean; impersonate: boolean; remote?: boolean };
  systems: { name: string; title: string; prefix: string; table: string }[];
}
export interface Saved {
  id: string;
  kind: string;
  name: string;
  table?: string;
  body: unknown;
  at?: string | number;
}
export interface ModelSummary {
  name: string;
  title: string;
  table: string;
  prefix: string;
  builtin: boolean;
}
export interface Identified {
  entity: string | null;
  path: string | null;
  parents: { entity: string; key: Item }[];
  indexRows: { index: string; partition: string; sort: string | null }[];
}

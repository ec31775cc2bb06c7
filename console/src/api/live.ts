// What the server says about its requests and its numbers.
import { request } from "./client";

export interface LiveRequest {
  id: number;
  at: string;
  operation: string;
  table: string;
  status: number;
  error?: string;
  micros: number;
  requestBytes: number;
  responseBytes: number;
  capacity: number | null;
  partition: string | null;
  body?: string;
  cut?: boolean;
}
// The database server that keeps the data, and what was asked of it.
export interface StoreServer {
  host: string;
  reachable: boolean;
  since: string;
  connections: number;
  connectionsUsed: number;
  mostConnections: number;
  roundTripMicros: number;
  epoch: number;
  conflicts: number;
  retries: number;
  lockWaitMicros: number;
  statements: { kind: string; roundTrips: number; statements: number; rows: number; micros: number }[];
}
export interface Numbers {
  at: string;
  requests: number;
  errors: number;
  latency: { p50: number; p99: number; buckets: [number | null, number][] };
  commits: number;
  storageBytes: number;
  memoryBytes: number;
  memoryLimit: number;
  connections: number;
  byOperation: { operation: string; requests: number; errors: number }[];
  hottest: { table: string; partition: string; requests: number }[];
  store?: StoreServer | null;
}

export const live = {
  requests: (after: number, stop?: AbortSignal) =>
    request<{ cursor: number; dropped: number; requests: LiveRequest[] }>("GET", `/console/live?after=${after}&bodies=1`, undefined, stop),
  numbers: (stop?: AbortSignal) => request<Numbers>("GET", "/console/metrics", undefined, stop),
};

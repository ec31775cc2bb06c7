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
}

export const live = {
  requests: (after: number, stop?: AbortSignal) =>
    request<{ cursor: number; dropped: number; requests: LiveRequest[] }>("GET", `/console/live?after=${after}&bodies=1`, undefined, stop),
  numbers: (stop?: AbortSignal) => request<Numbers>("GET", "/console/metrics", undefined, stop),
};

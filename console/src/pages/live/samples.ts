// Numbers of the server as rates: what happened between two readings.
import type { Numbers } from "../../api/live";

export interface Sample {
  at: number; // seconds
  requests: number; // per second
  errors: number;
  commits: number;
  p50: number | null; // milliseconds; null: no request
  p99: number | null;
  storage: number;
  memory: number;
  connections: number;
}

export function sampleOf(before: Numbers, now: Numbers): Sample | null {
  const at = Date.parse(now.at) / 1000;
  const seconds = at - Date.parse(before.at) / 1000;
  if (seconds <= 0 || now.requests < before.requests) return null; // another life of the server
  const buckets = now.latency.buckets.map(([bound, count], i): [number, number] => [bound ?? Infinity, count - (before.latency.buckets[i]?.[1] ?? 0)]);
  const milliseconds = (part: number) => {
    const value = percentile(buckets, part);
    return value === null ? null : value * 1000;
  };
  return {
    at, requests: (now.requests - before.requests) / seconds, errors: (now.errors - before.errors) / seconds, commits: (now.commits - before.commits) / seconds,
    p50: milliseconds(0.5), p99: milliseconds(0.99), storage: now.storageBytes, memory: now.memoryBytes, connections: now.connections,
  };
}

export function percentile(buckets: [number, number][], part: number): number | null {
  const all = buckets.reduce((sum, [, count]) => sum + count, 0);
  if (!all) return null;
  let below = 0;
  let lower = 0;
  for (const [bound, count] of buckets) {
    if (count > 0 && below + count >= part * all) return bound === Infinity ? lower : lower + ((bound - lower) * (part * all - below)) / count;
    below += count;
    if (bound !== Infinity) lower = bound;
  }
  return lower;
}

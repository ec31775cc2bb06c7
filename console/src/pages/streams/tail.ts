// Reads a stream as it grows: every shard, and the shards that follow them.
import { ApiError, call } from "../../api/client";
import type { Item } from "../../api/types";
import { each } from "../../lib/format";

export interface StreamRecord {
  eventID: string;
  eventName: "INSERT" | "MODIFY" | "REMOVE";
  userIdentity?: { Type?: string; PrincipalId?: string };
  dynamodb: {
    ApproximateCreationDateTime?: number;
    Keys: Item;
    NewImage?: Item;
    OldImage?: Item;
    SequenceNumber: string;
    SizeBytes?: number;
    StreamViewType?: string;
  };
}
interface Shard {
  ShardId: string;
  ParentShardId?: string;
  SequenceNumberRange: { StartingSequenceNumber?: string; EndingSequenceNumber?: string };
}
// A time is in seconds since 1970.
export type From = "now" | "start" | { sequence: string; after: boolean } | { time: number };

// As it is in the address: start, now, at:123 or 123 (a sequence number), after:123, time:2026-01-15T10:00:00 (UTC).
export function readFrom(text: string): From {
  if (text === "now" || text === "start") return text;
  if (text.startsWith("time:")) return { time: Date.parse(`${text.slice(5)}Z`) / 1000 };
  return { sequence: text.replace(/^(at|after):/, ""), after: text.startsWith("after:") };
}

export async function shardsOf(StreamArn: string, stop: AbortSignal): Promise<Shard[]> {
  const shards: Shard[] = [];
  let last: string | undefined;
  do {
    const { StreamDescription } = await call<{ StreamDescription: { Shards?: Shard[]; LastEvaluatedShardId?: string } }>(
      "DescribeStream", { StreamArn, ...(last ? { ExclusiveStartShardId: last } : {}) }, stop);
    shards.push(...(StreamDescription.Shards ?? []));
    last = StreamDescription.LastEvaluatedShardId;
  } while (last);
  return shards;
}

const inside = (shard: Shard, sequence: string) => {
  const { StartingSequenceNumber: start = "0", EndingSequenceNumber: end } = shard.SequenceNumberRange;
  return BigInt(sequence) >= BigInt(start) && (!end || BigInt(sequence) <= BigInt(end));
};

// What one round of reading gave.
export interface Round {
  records: StreamRecord[];
  skipped: number; // records before the point from which one wants to see them
  at: number | null; // the time of the last record that was read
  behind: boolean; // there is more to read at once
}
interface Position {
  start: object; // where to read when no record has been read yet
  iterator: string | null; // null: there is none at the moment
  last: string | null; // the sequence number of the last record that was read
  ended: boolean;
}
const oldest = { ShardIteratorType: "TRIM_HORIZON" };
const limit = 1000; // records of one answer
const atOnce = 4; // shards
const recent = 10; // seconds: a reader that is not further behind is at the end

// One reading position in every shard.  next() asks each of them once.
export class Tail {
  private positions = new Map<string, Position>();
  private described = 0;
  // Read, and not handed over yet: a round that is stopped loses nothing.
  private round: Round = { records: [], skipped: 0, at: null, behind: false };
  constructor(private readonly arn: string, private readonly from: From) {}

  async next(stop: AbortSignal): Promise<Round> {
    if (!this.described || Date.now() - this.described > 10_000) await this.describe(stop);
    this.round.behind = false;
    const open = [...this.positions].filter(([, position]) => !position.ended);
    await each(open, atOnce, ([shard, position]) => this.read(shard, position, stop));
    const done = this.round;
    this.round = { records: [], skipped: 0, at: null, behind: false };
    done.records.sort((a, b) => timeOf(a) - timeOf(b));
    return done;
  }

  private async read(shard: string, position: Position, stop: AbortSignal) {
    try {
      position.iterator ??= await this.iterator(shard, position, stop);
      const page = await call<{ Records: StreamRecord[]; NextShardIterator?: string }>(
        "GetRecords", { ShardIterator: position.iterator, Limit: limit }, stop);
      position.iterator = page.NextShardIterator ?? null;
      position.ended = !page.NextShardIterator;
      const newest = page.Records.at(-1);
      position.last = newest?.dynamodb.SequenceNumber ?? position.last;
      this.take(page.Records);
      if (position.ended) this.described = 0; // its children begin where it ends
      const full = page.Records.length >= limit;
      if (newest && (full || position.ended || timeOf(newest) < Date.now() / 1000 - recent)) this.round.behind = true;
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      // DynamoDB takes only a sequence number of the shard itself, and not one between two of them.
      const foreign = error.type === "ValidationException" && position.iterator === null && position.start !== oldest;
      const trimmed = error.type === "TrimmedDataAccessException";
      if (!foreign && !trimmed && error.type !== "ExpiredIteratorException") throw error;
      if (foreign || trimmed) Object.assign(position, { start: oldest, last: null });
      position.iterator = null;
      this.round.behind = true;
    }
  }

  private take(records: StreamRecord[]) {
    const { round } = this;
    const wanted = records.filter((one) => this.wants(one));
    round.records.push(...wanted);
    round.skipped += records.length - wanted.length;
    if (records.length) round.at = Math.max(round.at ?? 0, timeOf(records.at(-1)!));
  }

  private wants(record: StreamRecord) {
    const { from } = this;
    if (typeof from === "string") return true;
    if ("time" in from) return timeOf(record) >= from.time;
    const [number, first] = [BigInt(record.dynamodb.SequenceNumber), BigInt(from.sequence)];
    return from.after ? number > first : number >= first;
  }

  private async iterator(ShardId: string, { start, last }: Position, stop: AbortSignal) {
    const at = last === null ? start : { ShardIteratorType: "AFTER_SEQUENCE_NUMBER", SequenceNumber: last };
    const answer = await call<{ ShardIterator: string }>("GetShardIterator", { StreamArn: this.arn, ShardId, ...at }, stop);
    return answer.ShardIterator;
  }

  // Shards that are there at first are read from where one wants, those that come later from their beginning.
  private async describe(stop: AbortSignal) {
    const first = !this.positions.size;
    for (const shard of await shardsOf(this.arn, stop)) {
      if (this.positions.has(shard.ShardId)) continue;
      const start = first ? this.startIn(shard) : oldest;
      this.positions.set(shard.ShardId, { start: start ?? oldest, iterator: null, last: null, ended: start === null });
    }
    this.described = Date.now();
  }

  // null: nothing of the shard is wanted.
  private startIn(shard: Shard): object | null {
    const { from } = this;
    const end = shard.SequenceNumberRange.EndingSequenceNumber;
    if (from === "now") return end === undefined ? { ShardIteratorType: "LATEST" } : null;
    if (from === "start" || "time" in from) return oldest;
    const { sequence: SequenceNumber, after } = from;
    if (end !== undefined && BigInt(end) < BigInt(SequenceNumber)) return null;
    if (!inside(shard, SequenceNumber)) return oldest;
    return { ShardIteratorType: after ? "AFTER_SEQUENCE_NUMBER" : "AT_SEQUENCE_NUMBER", SequenceNumber };
  }
}
const timeOf = (record: StreamRecord) => record.dynamodb.ApproximateCreationDateTime ?? 0;

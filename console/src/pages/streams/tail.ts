// Reads a stream as it grows: every shard, and the shards that follow them.
import { ApiError, call } from "../../api/client";
import type { Item } from "../../api/types";

export interface StreamRecord {
  eventID: string;
  eventName: "INSERT" | "MODIFY" | "REMOVE";
  userIdentity?: { Type?: string; PrincipalId?: string };
  dynamodb: { ApproximateCreationDateTime?: number; Keys: Item; NewImage?: Item; OldImage?: Item; SequenceNumber: string; SizeBytes?: number; StreamViewType?: string };
}
interface Shard {
  ShardId: string;
  ParentShardId?: string;
  SequenceNumberRange: { StartingSequenceNumber?: string; EndingSequenceNumber?: string };
}
export type From = "now" | "start" | { sequence: string };

export async function shardsOf(StreamArn: string, stop: AbortSignal): Promise<Shard[]> {
  const shards: Shard[] = [];
  let last: string | undefined;
  do {
    const { StreamDescription } = await call<{ StreamDescription: { Shards?: Shard[]; LastEvaluatedShardId?: string } }>("DescribeStream", { StreamArn, ...(last ? { ExclusiveStartShardId: last } : {}) }, stop);
    shards.push(...(StreamDescription.Shards ?? []));
    last = StreamDescription.LastEvaluatedShardId;
  } while (last);
  return shards;
}

const inside = (shard: Shard, sequence: string) => {
  const { StartingSequenceNumber: start = "0", EndingSequenceNumber: end } = shard.SequenceNumberRange;
  const number = (text: string) => BigInt(text);
  return number(sequence) >= number(start) && (!end || number(sequence) <= number(end));
};

// One reading position in every shard.  next() asks each of them once.
export class Tail {
  private iterators = new Map<string, string | null>(); // null: read to its end
  private described = 0;
  constructor(private readonly arn: string, private readonly from: From) {}

  async next(stop: AbortSignal): Promise<StreamRecord[]> {
    if (!this.iterators.size || Date.now() - this.described > 10_000) await this.describe(stop);
    const found: StreamRecord[] = [];
    for (const [shard, iterator] of this.iterators) {
      if (iterator === null) continue;
      try {
        const page = await call<{ Records: StreamRecord[]; NextShardIterator?: string }>("GetRecords", { ShardIterator: iterator, Limit: 200 }, stop);
        this.iterators.set(shard, page.NextShardIterator ?? null);
        if (!page.NextShardIterator) this.described = 0;
        found.push(...page.Records);
      } catch (error) {
        if (!(error instanceof ApiError) || !["ExpiredIteratorException", "TrimmedDataAccessException"].includes(error.type)) throw error;
        this.iterators.delete(shard);
        this.described = 0;
      }
    }
    return found.sort((a, b) => (a.dynamodb.ApproximateCreationDateTime ?? 0) - (b.dynamodb.ApproximateCreationDateTime ?? 0));
  }

  private async describe(stop: AbortSignal) {
    const first = this.described === 0 && !this.iterators.size;
    const shards = await shardsOf(this.arn, stop);
    this.described = Date.now();
    for (const shard of shards) {
      if (this.iterators.has(shard.ShardId)) continue;
      const ended = shard.SequenceNumberRange.EndingSequenceNumber !== undefined;
      if (first && this.from === "now" && ended) continue;
      const { sequence } = typeof this.from === "object" ? this.from : { sequence: undefined };
      if (first && sequence && ended && BigInt(shard.SequenceNumberRange.EndingSequenceNumber!) < BigInt(sequence)) continue;
      const at = first && sequence && inside(shard, sequence)
        ? { ShardIteratorType: "AT_SEQUENCE_NUMBER", SequenceNumber: sequence }
        : { ShardIteratorType: first && this.from === "now" ? "LATEST" : "TRIM_HORIZON" };
      const { ShardIterator } = await call<{ ShardIterator: string }>("GetShardIterator", { StreamArn: this.arn, ShardId: shard.ShardId, ...at }, stop);
      this.iterators.set(shard.ShardId, ShardIterator);
    }
  }
}

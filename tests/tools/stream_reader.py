"""Reads the records of a stream, each once and in the order of its shard."""


class StreamReader:
    """`ok` asks the server, as that of dynamo.Connection does."""

    def __init__(self, ok, arn):
        self.ok, self.arn = ok, arn
        self.last = {}  # the last sequence number of each shard

    def read(self):
        """The records since the last call, page by page."""
        shards = self.ok("DescribeStream", StreamArn=self.arn)["StreamDescription"]["Shards"]
        for shard in (s["ShardId"] for s in shards):
            place = {"ShardIteratorType": "TRIM_HORIZON"}
            if shard in self.last:
                place = {"ShardIteratorType": "AFTER_SEQUENCE_NUMBER", "SequenceNumber": self.last[shard]}
            iterator = self.ok("GetShardIterator", StreamArn=self.arn, ShardId=shard, **place)["ShardIterator"]
            while iterator:
                page = self.ok("GetRecords", ShardIterator=iterator)
                if not page["Records"]:
                    break
                self.note(shard, page["Records"])
                yield from page["Records"]
                iterator = page.get("NextShardIterator")

    def note(self, shard, records):
        for record in records:
            sequence = record["dynamodb"]["SequenceNumber"]
            if int(sequence) <= int(self.last.get(shard, "0")):
                raise AssertionError(f"{shard}: {sequence} after {self.last[shard]}")
            self.last[shard] = sequence


def images(record):
    """(old, new), each None where there is none.  An AssertionError if the record contradicts itself, or tells of no change."""
    change = record["dynamodb"]
    old, new = change.get("OldImage"), change.get("NewImage")
    event = "INSERT" if old is None else "REMOVE" if new is None else "MODIFY"
    if record["eventName"] != event or old == new:
        raise AssertionError(f"not what happened: {record}")
    return old, new

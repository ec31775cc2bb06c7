"""Clients that write down what they asked and what they were told, for linearizable.py."""
import http.client
import time

import dynamo
import linearizable

BROKEN = (OSError, http.client.HTTPException)
# An answer after which it is known that nothing happened.
NOTHING_HAPPENED = ("TransactionConflictException", "ThrottlingException", "ProvisionedThroughputExceededException")


def ask(connection, operation, **request):
    """(answer, None), or (None, why): 'condition' failed, 'nothing' happened for certain, or it is 'unknown'."""
    try:
        return connection.ok(operation, **request), None
    except BROKEN:
        return None, "unknown"
    except dynamo.ApiError as error:
        reasons = {reason["Code"] for reason in error.body.get("CancellationReasons", [])} - {"None"}
        if error.type == "ConditionalCheckFailedException":
            return None, "condition"
        if error.type in NOTHING_HAPPENED or reasons == {"TransactionConflict"}:
            return None, "nothing"
        if error.status >= 500:
            return None, "unknown"
        raise


class Registers:
    """Items of a table that all clients read and write.  Thread-safe."""

    def __init__(self, table, keys):
        self.table, self.keys, self.history = table, keys, []

    def operate(self, connection, rng, client, value, seen):
        """A read, a write of `value`, which is unique, or a cas, at random.  `seen` has what this client has read, by key.

        Returns the operation, and None if it is known that nothing happened.
        """
        key, kind = rng.choice(self.keys), rng.choice(("read", "read", "write", "cas"))
        start, expected = time.monotonic(), seen.get(key)
        item = {"TableName": self.table, "Item": {"pk": {"S": key}, "v": {"S": value}}}
        if kind == "read":
            answer, why = ask(connection, "GetItem", TableName=self.table, Key={"pk": {"S": key}}, ConsistentRead=True)
            if why:
                return None
            result = seen[key] = answer.get("Item", {}).get("v", {}).get("S")
        elif kind == "write" or expected is None:
            kind, (_, why) = "write", ask(connection, "PutItem", **item)
            result = why or "ok"
        else:
            _, why = ask(connection, "PutItem", **item, ConditionExpression="v = :v",
                         ExpressionAttributeValues={":v": {"S": expected}})  # fmt: skip
            result = {None: True, "condition": False}.get(why, why)
        if result == "nothing":
            return None
        end = float("inf") if result == "unknown" else time.monotonic()
        operation = linearizable.Operation(client, kind, value, expected, result, start, end)
        self.history.append((key, operation))
        return operation

    def faults(self):
        """Why the history is not linearizable, by key."""
        checked = {key: linearizable.check(operations) for key, operations in linearizable.by_key(self.history).items()}
        return {key: why for key, why in checked.items() if why}

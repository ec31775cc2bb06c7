"""The tables of the load generator's workloads: one without and one with a global secondary index."""
import sys
import time

PLAIN, INDEXED = "bench_plain", "bench_indexed"


def create(connection, name):
    """Makes the table anew, and returns when it can be used."""
    status, _ = connection.call("DeleteTable", {"TableName": name})
    while status == 200 and connection.call("DescribeTable", {"TableName": name})[0] == 200:
        time.sleep(0.05)
    names = ["PK", "SK"] + (["GSI1PK", "GSI1SK"] if name == INDEXED else [])
    schema = lambda pk, sk: [{"AttributeName": pk, "KeyType": "HASH"}, {"AttributeName": sk, "KeyType": "RANGE"}]  # noqa: E731
    request = dict(TableName=name, BillingMode="PAY_PER_REQUEST", KeySchema=schema("PK", "SK"),
                   AttributeDefinitions=[{"AttributeName": n, "AttributeType": "S"} for n in names])
    if name == INDEXED:
        request["GlobalSecondaryIndexes"] = [{"IndexName": "GSI1", "KeySchema": schema("GSI1PK", "GSI1SK"), "Projection": {"ProjectionType": "ALL"}}]
    connection.ok("CreateTable", **request)
    while connection.ok("DescribeTable", TableName=name)["Table"]["TableStatus"] != "ACTIVE":
        time.sleep(0.01)


def check_counts(connection, items, when):
    """Ends the program when a table or the index does not hold so many items."""
    for request in [dict(TableName=PLAIN), dict(TableName=INDEXED), dict(TableName=INDEXED, IndexName="GSI1")]:
        n = sum(page["Count"] for page in connection.pages("Scan", Select="COUNT", **request))
        if n != items:
            sys.exit(f"{when}, {request} holds {n} items instead of {items}")

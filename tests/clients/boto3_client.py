"""boto3's client and resource interfaces, as applications use them."""
from decimal import Decimal

import boto3
from boto3.dynamodb.conditions import Attr, Key
from boto3.dynamodb.types import Binary
from botocore.config import Config
from botocore.exceptions import ClientError

import check
from check import test

OPTIONS = dict(endpoint_url=check.ENDPOINT, region_name="us-east-1", config=Config(retries={"max_attempts": 1}, read_timeout=120))
dynamodb = boto3.resource("dynamodb", **OPTIONS)
client = boto3.client("dynamodb", **OPTIONS)


def error_code(call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except ClientError as e:
        return e.response["Error"]["Code"]
    return None


@test
def a_table_is_created_and_waited_for():
    table = dynamodb.create_table(
        TableName="Music", BillingMode="PAY_PER_REQUEST",
        KeySchema=[{"AttributeName": "artist", "KeyType": "HASH"}, {"AttributeName": "song", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": n, "AttributeType": t} for n, t in (("artist", "S"), ("song", "S"), ("year", "N"), ("genre", "S"))],
        GlobalSecondaryIndexes=[{"IndexName": "ByGenre", "Projection": {"ProjectionType": "ALL"},
                                 "KeySchema": [{"AttributeName": "genre", "KeyType": "HASH"}, {"AttributeName": "year", "KeyType": "RANGE"}]}],
        LocalSecondaryIndexes=[{"IndexName": "ByYear", "Projection": {"ProjectionType": "KEYS_ONLY"},
                                "KeySchema": [{"AttributeName": "artist", "KeyType": "HASH"}, {"AttributeName": "year", "KeyType": "RANGE"}]}])
    table.wait_until_exists()
    table.reload()
    assert table.table_status == "ACTIVE" and table.item_count == 0
    assert table.table_arn.endswith(":table/Music"), table.table_arn
    assert client.exceptions.ResourceInUseException.__name__ == error_code(
        client.create_table, TableName="Music", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
        AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}])


@test
def items_of_every_type_come_back():
    table = dynamodb.Table("Music")
    item = {"artist": "a", "song": "s", "year": 1999, "price": Decimal("12.50"), "raw": Binary(b"\x00\xff"), "tags": {"x", "y"},
            "numbers": {Decimal(1), Decimal("2.5")}, "nested": {"list": [1, "two", None, True, {"deep": Decimal("-1E-10")}]}, "empty": ""}
    table.put_item(Item=item)
    assert table.get_item(Key={"artist": "a", "song": "s"}, ConsistentRead=True)["Item"] == item
    assert "Item" not in table.get_item(Key={"artist": "a", "song": "?"})
    table.delete_item(Key={"artist": "a", "song": "s"})
    assert "Item" not in table.get_item(Key={"artist": "a", "song": "s"})


@test
def updates_return_what_they_changed():
    table = dynamodb.Table("Music")
    key = {"artist": "u", "song": "s"}
    got = table.update_item(Key=key, UpdateExpression="SET plays = if_not_exists(plays, :zero) + :one, #y = :y",
                            ExpressionAttributeNames={"#y": "year"}, ExpressionAttributeValues={":zero": 0, ":one": 1, ":y": 2000},
                            ReturnValues="ALL_NEW")
    assert got["Attributes"] == {**key, "plays": 1, "year": 2000}, got
    got = table.update_item(Key=key, UpdateExpression="ADD plays :n", ExpressionAttributeValues={":n": 41}, ReturnValues="UPDATED_NEW")
    assert got["Attributes"] == {"plays": 42}, got


@test
def failed_conditions_raise():
    table = dynamodb.Table("Music")
    table.put_item(Item={"artist": "c", "song": "s", "n": 1})
    try:
        table.put_item(Item={"artist": "c", "song": "s"}, ConditionExpression=Attr("artist").not_exists())
        raise AssertionError("the condition held")
    except client.exceptions.ConditionalCheckFailedException as e:
        assert e.response["Error"]["Message"] == "The conditional request failed"
        assert e.response["ResponseMetadata"]["HTTPStatusCode"] == 400
    table.delete_item(Key={"artist": "c", "song": "s"}, ConditionExpression=Attr("n").eq(1) & Attr("x").not_exists())


@test
def batches_write_and_read():
    table = dynamodb.Table("Music")
    with table.batch_writer(overwrite_by_pkeys=["artist", "song"]) as batch:
        for i in range(130):
            batch.put_item(Item={"artist": "batch", "song": f"{i:03}", "year": 1900 + i, "genre": "rock" if i % 2 else "jazz"})
        batch.put_item(Item={"artist": "batch", "song": "000", "year": 1900, "genre": "jazz"})
    keys = [{"artist": "batch", "song": f"{i:03}"} for i in range(100)]
    got = dynamodb.batch_get_item(RequestItems={"Music": {"Keys": keys, "ProjectionExpression": "song"}})
    assert sorted(i["song"] for i in got["Responses"]["Music"]) == [k["song"] for k in keys] and not got["UnprocessedKeys"]


@test
def queries_with_conditions_and_indexes():
    table = dynamodb.Table("Music")
    got = table.query(KeyConditionExpression=Key("artist").eq("batch") & Key("song").between("010", "019"), ScanIndexForward=False)
    assert [i["song"] for i in got["Items"]] == [f"{i:03}" for i in range(19, 9, -1)]
    got = table.query(KeyConditionExpression=Key("artist").eq("batch") & Key("song").begins_with("12"), FilterExpression=Attr("year").gte(2025))
    assert (got["Count"], got["ScannedCount"]) == (5, 10)
    got = table.query(IndexName="ByGenre", KeyConditionExpression=Key("genre").eq("rock") & Key("year").lt(1910))
    assert [int(i["year"]) for i in got["Items"]] == [1901, 1903, 1905, 1907, 1909]
    got = table.query(IndexName="ByYear", KeyConditionExpression=Key("artist").eq("batch") & Key("year").gt(2027))
    assert [sorted(i) for i in got["Items"]] == [["artist", "song", "year"]] * 2


@test
def paginators_see_everything_once():
    pages = list(client.get_paginator("query").paginate(
        TableName="Music", KeyConditionExpression="artist = :a", ExpressionAttributeValues={":a": {"S": "batch"}},
        PaginationConfig={"PageSize": 17}))
    songs = [i["song"]["S"] for page in pages for i in page["Items"]]
    assert songs == [f"{i:03}" for i in range(130)] and len(pages) == 8
    keys = [(i["artist"]["S"], i["song"]["S"]) for page in client.get_paginator("scan").paginate(TableName="Music", PaginationConfig={"PageSize": 20})
            for i in page["Items"]]
    assert len(keys) == len(set(keys)) and len([k for k in keys if k[0] == "batch"]) == 130
    found = client.get_paginator("scan").paginate(TableName="Music", IndexName="ByGenre", PaginationConfig={"PageSize": 13}).build_full_result()
    assert len(found["Items"]) == 130


@test
def a_parallel_scan_is_a_scan():
    keys = []
    for segment in range(4):
        for page in client.get_paginator("scan").paginate(TableName="Music", Segment=segment, TotalSegments=4):
            keys += [(i["artist"]["S"], i["song"]["S"]) for i in page["Items"]]
    assert len(keys) == len(set(keys)) == client.scan(TableName="Music", Select="COUNT")["Count"]


@test
def capacity_is_reported():
    got = client.put_item(TableName="Music", Item={"artist": {"S": "cap"}, "song": {"S": "s"}, "d": {"S": "x" * 3000}}, ReturnConsumedCapacity="TOTAL")
    assert got["ConsumedCapacity"] == {"TableName": "Music", "CapacityUnits": 3.0}, got["ConsumedCapacity"]
    got = client.get_item(TableName="Music", Key={"artist": {"S": "cap"}, "song": {"S": "s"}}, ReturnConsumedCapacity="TOTAL")
    assert got["ConsumedCapacity"] == {"TableName": "Music", "CapacityUnits": 0.5}, got["ConsumedCapacity"]


@test
def errors_have_codes():
    assert error_code(client.get_item, TableName="Nowhere", Key={"a": {"S": "b"}}) == "ResourceNotFoundException"
    assert error_code(client.get_item, TableName="Music", Key={"a": {"S": "b"}}) == "ValidationException"
    assert error_code(client.update_item, TableName="Music", Key={"artist": {"S": "a"}, "song": {"S": "b"}}, UpdateExpression="SET") == "ValidationException"


@test
def tables_are_listed_and_deleted():
    for i in range(3):
        client.create_table(TableName=f"Listed{i}", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "a", "KeyType": "HASH"}],
                            AttributeDefinitions=[{"AttributeName": "a", "AttributeType": "S"}])
    names = [n for page in client.get_paginator("list_tables").paginate(PaginationConfig={"PageSize": 2}) for n in page["TableNames"]]
    assert {"Music", "Listed0", "Listed1", "Listed2"} <= set(names) and names == sorted(names)
    for name in ("Music", "Listed0", "Listed1", "Listed2"):
        client.get_waiter("table_exists").wait(TableName=name, WaiterConfig={"Delay": 1})
        client.delete_table(TableName=name)
        client.get_waiter("table_not_exists").wait(TableName=name, WaiterConfig={"Delay": 1})


check.run()

"""The AWS CLI, as a person at a terminal uses it."""
import json
import subprocess

import check
from check import test


def aws(*arguments, **options):
    """`aws dynamodb ...`; its output as JSON, or an AssertionError with what it said."""
    command = ["aws", "--endpoint-url", check.ENDPOINT, "--output", "json", "dynamodb", *arguments]
    for name, value in options.items():
        command += ["--" + name.replace("_", "-"), value if isinstance(value, str) else json.dumps(value)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr.strip()
    return json.loads(done.stdout) if done.stdout.strip() else {}


def refused(*arguments, **options):
    try:
        aws(*arguments, **options)
    except AssertionError as e:
        return str(e)
    return "it was not refused"


@test
def create_wait_and_describe():
    got = aws("create-table", "--attribute-definitions", "AttributeName=pk,AttributeType=S", "AttributeName=sk,AttributeType=N", "--key-schema",
              "AttributeName=pk,KeyType=HASH", "AttributeName=sk,KeyType=RANGE", "--billing-mode", "PAY_PER_REQUEST", table_name="Cli")
    assert got["TableDescription"]["TableName"] == "Cli"
    aws("wait", "table-exists", table_name="Cli")
    assert aws("describe-table", "--query", "Table.TableStatus", table_name="Cli") == "ACTIVE"


@test
def put_get_update_delete():
    key = {"pk": {"S": "a"}, "sk": {"N": "1"}}
    aws("put-item", table_name="Cli", item={**key, "colour": {"S": "blue"}})
    assert aws("get-item", table_name="Cli", key=key)["Item"] == {**key, "colour": {"S": "blue"}}
    got = aws("update-item", table_name="Cli", key=key, update_expression="SET colour = :c", expression_attribute_values={":c": {"S": "red"}},
              return_values="ALL_OLD")
    assert got["Attributes"]["colour"] == {"S": "blue"}
    got = aws("delete-item", table_name="Cli", key=key, return_values="ALL_OLD")
    assert got["Attributes"]["colour"] == {"S": "red"}
    assert aws("get-item", table_name="Cli", key=key) == {}


@test
def batch_query_and_scan():
    for first in (0, 25):
        requests = [{"PutRequest": {"Item": {"pk": {"S": "q"}, "sk": {"N": str(i)}}}} for i in range(first, first + 25)]
        assert aws("batch-write-item", request_items={"Cli": requests}) == {"UnprocessedItems": {}}
    got = aws("query", table_name="Cli", page_size="7", key_condition_expression="pk = :p AND sk < :n",
              expression_attribute_values={":p": {"S": "q"}, ":n": {"N": "40"}})
    assert [int(i["sk"]["N"]) for i in got["Items"]] == list(range(40)) and got["Count"] == 40
    got = aws("query", table_name="Cli", max_items="5", key_condition_expression="pk = :p", expression_attribute_values={":p": {"S": "q"}})
    assert len(got["Items"]) == 5 and "NextToken" in got
    got = aws("query", table_name="Cli", max_items="5", starting_token=got["NextToken"], key_condition_expression="pk = :p",
              expression_attribute_values={":p": {"S": "q"}})
    assert [int(i["sk"]["N"]) for i in got["Items"]] == [5, 6, 7, 8, 9]
    assert aws("scan", "--select", "COUNT", table_name="Cli", page_size="20")["Count"] == 50
    got = aws("batch-get-item", request_items={"Cli": {"Keys": [{"pk": {"S": "q"}, "sk": {"N": "3"}}, {"pk": {"S": "q"}, "sk": {"N": "99"}}]}})
    assert got["Responses"]["Cli"] == [{"pk": {"S": "q"}, "sk": {"N": "3"}}]


@test
def errors_name_themselves():
    key = {"pk": {"S": "q"}, "sk": {"N": "1"}}
    said = refused("put-item", table_name="Cli", item=key, condition_expression="attribute_not_exists(pk)")
    assert "(ConditionalCheckFailedException)" in said and "The conditional request failed" in said, said
    said = refused("get-item", table_name="Nowhere", key=key)
    assert "(ResourceNotFoundException)" in said and "Requested resource not found" in said, said
    said = refused("get-item", table_name="Cli", key={"pk": {"S": "q"}})
    assert "(ValidationException)" in said and "The provided key element does not match the schema" in said, said


@test
def list_update_and_delete_tables():
    assert "Cli" in aws("list-tables")["TableNames"]
    got = aws("update-table", "--deletion-protection-enabled", table_name="Cli") if "deletion-protection" in help_of("update-table") else {}
    if got:
        assert got["TableDescription"]["DeletionProtectionEnabled"] is True
        assert "(ValidationException)" in refused("delete-table", table_name="Cli")
        aws("update-table", "--no-deletion-protection-enabled", table_name="Cli")
        aws("wait", "table-exists", table_name="Cli")
    assert aws("delete-table", table_name="Cli")["TableDescription"]["TableName"] == "Cli"
    aws("wait", "table-not-exists", table_name="Cli")


def help_of(command):
    """The CLI's own list of options: older ones lack what is newer than they are."""
    done = subprocess.run(["aws", "dynamodb", command, "--generate-cli-skeleton"], capture_output=True, text=True, timeout=120)
    return "deletion-protection" if "DeletionProtectionEnabled" in done.stdout else ""


check.run()

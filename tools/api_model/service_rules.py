"""Rules of the service that its published model does not have.

Each rule is an observation of the real service (texts captured by conformance suites that run against it) or, where the
service contradicts its model, the newer of the two.  generate.py applies them to the model.
"""

# Constraints that differ from the shape's own.  Keys are shapes, or Structure.Member for one use of a shape.  None removes.
CONSTRAINTS = {
    # A table and a local index have at most two key attributes; only global indexes take more.
    "CreateTableInput.KeySchema": {"max": 2},
    "TableCreationParameters.KeySchema": {"max": 2},
    "LocalSecondaryIndex.KeySchema": {"max": 2},
    "AttributeNameList": {"max": 255},
    # Upper bounds that the documentation states and the service keeps.
    "ListStreamsInput.Limit": {"max": 100},
    "DescribeStreamInput.Limit": {"max": 100},
    "GetRecordsInput.Limit": {"max": 1000},
    # An empty RequestItems has a text of its own (EMPTY_TEXTS); too many tables are too many items, found later.
    "BatchGetRequestMap": {"min": None, "max": None},
    "BatchWriteItemRequestMap": {"min": None, "max": None},
    # Tags and these ARNs are refused later, with other texts.
    "TagKeyString": {"min": None, "max": None},
    "TagValueString": {"min": None, "max": None},
    "ResourceArnString": {"min": None, "max": None},
    "BackupArn": {"min": None, "max": None},
    "ExportTableToPointInTimeInput.TableArn": {"min": None, "max": None},
}

# Members that are required beyond the model, and those the model requires but the service asks for later.
REQUIRED = {
    "CreateTableInput": ["AttributeDefinitions", "KeySchema"],
    "ShardFilter": ["ShardId", "Type"],
}
NOT_REQUIRED = {
    "Tag": ["Key", "Value"],
    "TagResourceInput": ["ResourceArn", "Tags"],
    "UntagResourceInput": ["ResourceArn", "TagKeys"],
    "ListTagsOfResourceInput": ["ResourceArn"],
}

# Operations that ask for their table name before anything else, in these words.
REQUIRED_FIRST = ("CreateTable", "DeleteTable", "DescribeTable", "DescribeTimeToLive", "UpdateTable")
REQUIRED_FIRST_TEXT = "The parameter '{member}' is required but was not present in the request"

EMPTY_TEXTS = {
    "BatchGetItemInput.RequestItems": "The requestItems parameter is required for BatchGetItem",
    "BatchWriteItemInput.RequestItems": "The requestItems parameter is required for BatchWriteItem",
}

# Where a table's name or ARN is taken, a text that is no ARN has to be a table name.  Operations on items find that out
# after the model's own constraints (Late), operations on tables before them and report nothing else (Early).
ITEM_OPERATIONS = (
    "BatchExecuteStatement", "BatchGetItem", "BatchWriteItem", "DeleteItem", "ExecuteStatement", "ExecuteTransaction",
    "GetItem", "PutItem", "Query", "Scan", "SearchVectors", "TransactGetItems", "TransactWriteItems", "UpdateItem",
)
# The types whose violations are reported without the value: "Value at 'limit' failed to satisfy constraint: ...".
UNQUOTED = ("integer", "long")
UNQUOTED_IN_ITEM_OPERATIONS = ("list", "map")

# Names that have an older check, before the others and in other words.
LEGACY_NAMES = (
    "CreateGlobalTableInput.GlobalTableName",
    "DescribeGlobalTableInput.GlobalTableName",
    "DescribeGlobalTableSettingsInput.GlobalTableName",
    "UpdateGlobalTableInput.GlobalTableName",
    "UpdateGlobalTableSettingsInput.GlobalTableName",
    "RestoreTableFromBackupInput.TargetTableName",
    "RestoreTableToPointInTimeInput.TargetTableName",
    "DescribeContributorInsightsInput.IndexName",
    "UpdateContributorInsightsInput.IndexName",
)

# Shapes whose length is reported before their pattern; elsewhere the pattern comes first.
LENGTH_BEFORE_PATTERN = ("IndexName",)

# Members that only show when the service prints a value of the structure.
PRINTED_MEMBERS = {
    "KeysAndAttributes": ["workloadProfileName"],
    "PutRequest": ["workloadProfileName"],
}

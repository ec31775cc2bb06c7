"""The service's rules of sizes and index entries, computed independently: black-box suites compare with them."""
import base64


def number_bytes(text):
    """One byte, one per pair of digits counted from the decimal point outwards without zero pairs at the ends, one for a minus."""
    whole, _, fraction = text.lstrip("+-").partition(".")
    digits = whole.zfill(len(whole) + len(whole) % 2) + fraction + "0" * (len(fraction) % 2)
    pairs = [digits[i:i + 2] for i in range(0, len(digits), 2)]
    while pairs and pairs[0] == "00":
        del pairs[0]
    while pairs and pairs[-1] == "00":
        del pairs[-1]
    return 1 + len(pairs) + (1 if pairs and text.startswith("-") else 0)


def value_bytes(value):
    ((kind, v),) = value.items()
    if kind == "S":
        return len(v.encode())
    if kind == "N":
        return number_bytes(v)
    if kind == "B":
        return len(base64.b64decode(v))
    if kind in ("SS", "NS", "BS"):
        return sum(value_bytes({kind[0]: member}) for member in v)
    if kind == "L":
        return 3 + sum(1 + value_bytes(member) for member in v)
    if kind == "M":
        return 3 + sum(1 + len(name.encode()) + value_bytes(member) for name, member in v.items())
    return 1  # BOOL, NULL


def item_bytes(item):
    return sum(len(name.encode()) + value_bytes(value) for name, value in item.items())


def canonical(item):
    """The item with its sets in one order, so that two items compare with ==."""
    def value(v):
        ((kind, x),) = v.items()
        if kind in ("SS", "NS", "BS"):
            return {kind: sorted(x)}
        if kind == "L":
            return {kind: [value(m) for m in x]}
        if kind == "M":
            return {kind: {name: value(m) for name, m in x.items()}}
        return v
    return {name: value(v) for name, v in item.items()}


def key_of(table, item):
    return tuple(tuple(item[k["AttributeName"]].items())[0] for k in table["KeySchema"])


def indexes(table):
    return table.get("GlobalSecondaryIndexes", []) + table.get("LocalSecondaryIndexes", [])


def index_entries(table, index, items):
    """The entries that `index` must hold when the table holds `items`, by primary key."""
    keys = [k["AttributeName"] for k in index["KeySchema"]]
    types = {a["AttributeName"]: a["AttributeType"] for a in table["AttributeDefinitions"]}
    projection = index["Projection"]
    kept = set(keys) | {k["AttributeName"] for k in table["KeySchema"]} | set(projection.get("NonKeyAttributes", []))
    entries = {}
    for item in items:
        if all(types[k] in item.get(k, {}) for k in keys):  # one of another type is as good as none
            entries[key_of(table, item)] = canonical(item) if projection["ProjectionType"] == "ALL" else \
                canonical({name: v for name, v in item.items() if name in kept})
    return entries


def check_table(connection, name):
    """Whether every index and every statistic of the table agrees with its items.  Returns (items by key, problems)."""
    table = connection.ok("DescribeTable", TableName=name)["Table"]
    items = connection.items("Scan", TableName=name, ConsistentRead=True)
    by_key = {key_of(table, item): canonical(item) for item in items}
    problems = []
    if len(by_key) != len(items):
        problems.append(f"{name}: the scan returned {len(items) - len(by_key)} items twice")
    size = sum(map(item_bytes, items))
    for what, said, true in (("ItemCount", table["ItemCount"], len(items)), ("TableSizeBytes", table["TableSizeBytes"], size)):
        if said != true:
            problems.append(f"{name}: DescribeTable says {what} {said}, and it is {true}")
    for index in indexes(table):
        expected = index_entries(table, index, items)
        actual, count = {}, 0
        for entry in connection.items("Scan", TableName=name, IndexName=index["IndexName"]):
            actual[key_of(table, entry)] = canonical(entry)
            count += 1
        where = f"{name}/{index['IndexName']}"
        if count != len(actual):
            problems.append(f"{where}: {count - len(actual)} entries are there twice")
        for key in expected.keys() - actual.keys():
            problems.append(f"{where}: no entry for {key}: {expected[key]}")
        for key in actual.keys() - expected.keys():
            problems.append(f"{where}: an entry without its item: {actual[key]}")
        for key in expected.keys() & actual.keys():
            if expected[key] != actual[key]:
                problems.append(f"{where}: {key} is {actual[key]} and should be {expected[key]}")
        size = sum(map(item_bytes, expected.values()))
        for what, said, true in (("ItemCount", index["ItemCount"], len(expected)), ("IndexSizeBytes", index["IndexSizeBytes"], size)):
            if said != true:
                problems.append(f"{where}: DescribeTable says {what} {said}, and it is {true}")
    return by_key, problems

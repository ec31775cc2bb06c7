#!/usr/bin/env python3
"""Writes the operations' input shapes as C++ tables, for src/api/json/shape.h.

    tools/api_model/generate.py <output.cc> <model.json>...

Run by the build.  The tables are constants: nothing is parsed or allocated when the program starts.
"""

import copy
import json
import pathlib
import sys

import service_rules as rules

PATTERNS = {
    "[a-zA-Z0-9_.-]+": "Name",
    r"\p{Print}+": "Printable",
    r"[\u0020-\uD7FF\uE000-\uFFFD\uD800\uDC00-\uDBFF\uDFFF\r\n\t]*": "Text",
    r"[\x20-\x21\x23-\x2B\x2D-\x7E]*": "CsvHeader",
    r"[,;:|\t ]": "CsvDelimiter",
    r"^[^\$]+$": "NoDollar",
    "[0-9]{12}": "TwelveDigits",
    "([0-9a-f]{16})+": "HexGroups",
    r"^[a-z0-9A-Z]+[\.\-\w]*[a-z0-9A-Z]+$": "Bucket",
}
TYPES = {
    "string": "String", "blob": "Blob", "boolean": "Boolean", "integer": "Integer", "long": "Long", "double": "Double",
    "timestamp": "Timestamp", "list": "List", "map": "Map", "structure": "Structure",
}


def java_hash(text):
    value = 0
    for char in text:
        value = (31 * value + ord(char)) & 0xFFFFFFFF
    return value


def enum_order(values):
    """The service prints an enum in the order of a hash table with 32 buckets, the newest entry of a bucket first."""
    return sorted(reversed(values), key=lambda value: java_hash(value) % 32)


def check_order(names):
    """The service checks a structure's members in the order of a Java hash map."""
    buckets = 16
    while len(names) > buckets * 3 // 4:
        buckets *= 2

    def bucket(name):
        value = java_hash(name[0].lower() + name[1:])
        return (value ^ (value >> 16)) % buckets

    return sorted(names, key=bucket)


class Tables:
    def __init__(self):
        self.shapes = []    # one dict per C++ Shape
        self.members = []   # C++ Member initialisers
        self.texts = []     # enum values
        self.orders = []    # member indexes
        self.operations = []

    def add_model(self, model):
        self.model = model
        self.index = {}
        for name, operation in model["operations"].items():
            self.operation = name
            self.operations.append((name, model["service"], self.add_shape(operation["input"])))

    def add_shape(self, name, use=None):
        """The index of the shape; `use` is Structure.Member when that place has rules of its own."""
        key = use if use in rules.CONSTRAINTS else name
        if key not in self.index:
            self.index[key] = len(self.shapes)
            self.shapes.append(None)  # holds the place, for shapes that contain themselves
            shape = copy.copy(self.model["shapes"][name])
            for rule in (name, use):
                for field, value in rules.CONSTRAINTS.get(rule, {}).items():
                    shape[field] = value
            self.shapes[self.index[key]] = self.describe(name, shape)
        return self.index[key]

    def describe(self, name, shape):
        row = {
            "name": name, "type": TYPES[shape["type"]], "min": shape.get("min"), "max": shape.get("max"),
            "pattern": shape.get("pattern"), "enum": (0, 0), "enum_text": "", "members": (0, 0), "order": (0, 0),
            "printed": (0, 0), "required": 0, "element": None, "key": None,
            "length_first": name in rules.LENGTH_BEFORE_PATTERN, "quoted": self.is_quoted(shape),
            "extra": ", ".join(f"{extra}=null" for extra in rules.PRINTED_MEMBERS.get(name, [])),
        }
        if name == "AttributeValue":
            row["type"] = "AttributeValue"
        if "enum" in shape:
            values = enum_order(shape["enum"])
            row["enum"] = (len(self.texts), len(values))
            row["enum_text"] = "[" + ", ".join(values) + "]"
            self.texts.extend(values)
        if "member" in shape:
            row["element"] = self.add_shape(shape["member"])
        if "value" in shape:
            row["element"] = self.add_shape(shape["value"])
            row["key"] = self.add_shape(shape["key"])
        if "members" in shape:
            self.describe_members(name, shape, row)
        return row

    def is_quoted(self, shape):
        # No list with a constraint is part of operations on items and of others.
        return not (shape["type"] in rules.UNQUOTED or
                    shape["type"] in rules.UNQUOTED_IN_ITEM_OPERATIONS and self.operation in rules.ITEM_OPERATIONS)

    def describe_members(self, name, shape, row):
        required = set(shape.get("required", [])) | set(rules.REQUIRED.get(name, []))
        required -= set(rules.NOT_REQUIRED.get(name, []))
        names = sorted(shape["members"])
        position = {member: index for index, member in enumerate(names)}
        rows = []
        for member in names:
            use = f"{name}.{member}"
            target = self.add_shape(shape["members"][member], use)
            if member in required:
                row["required"] |= 1 << position[member]
            rows.append(
                f"{{{text(member)}, &kShapes[{target}], NameCheck::{self.name_check(name, member, shape)}, "
                f"{text(self.absent_text(name, member))}, {text(rules.EMPTY_TEXTS.get(use, ''))}}}"
            )
        row["members"] = (len(self.members), len(rows))
        self.members.extend(rows)
        for field, order in (("order", check_order(list(shape["members"]))), ("printed", list(shape["members"]))):
            row[field] = (len(self.orders), len(order))
            self.orders.extend(position[member] for member in order)

    def name_check(self, name, member, shape):
        if f"{name}.{member}" in rules.LEGACY_NAMES:
            return "Legacy"
        if member == "TableName" and shape["members"][member] == "TableArn":
            return "Late" if self.operation in rules.ITEM_OPERATIONS else "Early"
        return "None"

    def absent_text(self, name, member):
        inputs = {self.model["operations"][operation]["input"] for operation in rules.REQUIRED_FIRST
                  if operation in self.model["operations"]}
        if name in inputs and member == "TableName":
            return rules.REQUIRED_FIRST_TEXT.format(member=member)
        return ""

    def write(self, out):
        out.write("// Written by tools/api_model/generate.py.\n\n")
        out.write('#include "stator/api/json/shape.h"\n\nnamespace stator::api {\n\n')
        out.write(f"extern const Shape kShapes[{len(self.shapes)}];\n\n")
        self.write_array(out, "std::string_view", "kEnumValues", [text(value) for value in self.texts])
        self.write_array(out, "std::uint8_t", "kMemberOrders", self.orders)
        self.write_array(out, "Member", "kMembers", self.members)
        self.write_array(out, "Shape", "kShapes", [self.shape_row(shape) for shape in self.shapes])
        rows = [f"{{{text(name)}, {text(service)}, &kShapes[{shape}]}}" for name, service, shape in sorted(self.operations)]
        self.write_array(out, "OperationShape", "kOperations", rows)
        out.write("std::span<const OperationShape> operations() { return kOperations; }\n\n}  // namespace stator::api\n")

    @staticmethod
    def write_array(out, type_name, name, rows):
        out.write(f"constinit const {type_name} {name}[{len(rows)}] = {{\n")
        for row in rows:
            out.write(f"    {row},\n")
        out.write("};\n\n")

    @staticmethod
    def shape_row(shape):
        def view(array, bounds):
            return f"{{{array} + {bounds[0]}, {bounds[1]}}}" if bounds[1] else "{}"

        pattern = PATTERNS[shape["pattern"]] if shape["pattern"] else "None"  # a KeyError is a pattern to write a matcher for
        pointer = lambda index: "nullptr" if index is None else f"&kShapes[{index}]"
        fields = [
            f".name = {text(shape['name'])}",
            f".type = ShapeType::{shape['type']}",
            f".pattern = TextPattern::{pattern}",
            f".length_first = {'true' if shape['length_first'] else 'false'}",
            f".quoted = {'true' if shape['quoted'] else 'false'}",
            f".min = {'Shape::kNoMin' if shape['min'] is None else shape['min']}",
            f".max = {'Shape::kNoMax' if shape['max'] is None else shape['max']}",
            f".pattern_text = {text(shape['pattern'] or '')}",
            f".enum_values = {view('kEnumValues', shape['enum'])}",
            f".enum_text = {text(shape['enum_text'])}",
            f".members = {view('kMembers', shape['members'])}",
            f".check_order = {view('kMemberOrders', shape['order'])}",
            f".print_order = {view('kMemberOrders', shape['printed'])}",
            f".required = {shape['required']:#x}",
            f".element = {pointer(shape['element'])}",
            f".key = {pointer(shape['key'])}",
            f".printed_extra = {text(shape['extra'])}",
        ]
        return "{" + ", ".join(fields) + "}"


def text(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"' if value else "{}"


def main():
    output, *models = sys.argv[1:]
    tables = Tables()
    for model in models:
        tables.add_model(json.loads(pathlib.Path(model).read_text()))
    with open(output, "w", encoding="utf-8") as out:
        tables.write(out)


if __name__ == "__main__":
    main()

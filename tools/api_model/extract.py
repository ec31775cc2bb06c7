#!/usr/bin/env python3
"""Reduces the published API models to what Stator needs of them.

    tools/api_model/extract.py <dynamodb.json> <dynamodbstreams.json>

writes src/api/model/dynamodb.json and src/api/model/dynamodbstreams.json: the operations with their input and output
shapes, and of every shape that they reach its type, members, required members, enum values, lengths, ranges and patterns.
Documentation stays behind.  Operations and shapes are sorted; members and enum values keep the model's order, which shows
in the service's error texts.  The output is stable, so a newer model is a readable diff.
"""

import json
import pathlib
import sys

OUTPUT = pathlib.Path(__file__).resolve().parents[2] / "src" / "api" / "model"


def reduced_shape(shape):
    kept = {"type": shape["type"]}
    for key in ("min", "max", "pattern", "enum"):
        if key in shape:
            kept[key] = shape[key]
    if "members" in shape:
        kept["members"] = {name: member["shape"] for name, member in shape["members"].items()}
        if shape.get("required"):
            kept["required"] = sorted(shape["required"])
    if "member" in shape:
        kept["member"] = shape["member"]["shape"]
    if shape["type"] == "map":
        kept["key"] = shape["key"]["shape"]
        kept["value"] = shape["value"]["shape"]
    return kept


def references(shape):
    yield from shape.get("members", {}).values()
    for key in ("member", "key", "value"):
        if key in shape:
            yield shape[key]


def reduced_model(model):
    operations = {}
    shapes = {}
    waiting = []
    for name, operation in sorted(model["operations"].items()):
        operations[name] = {
            side: operation[side]["shape"] for side in ("input", "output") if side in operation
        }
        waiting.extend(operations[name].values())
    while waiting:
        name = waiting.pop()
        if name not in shapes:
            shapes[name] = reduced_shape(model["shapes"][name])
            waiting.extend(references(shapes[name]))
    return {
        "service": model["metadata"]["targetPrefix"],
        "operations": operations,
        "shapes": dict(sorted(shapes.items())),
    }


def one_line_per_entry(model):
    def section(entries):
        lines = (f"    {json.dumps(name)}: {json.dumps(entry)}" for name, entry in entries.items())
        return "{\n" + ",\n".join(lines) + "\n  }"

    return (
        "{\n"
        f'  "service": {json.dumps(model["service"])},\n'
        f'  "operations": {section(model["operations"])},\n'
        f'  "shapes": {section(model["shapes"])}\n'
        "}\n"
    )


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for source, name in zip(sys.argv[1:], ("dynamodb.json", "dynamodbstreams.json")):
        model = json.loads(pathlib.Path(source).read_text())
        (OUTPUT / name).write_text(one_line_per_entry(reduced_model(model)))


if __name__ == "__main__":
    main()

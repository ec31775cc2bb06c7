"""Reads what `stator model docs` prints back into its parts, to be compared with what a design document states."""

import re
import subprocess


def plain(cell):
    """A cell without Markdown, and templates without what the documents do not know: {Title|sortable} is {Title}."""
    text = cell.strip().replace("`", "").replace("\\|", "|")
    return re.sub(r"\{(\w+)\|\w+\}", r"{\1}", text)


def sections(text):
    """Heading -> the lines below it; those of a heading that comes twice, one after the other."""
    found, heading = {}, ""
    for line in text.splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
            found.setdefault(heading, [])
        elif heading:
            found[heading].append(line)
    return found


def tables(lines):
    """The rows of the first table in these lines, as dicts of its columns."""
    rows = [[plain(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines if line.startswith("|")]
    return [dict(zip(rows[0], row)) for row in rows[2:]] if rows else []


class DesignDocument:
    def __init__(self, stator, model):
        text = subprocess.run([stator, "model", "docs", str(model)], text=True, capture_output=True, check=True).stdout
        self.parts = sections(text)

    def table(self):
        """name, partition key and sort key with their types."""
        found = dict(re.match(r"- \*\*(.+?):\*\* (.*)", line).groups() for line in self.parts["Table"] if line.startswith("- **"))
        return {name: plain(value) for name, value in found.items()}

    def indexes(self):
        return {row["index"]: row for row in tables(self.parts.get("Indexes", []))}

    def types(self):
        """entity or record -> the value of its type attribute"""
        return {row["entity"]: list(row.values())[1] for row in tables(self.parts["Entities"])}

    def keys(self, indexes):
        """entity or record -> key attribute -> template"""
        found = {}
        for place in ("Table", *indexes):
            for row in tables(self.parts[place]):
                entity = row.pop("entity", None)
                if entity:
                    found.setdefault(entity, {}).update(row)
        return found

    def attributes(self, entity):
        return {row["attribute"] for row in tables(self.parts[entity])}

    def gets(self, entity):
        return any(re.match(r"- Routes: .*`GET ", line) for line in self.parts[entity])

    def patterns(self):
        """(index, condition, returned) of each"""
        return [(row["index"], re.sub(r", filtered by .*", "", row["key condition"]), row["returns"])
                for row in tables(self.parts["Access patterns"])]  # fmt: skip

"""The language of .ddb scripts: parsing, filling in, and matching.  README.md describes it for who writes scripts.

Values are JSON and a little more.  Parsing gives a tree of plain Python values in which what JSON lacks is one of the
classes below; fill() replaces what a request may hold (variables, loops, repetitions), match() compares an answer.
"""
import json
import re


class Any_:
    """A placeholder: <any>, <number>, <string>, <uuid>, <timestamp>, ..."""

    def __init__(self, kind):
        self.kind = kind

    def __repr__(self):
        return f"<{self.kind}>"


class Var:
    """$name: in a request the saved value; in an answer saves it, or compares when it is saved already."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"${self.name}"


class Text:
    """Strings joined by `+` and repeated by `*`, evaluated when filled in."""

    def __init__(self, parts):
        self.parts = parts  # [(string or Var, times)]


class Each:
    """`value for i in 1..n` inside a list, or `"key": value for i in 1..n` inside an object."""

    def __init__(self, item, name, first, last):
        self.item, self.name, self.first, self.last = item, name, first, last


class Nested:
    """nested(L, n, value): value inside n lists; nested(M, n, value): inside n maps, each under the name `m`."""

    def __init__(self, kind, depth, value):
        self.kind, self.depth, self.value = kind, depth, value


class Unordered:
    """unordered [...]: the elements in any order."""

    def __init__(self, items):
        self.items = items

    def __repr__(self):
        return f"unordered {show(self.items)}"


class More:
    """`...` in an object or list: whatever else."""

    def __repr__(self):
        return "..."


class Object:
    """An object as written: pairs, and `...` or loops among them."""

    def __init__(self, members):
        self.members = members


MORE = More()
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
KINDS = {
    "any": lambda v: True,
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
    "string": lambda v: isinstance(v, str),
    "list": lambda v: isinstance(v, list),
    "object": lambda v: isinstance(v, dict),
    "uuid": lambda v: isinstance(v, str) and UUID.match(v) is not None,
    "timestamp": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and 1.5e9 < v < 4.1e9,
}
SETS = {"SS", "NS", "BS"}


class ScriptError(Exception):
    pass


class Parser:
    def __init__(self, text, where):
        self.text, self.pos, self.where = text, 0, where

    def line(self, pos=None):
        return self.text.count("\n", 0, self.pos if pos is None else pos) + 1

    def fail(self, message):
        raise ScriptError(f"{self.where}:{self.line()}: {message}")

    def space(self, newlines=True):
        pattern = r"(?:\s|#[^\n]*(?=\n|\Z))*" if newlines else r"[ \t]*"
        self.pos = re.compile(pattern).match(self.text, self.pos).end()

    def take(self, pattern):
        m = re.compile(pattern).match(self.text, self.pos)
        if m:
            self.pos = m.end()
        return m

    def need(self, pattern, what):
        m = self.take(pattern)
        return m if m else self.fail(f"expected {what} before {self.text[self.pos:self.pos + 30]!r}")

    def rest_of_line(self):
        text = self.take(r"[^\n]*").group(0)
        return text.strip()

    # ---- values

    def value(self):
        self.space()
        if self.take(r"\{"):
            return Object(self.sequence(r"\}", self.member))
        if self.take(r"\["):
            return self.sequence(r"\]", self.value)
        if self.take(r"unordered\b"):
            self.space()
            self.need(r"\[", "'['")
            return Unordered(self.sequence(r"\]", self.value))
        if m := self.take(r"nested\(\s*([LM])\s*,\s*(\d+)\s*,"):
            inner = self.value()
            self.space()
            self.need(r"\)", "')'")
            return Nested(m.group(1), int(m.group(2)), inner)
        if m := self.take(r"<(" + "|".join(KINDS) + ")>"):
            return Any_(m.group(1))
        if m := self.take(r"(true|false|null)\b"):
            return {"true": True, "false": False, "null": None}[m.group(1)]
        if m := self.take(r"-?\d+(\.\d+)?([eE][-+]?\d+)?"):
            return json.loads(m.group(0))
        return self.string()

    def string(self):
        parts = []
        while True:
            self.space()
            if m := self.take(r"\$(\w+)"):
                part = Var(m.group(1))
            else:
                raw = self.need(r'"(?:[^"\\\n]|\\.)*"', "a value").group(0)
                part = json.loads(raw, strict=False)
            times = self.take(r"\s*\*\s*(\d+)")
            parts.append((part, int(times.group(1)) if times else 1))
            if not self.take(r"\s*\+"):
                break
        return parts[0][0] if len(parts) == 1 and parts[0][1] == 1 else Text(parts)

    def member(self):
        key = self.string()
        self.space()
        self.need(r":", "':'")
        return key, self.value()

    def sequence(self, end, element):
        items = []
        self.space()
        while not self.take(end):
            if items:
                self.need(r",", "',' or the end of the list")
                self.space()
            if self.take(r"\.\.\."):
                items.append(MORE)
            else:
                item = element()
                self.space()
                if loop := self.take(r"for (\w+) in (\d+)\.\.(\d+)"):
                    item = Each(item, loop.group(1), int(loop.group(2)), int(loop.group(3)))
                items.append(item)
            self.space()
        return items


def substitute(text, env):
    return re.sub(r"<(\w+)>", lambda m: str(env[m.group(1)]) if m.group(1) in env else m.group(0), text)


def fill(node, env):
    """`node` without loops, repetitions and known variables; placeholders of an expectation stay."""
    if isinstance(node, str):
        return substitute(node, env)
    if isinstance(node, Text):
        return "".join(substitute(fill(part, env), env) * times for part, times in node.parts)
    if isinstance(node, Var):
        return env.get("$" + node.name, node)
    if isinstance(node, Nested):
        value = fill(node.value, env)
        for _ in range(node.depth):
            value = {"L": [value]} if node.kind == "L" else {"M": {"m": value}}
        return value
    if isinstance(node, Unordered):
        return Unordered(fill(node.items, env))
    if isinstance(node, list):
        return [v for item in node for v in fill_each(item, env, fill)]
    if isinstance(node, Object):
        pairs = [p for member in node.members for p in fill_each(member, env, fill_member)]
        filled = {key: value for key, value in pairs if key is not MORE}
        if any(key is MORE for key, _ in pairs):
            filled[MORE] = True
        return filled
    return node


def fill_member(member, env):
    return (MORE, True) if member is MORE else (fill(member[0], env), fill(member[1], env))


def fill_each(item, env, function):
    if isinstance(item, Each):
        return [function(item.item, {**env, item.name: i}) for i in range(item.first, item.last + 1)]
    return [function(item, env)]


def match(expected, actual, env, path=""):
    """None when `actual` is as `expected`, else a line that says where it is not.  Binds variables in `env`."""
    if isinstance(expected, Any_):
        return None if KINDS[expected.kind](actual) else f"{path or 'answer'}: expected {expected}, got {show(actual)}"
    if isinstance(expected, Var):
        known = env.setdefault("$" + expected.name, actual)
        return None if known == actual else f"{path}: expected ${expected.name} = {show(known)}, got {show(actual)}"
    if isinstance(expected, Unordered):
        return match_unordered(expected.items, actual, env, path)
    if isinstance(expected, dict):
        if not isinstance(actual, dict):
            return f"{path or 'answer'}: expected an object, got {show(actual)}"
        for key, value in expected.items():
            if key is MORE:
                continue
            if key not in actual:
                return f"{path}.{key}: missing"
            if key in SETS and isinstance(value, list):
                value = Unordered(value)
            if problem := match(value, actual[key], env, f"{path}.{key}"):
                return problem
        extra = [] if MORE in expected else [key for key in actual if key not in expected]
        return f"{path}.{extra[0]}: not expected, got {show(actual[extra[0]])}" if extra else None
    if isinstance(expected, list):
        open_end = MORE in expected
        wanted = [e for e in expected if e is not MORE]
        if not isinstance(actual, list) or (len(actual) != len(wanted) and not (open_end and len(actual) > len(wanted))):
            return f"{path}: expected a list of {len(wanted)}, got {show(actual)}"
        for i, value in enumerate(wanted):
            if problem := match(value, actual[i], env, f"{path}[{i}]"):
                return problem
        return None
    if isinstance(expected, str) and isinstance(actual, str) and "<any>" in expected:
        return None if match_text(expected, actual) else f"{path}: expected {show(expected)}, got {show(actual)}"
    same = expected == actual and isinstance(expected, bool) == isinstance(actual, bool)
    return None if same else f"{path or 'answer'}: expected {show(expected)}, got {show(actual)}"


def match_unordered(expected, actual, env, path):
    open_end = MORE in expected
    wanted = [e for e in expected if e is not MORE]
    if not isinstance(actual, list) or (len(actual) != len(wanted) and not open_end):
        return f"{path}: expected {len(wanted)} elements in any order, got {show(actual)}"
    left = list(actual)
    for i, value in enumerate(wanted):
        for candidate in left:
            trial = dict(env)
            if match(value, candidate, trial, path) is None:
                env.update(trial)
                left.remove(candidate)
                break
        else:
            return f"{path}: none of the elements is {show(value)}; left are {show(left)}"
    return None


def match_message(expected, actual):
    """`<any>` in a message stands for any text; several violations are one message, in no particular order.

    The service puts the same sentence bare or behind "1 validation error detected: ", by operation and region.
    """
    expected, actual = (re.sub(r"\A1 validation error detected: (?!Value )", "", m) for m in (expected, actual))
    split = re.compile(r"\d+ validation errors detected: (.*)\Z", re.S)
    one, two = split.match(expected), split.match(actual)
    if one and two:
        parts = [sorted(m.group(1).split("; Value ")) for m in (one, two)]
        strip = [sorted(p.removeprefix("Value ") for p in side) for side in parts]
        return len(strip[0]) == len(strip[1]) and all(match_text(a, b) for a, b in zip(*strip))
    return match_text(expected, actual)


def match_text(expected, actual):
    return re.fullmatch(".*?".join(re.escape(part) for part in expected.split("<any>")), actual, re.S) is not None


def show(value, limit=600):
    text = json.dumps(value, default=repr, ensure_ascii=False, skipkeys=True) if not isinstance(value, dict) else \
        "{" + ", ".join("..." if k is MORE else f"{json.dumps(k)}: {show(v)}" for k, v in value.items()) + "}"
    return text if len(text) <= limit else f"{text[:limit // 2]} ...({len(text)} characters)... {text[-limit // 4:]}"


# ---- statements

class Statement:
    def __init__(self, line):
        self.line = line


class Name(Statement):
    """`name Orders`: a table name of this script's own; the table is deleted at the end if there is one."""

    def __init__(self, line, name):
        super().__init__(line)
        self.name = name


class Later(Statement):
    """`later why`: the script describes the service, and is not run until Stator does it."""

    def __init__(self, line, reason):
        super().__init__(line)
        self.reason = reason


class Table(Name):
    """`table Orders pk:S ...`: creates the table and waits until it is active."""

    def __init__(self, line, name, request):
        super().__init__(line, name)
        self.request = request


class Request(Statement):
    """A request with its expected outcome."""

    def __init__(self, line, operation, body, until, loop):
        super().__init__(line)
        self.operation, self.body, self.until, self.loop = operation, body, until, loop
        self.status, self.answer, self.type, self.messages = 200, None, None, []


def parse(text, where="script"):
    """The statements of a script.  Raises ScriptError with file and line."""
    p, statements = Parser(text, where), []
    p.space()
    while p.pos < len(text):
        line = p.line()
        if p.take(r"later\s+"):
            statements.append(Later(line, p.rest_of_line()))
        elif p.take(r"name\s+"):
            statements.append(Name(line, p.need(r"[\w.-]+", "a table name").group(0)))
        elif p.take(r"table\s+"):
            words = p.rest_of_line()
            while more := p.take(r"\n[ \t]+(?!#)([^\n]+)"):
                words += " " + more.group(1)
            statements.append(table(p, line, words.split()))
        elif p.take(r"ok\b"):
            request = pending(p, statements)
            p.space(newlines=False)
            request.answer = Any_("any") if p.take(r"(?=\n|\Z|#)") else p.value()
        elif m := p.take(r"error (\d+) ([\w.]+)(?::[ \t]?([^\n]*))?"):
            request = pending(p, statements)
            request.status, request.type, request.messages = int(m.group(1)), m.group(2), [(m.group(3) or "").rstrip()]
            request.answer = Object([])
            p.space()
            while other := p.take(r"or ([^\n]+)"):
                request.messages.append(other.group(1).rstrip())
                p.space()
            if p.take(r"with\b"):
                request.answer = p.value()
        else:
            until = p.take(r"until\s+") is not None
            loop = p.take(r"for (\w+) in (\d+)\.\.(\d+):?\s+")
            operation = p.need(r"[A-Z]\w+", "a statement").group(0)
            body = p.value()
            statements.append(Request(line, operation, body, until,
                                      (loop.group(1), int(loop.group(2)), int(loop.group(3))) if loop else None))
        p.space()
    for s in statements:
        if isinstance(s, Request) and s.answer is None:
            raise ScriptError(f"{where}:{s.line}: {s.operation} has no expectation (ok or error)")
    return statements


def pending(p, statements):
    if not statements or not isinstance(statements[-1], Request) or statements[-1].answer is not None:
        p.fail("an expectation without a request before it")
    return statements[-1]


PROJECTION = re.compile(r"(ALL|KEYS)\Z|INCLUDE\(([\w.,-]+)\)\Z")


def table(p, line, words):
    """pk:S [sk:N] [gsi Name pk:S[+pk2:N] [sk:N] PROJECTION]... [lsi Name sk:N PROJECTION]... [stream VIEW]"""
    definitions, words = {}, list(words)

    def attributes(word):
        pairs = [part.split(":") for part in word.split("+")]
        for pair in pairs:
            if len(pair) != 2 or pair[1] not in ("S", "N", "B"):
                p.fail(f"{word!r} is not name:S, name:N or name:B")
            definitions[pair[0]] = pair[1]
        return [pair[0] for pair in pairs]

    def key_schema(sort_only=None):
        keys = [(sort_only, "HASH")] if sort_only else []
        while words and ":" in words[0]:
            kind = "RANGE" if keys else "HASH"
            keys += [(name, kind) for name in attributes(words.pop(0))]
        return [{"AttributeName": name, "KeyType": kind} for name, kind in keys]

    def index(partition=None):
        name, schema = words.pop(0), key_schema(partition)
        m = PROJECTION.match(words.pop(0)) if words else None
        if not m:
            p.fail(f"index {name}: its projection is ALL, KEYS or INCLUDE(a,b)")
        projection = {"ProjectionType": {"ALL": "ALL", "KEYS": "KEYS_ONLY"}.get(m.group(1), "INCLUDE")}
        if m.group(2):
            projection["NonKeyAttributes"] = m.group(2).split(",")
        return {"IndexName": name, "KeySchema": schema, "Projection": projection}

    name = words.pop(0)
    request = {"TableName": name, "BillingMode": "PAY_PER_REQUEST", "KeySchema": key_schema()}
    while words:
        word = words.pop(0)
        if word == "gsi":
            request.setdefault("GlobalSecondaryIndexes", []).append(index())
        elif word == "lsi":
            request.setdefault("LocalSecondaryIndexes", []).append(index(request["KeySchema"][0]["AttributeName"]))
        elif word == "stream":
            request["StreamSpecification"] = {"StreamEnabled": True, "StreamViewType": words.pop(0)}
        else:
            p.fail(f"{word!r} in a table: expected gsi, lsi or stream")
    request["AttributeDefinitions"] = [{"AttributeName": n, "AttributeType": t} for n, t in definitions.items()]
    return Table(line, name, request)

"""The meaning of conditions, updates and projections, written for reading rather than speed; and random ones of each."""
import base64
import copy
import decimal
import operator

CONTEXT = decimal.Context(prec=60)


def number(text):
    return CONTEXT.create_decimal(text)


def spell(value):
    """A number as the service prints it."""
    text = format(value.normalize(CONTEXT), "f")
    return "0" if text in ("0", "-0") else text


def sort_key(value):
    """The sort key of a scalar."""
    ((kind, v),) = value.items()
    return number(v) if kind == "N" else base64.b64decode(v) if kind == "B" else v.encode()


OPERATORS = {"=": operator.eq, "<>": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}


def compare_numbers(op, a, b):
    return OPERATORS[op](a, b)


def equal(a, b):
    ((ka, va),), ((kb, vb),) = a.items(), b.items()
    if ka != kb:
        return False
    if ka == "N":
        return number(va) == number(vb)
    if ka == "NS":
        return set(map(number, va)) == set(map(number, vb))
    if ka in ("SS", "BS"):
        return set(va) == set(vb)
    if ka == "L":
        return len(va) == len(vb) and all(map(equal, va, vb))
    if ka == "M":
        return va.keys() == vb.keys() and all(equal(va[k], vb[k]) for k in va)
    return va == vb


def size(value):
    ((kind, v),) = value.items()
    if kind == "S":
        return len(v.encode())
    if kind == "B":
        return len(base64.b64decode(v))
    return len(v) if kind in ("SS", "NS", "BS", "L", "M") else None


def find(item, path):
    """The value at `path` (names and indexes), or None."""
    value = {"M": item}
    for step in path:
        ((kind, v),) = value.items()
        if isinstance(step, int):
            if kind != "L" or step >= len(v):
                return None
            value = v[step]
        else:
            if kind != "M" or step not in v:
                return None
            value = v[step]
    return value


def project(item, paths):
    """The item with only `paths`; elements keep their order and close up."""
    def pick(value, rests):
        if () in rests:
            return copy.deepcopy(value)
        ((kind, v),) = value.items()
        steps = {}
        for rest in rests:
            steps.setdefault(rest[0], []).append(rest[1:])
        if kind == "M":
            picked = {s: pick(v[s], r) for s, r in steps.items() if isinstance(s, str) and s in v}
            picked = {s: p for s, p in picked.items() if p is not None}
            return {"M": picked} if picked else None
        if kind == "L":
            picked = [pick(v[s], steps[s]) for s in sorted(s for s in steps if isinstance(s, int)) if s < len(v)]
            picked = [p for p in picked if p is not None]
            return {"L": picked} if picked else None
        return None
    whole = pick({"M": item}, list(paths))
    return whole["M"] if whole else {}


# ---- random values

def random_value(r, name):
    """A value for the attribute `name`; index keys have the type of their index."""
    if name == "pk":
        return {"S": r.choice("pqrs")}
    if name in ("sk", "gn"):
        return {"N": str(r.randrange(-6, 6))}
    if name == "g":
        return {"S": r.choice(("x", "xy", "xyz", "y"))}
    if name == "lb":
        return {"B": base64.b64encode(r.choice((b"\x00", b"\x00\x01", b"\x7f", b"\x80", b"\xff"))).decode()}
    if name == "n":
        return {"N": spell(number(r.choice(("0", "1", "-1", "2.5", "10", "1e3", "0.1", "-7.25"))))}
    if name == "s":
        return {"SS": r.sample(("one", "two", "three", ""), r.randint(1, 3))}
    if name == "l":
        return {"L": [scalar(r) for _ in range(r.randint(0, 4))]}
    if name == "m":
        value = {"x": scalar(r), "w": scalar(r)}
        if r.random() < 0.6:
            value["y"] = {"M": {"z": scalar(r)}}
        return {"M": {k: v for k, v in value.items() if r.random() < 0.7}}
    return scalar(r)


def scalar(r):
    return r.choice((
        {"S": r.choice(("", "a", "ab", "abc", "b"))}, {"N": spell(number(r.choice(("0", "1", "2", "-3.5", "100"))))},
        {"B": r.choice(("", "AA==", "AAE=", "/w=="))}, {"BOOL": r.random() < 0.5}, {"NULL": True}, {"NS": r.choice((["1"], ["1", "2"], ["2.5"]))}))


PATHS = (("a",), ("b",), ("m",), ("m", "x"), ("m", "y", "z"), ("l",), ("l", 0), ("l", 1), ("s",), ("n",), ("g",), ("gn",))


class Names:
    """Collects the placeholders of one expression; some names are written as they are, some behind a placeholder."""

    def __init__(self, r, prefix):
        self.r, self.prefix, self.names, self.values = r, prefix, {}, {}

    def path(self, path):
        text = ""
        for step in path:
            if isinstance(step, int):
                text += f"[{step}]"
            else:
                shown = step
                if self.r.random() < 0.3:
                    shown = f"#{self.prefix}{step}"
                    self.names[shown] = step
                text += ("." if text else "") + shown
        return text

    def value(self, value):
        name = f":{self.prefix}{len(self.values)}"
        self.values[name] = value
        return name

    def add_to(self, request):
        for member, mine in (("ExpressionAttributeNames", self.names), ("ExpressionAttributeValues", self.values)):
            if mine:
                request.setdefault(member, {}).update(mine)


class Condition:
    """A random condition: its text, and whether it holds for an item."""

    def __init__(self, r, depth, without=()):
        self.names = Names(r, "c")
        self.paths = [p for p in PATHS if p[0] not in without]
        self.text, self.holds = self.make(r, depth)

    def add_to(self, request, member):
        request[member] = self.text
        self.names.add_to(request)

    def make(self, r, depth):
        if depth and r.random() < 0.6:
            kind = r.choice(("AND", "OR", "NOT"))
            one, first = self.make(r, depth - 1)
            if kind == "NOT":
                return f"NOT ({one})" if one[0] != "(" else f"NOT {one}", lambda item: not first(item)
            two, second = self.make(r, depth - 1)
            if kind == "AND":
                return f"({one} AND {two})", lambda item: first(item) and second(item)
            return f"({one} OR {two})", lambda item: first(item) or second(item)
        return self.leaf(r)

    def leaf(self, r):
        path, n = r.choice(self.paths), self.names
        kind = r.choice(("compare", "compare", "between", "in", "exists", "missing", "type", "begins", "contains", "size"))
        value = r.choice(({"N": "1"}, {"N": "-3.5"}, {"S": "ab"}, {"S": "x"}, {"B": "AAE="}))
        shown = n.path(path)
        if kind == "compare":
            op = r.choice(list(OPERATORS))
            if op in ("=", "<>") and r.random() < 0.5:
                value = r.choice((scalar(r), random_value(r, "l"), random_value(r, "m"), random_value(r, "s")))
            return f"{shown} {op} {n.value(value)}", lambda item: compare(op, find(item, path), value)
        if kind == "between":
            low, high = sorted((value, r.choice([v for v in ({"N": "2"}, {"S": "b"}, {"B": "/w=="}) if v.keys() == value.keys()])), key=sort_key)
            return (f"{shown} BETWEEN {n.value(low)} AND {n.value(high)}",
                    lambda item: compare(">=", find(item, path), low) and compare("<=", find(item, path), high))
        if kind == "in":
            choices = [value, scalar(r), scalar(r)]
            return (f"{shown} IN ({', '.join(map(n.value, choices))})",
                    lambda item: find(item, path) is not None and any(equal(find(item, path), c) for c in choices))
        if kind == "exists":
            return f"attribute_exists({shown})", lambda item: find(item, path) is not None
        if kind == "missing":
            return f"attribute_not_exists({shown})", lambda item: find(item, path) is None
        if kind == "type":
            name = r.choice(("S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS"))
            return f"attribute_type({shown}, {n.value({'S': name})})", lambda item: find(item, path) is not None and name in find(item, path)
        if kind == "begins":
            front = r.choice(({"S": "a"}, {"S": "xy"}, {"B": "AA=="}))
            return f"begins_with({shown}, {n.value(front)})", lambda item: begins_with(find(item, path), front)
        if kind == "contains":
            part = r.choice(({"S": "a"}, {"S": "one"}, {"N": "1"}, {"B": "AA=="}))
            return f"contains({shown}, {n.value(part)})", lambda item: contains(find(item, path), part)
        op = r.choice(("=", "<", ">="))
        limit = r.randrange(4)
        return (f"size({shown}) {op} {n.value({'N': str(limit)})}",
                lambda item: find(item, path) is not None and size(find(item, path)) is not None and OPERATORS[op](size(find(item, path)), limit))


def compare(op, value, operand):
    if op == "<>":
        return value is None or not equal(value, operand)
    if value is None:
        return False
    if op == "=":
        return equal(value, operand)
    if value.keys() != operand.keys() or next(iter(value)) not in ("S", "N", "B"):
        return False
    return OPERATORS[op](sort_key(value), sort_key(operand))


def begins_with(value, front):
    return value is not None and value.keys() == front.keys() and sort_key(value).startswith(sort_key(front))


def contains(value, part):
    if value is None:
        return False
    ((kind, v),), ((part_kind, p),) = value.items(), part.items()
    if kind == "L":
        return any(equal(element, part) for element in v)
    if kind in ("SS", "NS", "BS"):
        return kind[0] == part_kind and any(equal({part_kind: member}, part) for member in v)
    return kind == part_kind and kind in ("S", "B") and sort_key(part) in sort_key(value)


class Update:
    """A random update that is valid for `item`: its text, and what it makes of the item."""

    def __init__(self, r, item):
        self.names, self.clauses, self.creates = Names(r, "u"), {"SET": [], "REMOVE": [], "ADD": [], "DELETE": []}, False
        self.actions = []
        for name in r.sample(("a", "b", "m", "l", "s", "n", "g", "gn", "lb"), r.randint(1, 4)):
            self.add(r, name, item)
        self.clauses = {k: v for k, v in self.clauses.items() if v}

    def add(self, r, name, item):
        """One clause about the attribute `name`: (section, text), and a function old item, new item -> None."""
        n, value = self.names, item.get(name)
        kind = next(iter(value)) if value else None
        choices = ["set", "remove"]
        if name in ("a", "b", "n"):
            choices.append("if_not_exists")
        if name == "n" and kind == "N":
            choices += ["plus", "minus"]
        if name == "n" and kind in (None, "N"):
            choices.append("add")
        if name == "s" and kind in (None, "SS"):
            choices += ["add set", "delete set"]
        if name == "l" and kind == "L":
            choices += ["append", "element", "remove element"]
        if name == "m" and kind == "M":
            choices += ["member", "remove member"]
        choice, new = r.choice(choices), random_value(r, name)
        top = n.path((name,))
        section, act = "SET", None
        if choice == "set":
            text = f"{top} = {n.value(new)}"
            act = lambda old, out: out.__setitem__(name, new)  # noqa: E731
        elif choice == "remove":
            section, text = "REMOVE", top
            act = lambda old, out: out.pop(name, None)  # noqa: E731
        elif choice == "if_not_exists":
            text = f"{top} = if_not_exists({top}, {n.value(new)})"
            act = lambda old, out: out.__setitem__(name, old.get(name, new))  # noqa: E731
        elif choice in ("plus", "minus"):
            sign = 1 if choice == "plus" else -1
            text = f"{top} = {top} {'+' if sign > 0 else '-'} {n.value(new)}"
            act = lambda old, out: out.__setitem__(name, {"N": spell(number(old[name]["N"]) + sign * number(new["N"]))})  # noqa: E731
        elif choice == "add":
            section, text = "ADD", f"{top} {n.value(new)}"
            act = lambda old, out: out.__setitem__(name, {"N": spell(number(old.get(name, {"N": "0"})["N"]) + number(new["N"]))})  # noqa: E731
        elif choice == "add set":
            section, text = "ADD", f"{top} {n.value(new)}"
            act = lambda old, out: out.__setitem__(name, {"SS": sorted({*old.get(name, {"SS": []})["SS"], *new["SS"]})})  # noqa: E731
        elif choice == "delete set":
            section, text = "DELETE", f"{top} {n.value(new)}"

            def act(old, out):
                left = [m for m in old.get(name, {"SS": []})["SS"] if m not in new["SS"]]
                if left:
                    out[name] = {"SS": left}
                else:
                    out.pop(name, None)
        elif choice == "append":
            text = f"{top} = list_append({top}, {n.value(new)})"
            act = lambda old, out: out.__setitem__(name, {"L": old[name]["L"] + new["L"]})  # noqa: E731
        elif choice == "element":
            at, element = r.randrange(6), scalar(r)
            text = f"{top}[{at}] = {n.value(element)}"

            def act(old, out):
                elements = out[name]["L"]
                elements[at:at + 1] = [element]
        elif choice == "remove element":
            at = r.randrange(6)
            section, text = "REMOVE", f"{top}[{at}]"

            def act(old, out):
                del out[name]["L"][at:at + 1]
        elif choice == "member":
            member = scalar(r)
            text = f"{top}.q = {n.value(member)}"
            act = lambda old, out: out[name]["M"].__setitem__("q", member)  # noqa: E731
        else:
            section, text = "REMOVE", f"{top}.x"
            act = lambda old, out: out[name]["M"].pop("x", None)  # noqa: E731
        self.creates |= section in ("SET", "ADD")
        self.clauses[section].append(text)
        self.actions.append(act)

    def add_to(self, request):
        request["UpdateExpression"] = " ".join(f"{section} {', '.join(clauses)}" for section, clauses in self.clauses.items())
        self.names.add_to(request)

    def apply(self, item):
        out = copy.deepcopy(item)
        for act in self.actions:
            act(item, out)
        return out

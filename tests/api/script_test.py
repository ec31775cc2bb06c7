"""Does the language of scripts see what it must see?  A matcher that always agrees would make every script pass."""
import script


def matches(expected, actual, env=None):
    env = {} if env is None else env
    return script.match(script.fill(script.Parser(expected, "test").value(), env), actual, env) is None


def only_request(text):
    return [s for s in script.parse(text) if isinstance(s, script.Request)][0]


CHECKS = {
    "equal objects match in any order of members": lambda: matches('{"a":1,"b":[2]}', {"b": [2], "a": 1}),
    "a missing member is seen": lambda: not matches('{"a":1,"b":2}', {"a": 1}),
    "an extra member is seen": lambda: not matches('{"a":1}', {"a": 1, "b": 2}),
    "an extra member is allowed by dots": lambda: matches('{"a":1,...}', {"a": 1, "b": 2}),
    "dots do not excuse a missing member": lambda: not matches('{"a":1,...}', {"b": 2}),
    "another value is seen, deep inside": lambda: not matches('{"a":[{"b":"x"}]}', {"a": [{"b": "y"}]}),
    "true is not 1": lambda: not matches("1", True) and not matches("true", 1),
    "the length of a list is seen": lambda: not matches("[1,2]", [1]) and not matches("[1]", [1, 2]) and matches("[1,...]", [1, 2]),
    "the order of a list is seen": lambda: not matches("[1,2]", [2, 1]),
    "an unordered list matches in any order": lambda: matches("unordered [1,2,2]", [2, 1, 2]),
    "an unordered list counts": lambda: not matches("unordered [1,2,2]", [2, 1, 1]) and not matches("unordered [1]", [1, 1]),
    "sets have no order": lambda: matches('{"SS":["a","b"]}', {"SS": ["b", "a"]}) and not matches('{"SS":["a"]}', {"SS": ["a", "b"]}),
    "placeholders check the kind": lambda: matches("<number>", 1.5) and not matches("<number>", "1") and not matches("<uuid>", "x"),
    "a variable is bound once": lambda: matches("[$x,$x]", [{"a": 1}, {"a": 1}]) and not matches("[$x,$x]", [1, 2]),
    "any text inside a string": lambda: matches('"arn:<any>:x"', "arn:aws:x") and not matches('"arn:<any>:x"', "arn:aws:y"),
    "strings repeat and join": lambda: matches('"a" + "b" * 3', "abbb"),
    "loops make elements and members": lambda: matches('[{"k<i>":"<i>"} for i in 1..2]', [{"k1": "1"}, {"k2": "2"}])
    and matches('{"k<i>":<i_> for i in 1..2}'.replace("<i_>", '"x"'), {"k1": "x", "k2": "x"}),
    "nested lists and maps": lambda: matches('nested(L, 2, {"S":"x"})', {"L": [{"L": [{"S": "x"}]}]}),
    "messages are compared whole": lambda: not script.match_message("a b", "a b c") and script.match_message("a <any> c", "a b c"),
    "violations come in any order": lambda: script.match_message(
        "2 validation errors detected: Value 'a' is bad; Value 'b' is bad", "2 validation errors detected: Value 'b' is bad; Value 'a' is bad"),
    "but all of them": lambda: not script.match_message(
        "2 validation errors detected: Value 'a' is bad; Value 'b' is bad", "2 validation errors detected: Value 'a' is bad; Value 'c' is bad"),
    "a request spans lines": lambda: only_request('GetItem {"a":\n  1}\nok {}').operation == "GetItem",
    "an error may have several wordings": lambda: only_request("Scan {}\nerror 400 X: one\nor two").messages == ["one", "two"],
    "a table declares its indexes": lambda: script.parse("table T pk:S gsi G a:S+b:N c:S ALL")[0].request["GlobalSecondaryIndexes"][0]["KeySchema"] == [
        {"AttributeName": n, "KeyType": k} for n, k in (("a", "HASH"), ("b", "HASH"), ("c", "RANGE"))],
}


def problems():
    return [f"tests/api/script.py: not so: {name}" for name, check in CHECKS.items() if not check()]

"""Whether a document is OpenAPI 3.1: the rules of the specification that a generated document can break."""

import re

METHODS = {"get", "put", "post", "delete", "options", "head", "patch", "trace"}
OPERATION = {"tags", "summary", "description", "externalDocs", "operationId", "parameters", "requestBody", "responses", "callbacks",
             "deprecated", "security", "servers"}  # fmt: skip
PARAMETER = {"name", "in", "description", "required", "deprecated", "schema", "content", "style", "explode", "example", "examples"}
TYPES = {"null", "boolean", "object", "array", "number", "string", "integer"}
SCHEMA = {"$ref", "type", "format", "description", "default", "enum", "const", "minimum", "maximum", "multipleOf", "minLength", "maxLength",
          "pattern", "items", "minItems", "maxItems", "uniqueItems", "properties", "required", "additionalProperties", "anyOf", "allOf",
          "contentEncoding", "title"}  # fmt: skip


class Invalid(AssertionError):
    pass


class _Checker:
    def __init__(self, document):
        self.document, self.ids = document, set()

    def require(self, condition, where, what):
        if not condition:
            raise Invalid(f"{where}: {what}")

    def known(self, value, words, where):
        self.require(isinstance(value, dict), where, "is not an object")
        self.require(not set(value) - words, where, f"has unknown members {sorted(set(value) - words)}")

    def resolve(self, reference, where):
        self.require(reference.startswith("#/"), where, f"refers outside: {reference}")
        found = self.document
        for part in reference[2:].split("/"):
            part = part.replace("~1", "/").replace("~0", "~")
            self.require(isinstance(found, dict) and part in found, where, f"refers to nothing: {reference}")
            found = found[part]

    def schema(self, schema, where):
        if isinstance(schema, bool):
            return
        self.known(schema, SCHEMA, where)
        if "$ref" in schema:
            self.resolve(schema["$ref"], where)
        if "type" in schema:
            self.require(schema["type"] in TYPES, where, f"has the type {schema['type']}")
        for word in ("minLength", "maxLength", "minItems", "maxItems"):
            if word in schema:
                self.require(isinstance(schema[word], int) and schema[word] >= 0, where, f"{word} is no count")
        for word in ("minimum", "maximum", "multipleOf"):
            if word in schema:
                self.require(isinstance(schema[word], (int, float)), where, f"{word} is no number")
        if "pattern" in schema:
            re.compile(re.sub(r"\\[pP]\{\w+\}", r"\\w", schema["pattern"]))  # JSON Schema has Unicode's classes, Python has not
        if "enum" in schema:
            self.require(schema["enum"] and len(set(schema["enum"])) == len(schema["enum"]), where, "enum repeats itself or is empty")
        for name, member in schema.get("properties", {}).items():
            self.schema(member, f"{where}.{name}")
        for name in schema.get("required", []):
            self.require(name in schema.get("properties", {}), where, f"requires {name}, which is not a property")
        self.require("required" not in schema or schema["required"], where, "required is empty")
        for word in ("items", "additionalProperties"):
            if word in schema:
                self.schema(schema[word], f"{where}.{word}")
        self.require(schema.get("type") != "array" or "items" in schema, where, "an array without items")
        for word in ("anyOf", "allOf"):
            for n, option in enumerate(schema.get(word, [])):
                self.schema(option, f"{where}.{word}[{n}]")

    def content(self, content, where):
        for kind, media in content.items():
            self.require("/" in kind, where, f"{kind} is no media type")
            self.known(media, {"schema", "example", "examples", "encoding"}, where)
            self.schema(media.get("schema", {}), where)

    def operation(self, path, method, operation):
        where = f"{method.upper()} {path}"
        self.known(operation, OPERATION, where)
        self.require(operation.get("operationId") not in self.ids, where, f"{operation.get('operationId')} is there twice")
        self.ids.add(operation.get("operationId"))
        seen = set()
        for parameter in operation.get("parameters", []):
            at = f"{where} parameter {parameter.get('name')}"
            self.known(parameter, PARAMETER, at)
            self.require(parameter.get("in") in {"query", "header", "path", "cookie"}, at, "is nowhere")
            key = (parameter["name"], parameter["in"])
            self.require(key not in seen, at, "is there twice")
            seen.add(key)
            self.require(parameter["in"] != "path" or parameter.get("required") is True, at, "in a path is required")
            self.schema(parameter["schema"], at)
        in_path = {name for name, place in seen if place == "path"}
        self.require(in_path == set(re.findall(r"\{([^}]+)\}", path)), where, f"path parameters {sorted(in_path)} do not fit")
        if "requestBody" in operation:
            self.known(operation["requestBody"], {"description", "content", "required"}, where)
            self.content(operation["requestBody"]["content"], f"{where} body")
        self.require(operation.get("responses"), where, "has no responses")
        for status, response in operation["responses"].items():
            self.require(re.fullmatch(r"[1-5](\d\d|XX)|default", status), where, f"{status} is no status")
            self.known(response, {"description", "headers", "content", "links"}, f"{where} {status}")
            self.require(isinstance(response.get("description"), str), f"{where} {status}", "has no description")
            self.content(response.get("content", {}), f"{where} {status}")

    def check(self):
        document = self.document
        self.known(document, {"openapi", "info", "servers", "security", "paths", "components", "tags", "externalDocs"}, "document")
        self.require(re.fullmatch(r"3\.1\.\d+", document["openapi"]), "openapi", "is not 3.1")
        self.require(document["info"]["title"] and document["info"]["version"], "info", "needs a title and a version")
        for path, methods in document["paths"].items():
            self.require(path.startswith("/"), path, "does not begin with a slash")
            self.known(methods, METHODS | {"summary", "description", "parameters"}, path)
            for method, operation in methods.items():
                self.operation(path, method, operation)
        shapes = [re.sub(r"\{[^}]+\}", "{}", path) for path in document["paths"]]
        self.require(len(set(shapes)) == len(shapes), "paths", "two differ only in the names of parameters")
        for name, schema in document["components"].get("schemas", {}).items():
            self.require(re.fullmatch(r"[a-zA-Z0-9._-]+", name), name, "is no name of a component")
            self.schema(schema, name)
        schemes = document["components"].get("securitySchemes", {})
        for requirement in document.get("security", []):
            for name in requirement:
                self.require(name in schemes, "security", f"{name} is not a scheme")


def check(document):
    """Raises Invalid with the first place that breaks a rule."""
    _Checker(document).check()

// JSON whose numbers keep their digits: JSON.parse would round what has more than 15 of them.
export class Exact {
  constructor(readonly text: string) {}
}
export type Json = null | boolean | string | Exact | Json[] | { [name: string]: Json };

export class JsonError extends Error {
  constructor(message: string, readonly at: number, readonly line: number) {
    super(message);
  }
}

const deepest = 200;

export function parse(text: string): Json {
  let at = 0;
  const fail = (message: string): never => {
    const before = text.slice(0, at);
    const line = before.split("\n").length;
    throw new JsonError(`Line ${line}, column ${at - before.lastIndexOf("\n")}: ${message}`, at, line);
  };
  const space = () => {
    while (at < text.length && " \t\n\r".includes(text[at]!)) at++;
  };
  const word = (letters: string, value: Json) => {
    if (!text.startsWith(letters, at)) fail("this is no value");
    at += letters.length;
    return value;
  };
  const string = (): string => {
    const start = at++;
    while (at < text.length && text[at] !== '"') {
      if (text[at]! < " ") fail("a text cannot go on over the end of its line");
      at += text[at] === "\\" ? 2 : 1;
    }
    if (at >= text.length) {
      at = start;
      fail("this text has no closing quote");
    }
    at++;
    try {
      return JSON.parse(text.slice(start, at)) as string;
    } catch {
      at = start;
      return fail("this text has an escape that JSON does not know");
    }
  };
  const value = (depth: number): Json => {
    if (depth > deepest) fail("this is nested too deep");
    space();
    switch (text[at]) {
      case undefined: return fail("a value is missing");
      case '"': return string();
      case "t": return word("true", true);
      case "f": return word("false", false);
      case "n": return word("null", null);
      case "[": {
        const list: Json[] = [];
        at++;
        space();
        if (text[at] === "]") return at++, list;
        for (;;) {
          list.push(value(depth + 1));
          space();
          if (text[at] === ",") at++;
          else if (text[at] === "]") return at++, list;
          else fail("a comma or ] is missing");
        }
      }
      case "{": {
        const members = new Map<string, Json>();
        at++;
        space();
        if (text[at] === "}") return at++, {};
        for (;;) {
          space();
          if (text[at] !== '"') fail("a name in quotes is missing");
          const name = string();
          if (members.has(name)) fail(`${JSON.stringify(name)} is there twice`);
          space();
          if (text[at] !== ":") fail("a colon is missing");
          at++;
          members.set(name, value(depth + 1));
          space();
          if (text[at] === ",") at++;
          else if (text[at] === "}") return at++, Object.fromEntries(members);
          else fail("a comma or } is missing");
        }
      }
      default: {
        const number = /^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?/.exec(text.slice(at, at + 400));
        if (!number) return fail("this is no value");
        at += number[0].length;
        return new Exact(number[0]);
      }
    }
  };
  const result = value(0);
  space();
  if (at < text.length) fail("something follows the end");
  return result;
}

export const isObject = (json: Json | undefined): json is { [name: string]: Json } => typeof json === "object" && json !== null && !Array.isArray(json) && !(json instanceof Exact);

export function print(json: Json, indent = 0, depth = 0): string {
  if (json instanceof Exact) return json.text;
  if (typeof json !== "object" || json === null) return JSON.stringify(json);
  const line = indent ? `\n${" ".repeat(indent * (depth + 1))}` : "";
  const end = indent ? `\n${" ".repeat(indent * depth)}` : "";
  const parts = Array.isArray(json)
    ? json.map((one) => line + print(one, indent, depth + 1))
    : Object.entries(json).map(([name, one]) => `${line}${JSON.stringify(name)}:${indent ? " " : ""}${print(one, indent, depth + 1)}`);
  const [open, close] = Array.isArray(json) ? "[]" : "{}";
  return parts.length ? open + parts.join(indent ? "," : ",") + end + close : open! + close!;
}

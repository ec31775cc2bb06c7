// Items out of a file: JSON (a list, or one item per line), typed JSON, or CSV.  What is wrong is said with its line.
import type { Item, TableDescription } from "../api/types";
import { isObject, type Json, JsonError, parse } from "./json";
import { fromCsvValue, keyOf, looksTyped, readCsv, readTypedItem, sizeOfItem, typedItem, typeNames, typeOf } from "./values";

export type Format = "json" | "typed" | "csv";
export interface Row {
  line: number;
  item?: Item;
  error?: string;
}
export const mostBytes = 400 * 1024;

export function guess(name: string, text: string): Format {
  if (/\.csv$/i.test(name)) return "csv";
  const start = text.slice(0, 4000).trimStart();
  if (!start.startsWith("{") && !start.startsWith("[")) return "csv";
  return /^[[{]\s*(\{\s*)?("(Items|Item)"\s*:\s*[[{]\s*\{?\s*)?"[^"]*"\s*:\s*\{\s*"(S|N|B|BOOL|NULL|L|M|SS|NS|BS)"\s*:/.test(start) ? "typed" : "json";
}

export function read(text: string, format: Format, table: TableDescription): Row[] {
  const rows = format === "csv" ? fromCsv(text) : fromJson(text, format);
  const seen = new Map<string, number>();
  for (const row of rows) {
    if (!row.item) continue;
    const wrong = problemOf(row.item, table);
    if (wrong) {
      row.error = wrong;
      delete row.item;
      continue;
    }
    const key = JSON.stringify(keyOf(row.item, table.KeySchema));
    const before = seen.get(key);
    if (before !== undefined) {
      row.error = `has the same key as line ${before}`;
      delete row.item;
    } else seen.set(key, row.line);
  }
  return rows;
}

function problemOf(item: Item, table: TableDescription): string | null {
  const types = new Map(table.AttributeDefinitions.map((one) => [one.AttributeName, one.AttributeType]));
  for (const { AttributeName: name } of table.KeySchema) {
    if (!Object.hasOwn(item, name)) return `the key ${name} is missing`;
    const value = item[name]!;
    if (typeOf(value) !== types.get(name)) return `the key ${name} is a ${typeNames[types.get(name)!].toLowerCase()}, and not a ${typeNames[typeOf(value)].toLowerCase()}`;
    if (("S" in value && value.S === "") || ("B" in value && value.B === "")) return `the key ${name} is empty`;
  }
  const size = sizeOfItem(item);
  return size > mostBytes ? `the item has ${size} bytes; the limit is ${mostBytes}` : null;
}

function fromJson(text: string, format: Format): Row[] {
  const start = text.trimStart();
  const item = (json: Json): Item => {
    if (!isObject(json)) throw new Error("an item is an object");
    // What `aws dynamodb export` and PutItem have around an item.
    const inner = Object.keys(json).length === 1 && isObject(json.Item) ? json.Item : json;
    return format === "typed" || (format === "json" && looksTyped(inner) && inner !== json) ? readTypedItem(inner) : typedItem(inner);
  };
  const one = (json: Json, line: number): Row => {
    try {
      return { line, item: item(json) };
    } catch (problem) {
      return { line, error: (problem as Error).message };
    }
  };
  if (start.startsWith("[")) return elements(text).map(({ text: part, line }) => (part === null ? { line, error: "the list does not end" } : read1(part, line)));
  // One answer of Scan or Query, or items in lines.
  if (start.startsWith("{") && /^\{\s*"Items"\s*:/.test(start)) {
    try {
      const json = parse(text);
      if (isObject(json) && Array.isArray(json.Items)) return json.Items.map((json1, i) => one(json1, i + 1));
    } catch (problem) {
      return [{ line: problem instanceof JsonError ? problem.line : 1, error: (problem as Error).message }];
    }
  }
  try {
    return [one(parse(text), 1)]; // one item over many lines
  } catch {
    return text.split("\n").flatMap((line, i) => (line.trim() ? [read1(line, i + 1)] : []));
  }
  function read1(part: string, line: number): Row {
    try {
      return one(parse(part), line);
    } catch (problem) {
      return { line: line + (problem instanceof JsonError ? problem.line - 1 : 0), error: (problem as Error).message.replace(/^Line \d+, /, "") };
    }
  }
}

// The elements of a JSON list as texts with their lines, so that one that is wrong does not hide the others.
function elements(text: string): { text: string | null; line: number }[] {
  const found: { text: string | null; line: number }[] = [];
  let at = text.indexOf("[") + 1;
  let line = text.slice(0, at).split("\n").length;
  let depth = 0;
  let start = at;
  let startLine = line;
  let quoted = false;
  for (; at < text.length; at++) {
    const letter = text[at]!;
    if (letter === "\n") line++;
    if (quoted) {
      if (letter === "\\") at++;
      else if (letter === '"') quoted = false;
    } else if (letter === '"') quoted = true;
    else if (letter === "{" || letter === "[") depth++;
    else if (letter === "}" || (letter === "]" && depth > 0)) depth--;
    else if ((letter === "," || letter === "]") && depth === 0) {
      const part = text.slice(start, at);
      if (part.trim()) found.push({ text: part.trim(), line: startLine + (part.slice(0, part.length - part.trimStart().length).split("\n").length - 1) });
      if (letter === "]") return found;
      start = at + 1;
      startLine = line;
    }
  }
  found.push({ text: null, line: startLine });
  return found;
}

function fromCsv(text: string): Row[] {
  const rows: Row[] = [];
  let names: string[] | null = null;
  try {
    for (const { line, fields } of readCsv(text.replace(/^\ufeff/, ""))) {
      if (!names) {
        names = fields.map((field) => field.text);
        const twice = names.find((name, i) => names!.indexOf(name) < i);
        if (twice !== undefined) return [{ line, error: `the column ${JSON.stringify(twice)} is there twice` }];
        continue;
      }
      if (fields.length > names.length) rows.push({ line, error: `has ${fields.length} fields for ${names.length} columns` });
      else rows.push({ line, item: Object.fromEntries(fields.flatMap((field, i) => (field.text === "" && !field.quoted ? [] : [[names![i]!, fromCsvValue(field.text)]]))) });
    }
  } catch (problem) {
    rows.push({ line: Number(/^Line (\d+)/.exec((problem as Error).message)?.[1] ?? 1), error: (problem as Error).message.replace(/^Line \d+: /, "") });
  }
  if (!names) return [{ line: 1, error: "the first line names the columns, and is missing" }];
  return rows;
}

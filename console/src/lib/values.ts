// Attribute values: their types, their sizes, and their forms as text.
import type { AttributeValue, Item, KeyElement, Type } from "../api/types";
import { Exact, isObject, type Json, parse, print } from "./json";

export const typeNames: Record<Type, string> = {
  S: "String", N: "Number", B: "Binary", BOOL: "Boolean", NULL: "Null", L: "List", M: "Map", SS: "String set", NS: "Number set", BS: "Binary set",
};
export const types = Object.keys(typeNames) as Type[];
export const typeOf = (value: AttributeValue): Type => Object.keys(value)[0] as Type;
// The content, without its type.
export const inside = (value: AttributeValue): unknown => Object.values(value)[0];

export const keyOf = (item: Item, keys: readonly (string | KeyElement)[]): Item =>
  Object.fromEntries(keys.map((key) => (typeof key === "string" ? key : key.AttributeName)).map((name) => [name, item[name]!]));

export function emptyOf(type: Type): AttributeValue {
  switch (type) {
    case "S": return { S: "" };
    case "N": return { N: "0" };
    case "B": return { B: "" };
    case "BOOL": return { BOOL: false };
    case "NULL": return { NULL: true };
    case "L": return { L: [] };
    case "M": return { M: {} };
    case "SS": return { SS: [""] };
    case "NS": return { NS: ["0"] };
    case "BS": return { BS: [""] };
  }
}

// Base64
export function fromBase64(text: string): Uint8Array {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
export function toBase64(bytes: Uint8Array): string {
  let binary = "";
  for (let i = 0; i < bytes.length; i += 0x8000) binary += String.fromCharCode(...bytes.subarray(i, i + 0x8000));
  return btoa(binary);
}
export const sizeOfBase64 = (text: string) => Math.floor((text.length * 3) / 4) - (text.endsWith("==") ? 2 : text.endsWith("=") ? 1 : 0);
export function hex(bytes: Uint8Array, from = 0, to = bytes.length): string {
  const lines: string[] = [];
  for (let row = from; row < Math.min(to, bytes.length); row += 16) {
    const part = bytes.subarray(row, Math.min(row + 16, to));
    const digits = Array.from(part, (byte) => byte.toString(16).padStart(2, "0"));
    const text = Array.from(part, (byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : "·")).join("");
    lines.push(`${row.toString(16).padStart(6, "0")}  ${digits.slice(0, 8).join(" ").padEnd(23)}  ${digits.slice(8).join(" ").padEnd(23)}  ${text}`);
  }
  return lines.join("\n");
}

const encoder = new TextEncoder();
export const bytesOf = (text: string) => encoder.encode(text).length;
// As the service counts it; a number takes about a byte for two digits.
export function sizeOf(value: AttributeValue): number {
  const number = (text: string) => Math.ceil(text.replace(/e.*$|[-.]|^-?0+|0+$/gi, "").length / 2) + 1 + (text.startsWith("-") ? 1 : 0);
  if ("S" in value) return bytesOf(value.S);
  if ("N" in value) return number(value.N);
  if ("B" in value) return sizeOfBase64(value.B);
  if ("SS" in value) return value.SS.reduce((sum, one) => sum + bytesOf(one), 0);
  if ("NS" in value) return value.NS.reduce((sum, one) => sum + number(one), 0);
  if ("BS" in value) return value.BS.reduce((sum, one) => sum + sizeOfBase64(one), 0);
  if ("L" in value) return 3 + value.L.reduce((sum, one) => sum + 1 + sizeOf(one), 0);
  if ("M" in value) return 3 + Object.entries(value.M).reduce((sum, [name, one]) => sum + 1 + bytesOf(name) + sizeOf(one), 0);
  return 1;
}
export const sizeOfItem = (item: Item) => Object.entries(item).reduce((sum, [name, value]) => sum + bytesOf(name) + sizeOf(value), 0);

// The value as JSON without types.  Binary is its base64; sets are lists.
export function plain(value: AttributeValue): Json {
  if ("S" in value) return value.S;
  if ("N" in value) return new Exact(value.N);
  if ("B" in value) return value.B;
  if ("BOOL" in value) return value.BOOL;
  if ("NULL" in value) return null;
  if ("L" in value) return value.L.map(plain);
  if ("M" in value) return plainItem(value.M);
  if ("SS" in value) return value.SS;
  if ("NS" in value) return value.NS.map((one) => new Exact(one));
  return value.BS;
}
export const plainItem = (item: Item): { [name: string]: Json } => Object.fromEntries(Object.entries(item).map(([name, value]) => [name, plain(value)]));
export const plainText = (item: Item, indent = 2) => print(plainItem(item), indent);
export const typedText = (item: Item, indent = 2) => JSON.stringify(item, null, indent);

// JSON without types as a value.  Where `like` was binary or a set and the JSON still fits, it stays so.
export function typed(json: Json, like?: AttributeValue): AttributeValue {
  if (like) {
    if ("B" in like && typeof json === "string" && isBase64(json)) return { B: json };
    if (Array.isArray(json) && json.length) {
      if ("SS" in like && json.every((one) => typeof one === "string")) return { SS: json as string[] };
      if ("NS" in like && json.every((one) => one instanceof Exact)) return { NS: (json as Exact[]).map((one) => one.text) };
      if ("BS" in like && json.every((one) => typeof one === "string" && isBase64(one))) return { BS: json as string[] };
    }
  }
  if (json === null) return { NULL: true };
  if (typeof json === "boolean") return { BOOL: json };
  if (typeof json === "string") return { S: json };
  if (json instanceof Exact) return { N: json.text };
  if (Array.isArray(json)) return { L: json.map((one, i) => typed(one, like && "L" in like ? like.L[i] : undefined)) };
  return { M: typedItem(json, like && "M" in like ? like.M : undefined) };
}
export const typedItem = (json: { [name: string]: Json }, like?: Item): Item =>
  Object.fromEntries(Object.entries(json).map(([name, value]) => [name, typed(value, like && Object.hasOwn(like, name) ? like[name] : undefined)]));
const isBase64 = (text: string) => text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);

// DynamoDB's JSON, checked: what is wrong is said with the name of the attribute.
export function readTyped(json: Json, where = "the value"): AttributeValue {
  const wrong = (why: string): never => {
    throw new Error(`${where}: ${why}`);
  };
  if (!isObject(json) || Object.keys(json).length !== 1) return wrong('a value is an object with one type, such as {"S": "text"}');
  const [type, content] = Object.entries(json)[0]! as [Type, Json];
  const text = (one: Json, what: string) => (typeof one === "string" ? one : one instanceof Exact && what === "number" ? one.text : wrong(`a ${what} is a text in quotes`));
  const list = (what: string) => (Array.isArray(content) ? content.map((one) => text(one, what)) : wrong(`${type} is a list`));
  switch (type) {
    case "S": return { S: text(content, "string") };
    case "N": return { N: text(content, "number") };
    case "B": return isBase64(text(content, "binary value")) ? { B: content as string } : wrong("a binary value is base64");
    case "BOOL": return typeof content === "boolean" ? { BOOL: content } : wrong("BOOL is true or false");
    case "NULL": return content === true ? { NULL: true } : wrong("NULL is true");
    case "L": return Array.isArray(content) ? { L: content.map((one, i) => readTyped(one, `${where}[${i}]`)) } : wrong("L is a list");
    case "M": return isObject(content) ? { M: readTypedItem(content, `${where}.`) } : wrong("M is an object");
    case "SS": return { SS: list("string") };
    case "NS": return { NS: list("number") };
    case "BS": return { BS: list("binary value") };
    default: return wrong(`${JSON.stringify(type)} is no type; there are ${types.join(", ")}`);
  }
}
export const readTypedItem = (json: { [name: string]: Json }, prefix = ""): Item =>
  Object.fromEntries(Object.entries(json).map(([name, value]) => [name, readTyped(value, prefix + name)]));
// Whether an object looks like an item in DynamoDB's JSON: every member is an object of one type.
export const looksTyped = (json: Json) =>
  isObject(json) && Object.keys(json).length > 0 && Object.values(json).every((one) => isObject(one) && Object.keys(one).length === 1 && types.includes(Object.keys(one)[0] as Type));

export function readItem(text: string, like?: Item): Item {
  const json = parse(text);
  if (!isObject(json)) throw new Error("An item is an object: {…}");
  return looksTyped(json) ? readTypedItem(json) : typedItem(json, like);
}

// One line, cut: what a cell of a table shows.
export function short(value: AttributeValue, limit = 160): string {
  if ("S" in value) return value.S.slice(0, limit);
  if ("N" in value) return value.N;
  if ("B" in value) return `${sizeOfBase64(value.B)} bytes`;
  if ("BOOL" in value) return String(value.BOOL);
  if ("NULL" in value) return "null";
  let text = "";
  const add = (one: AttributeValue) => {
    if (text.length > limit) return;
    if ("M" in one) {
      text += "{";
      Object.entries(one.M).forEach(([name, inner], i) => {
        if (text.length > limit) return;
        text += `${i ? ", " : ""}${name}: `;
        add(inner);
      });
      text += "}";
    } else if ("L" in one) {
      text += "[";
      one.L.forEach((inner, i) => {
        if (text.length > limit) return;
        text += i ? ", " : "";
        add(inner);
      });
      text += "]";
    } else if ("SS" in one || "NS" in one || "BS" in one) {
      const all = inside(one) as string[];
      text += `{${all.slice(0, 50).map((inner) => ("BS" in one ? `${sizeOfBase64(inner)} bytes` : inner.slice(0, limit))).join(", ")}}`;
    } else text += short(one, limit);
  };
  add(value);
  return text.slice(0, limit);
}

const canonical = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, one]) => [name, ["SS", "NS", "BS"].includes(name) && Array.isArray(one) ? [...one].sort() : canonical(one)]));
};
export const same = (a: unknown, b: unknown) => JSON.stringify(canonical(a)) === JSON.stringify(canonical(b));

// Items as CSV: a column for each attribute.  Texts that look like something else are typed JSON in their cell.
export function csv(items: Item[], columns?: string[]): string {
  const names = columns ?? [...new Set(items.flatMap((item) => Object.keys(item)))];
  const lines = items.map((item) => names.map((name) => (Object.hasOwn(item, name) ? csvField(csvValue(item[name]!)) : "")).join(","));
  return [names.map(csvField).join(","), ...lines].join("\r\n") + "\r\n";
}
function csvValue(value: AttributeValue): string {
  if ("S" in value) return readsAsText(value.S) ? value.S : JSON.stringify(value);
  if ("N" in value) return value.N;
  if ("BOOL" in value) return String(value.BOOL);
  return JSON.stringify(value);
}
const readsAsText = (text: string) => text !== "" && !/^(true|false|\{.*\}|-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?)$/s.test(text);
const csvField = (text: string) => (/[",\r\n]|^\s|\s$|^$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
export function fromCsvValue(text: string): AttributeValue {
  if (text === "true" || text === "false") return { BOOL: text === "true" };
  if (/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(text)) return { N: text };
  if (text.startsWith("{") && text.endsWith("}")) {
    try {
      const json = parse(text);
      if (isObject(json) && Object.keys(json).length === 1) return readTyped(json);
    } catch {
      return { S: text };
    }
  }
  return { S: text };
}
// Rows of CSV with the line where each begins.
export function* readCsv(text: string): Generator<{ line: number; fields: { text: string; quoted: boolean }[] }> {
  let at = 0;
  let line = 1;
  while (at < text.length) {
    const start = line;
    const fields: { text: string; quoted: boolean }[] = [];
    for (;;) {
      let field = "";
      const quoted = text[at] === '"';
      if (quoted) {
        at++;
        for (;;) {
          const end = text.indexOf('"', at);
          if (end < 0) throw new Error(`Line ${start}: a quoted field has no end`);
          field += text.slice(at, end);
          at = end + 1;
          if (text[at] !== '"') break;
          field += '"';
          at++;
        }
        for (const letter of field) if (letter === "\n") line++;
      } else {
        const end = /[,\r\n]|$/g;
        end.lastIndex = at;
        const found = end.exec(text)!.index;
        field = text.slice(at, found);
        at = found;
      }
      fields.push({ text: field, quoted });
      if (text[at] !== ",") break;
      at++;
    }
    if (text[at] === "\r") at++;
    if (text[at] === "\n") at++;
    else if (at < text.length && text[at - 1] !== "\r") throw new Error(`Line ${start}: something follows a quoted field`);
    line++;
    if (fields.length > 1 || fields[0]!.text || fields[0]!.quoted) yield { line: start, fields };
  }
}

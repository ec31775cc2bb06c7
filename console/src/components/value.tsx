// Values of the database as text that cannot do anything: controls and marks of direction are shown, not obeyed.
import { useMemo, useState } from "preact/hooks";
import type { AttributeValue } from "../api/types";
import { bytes as formatBytes, count } from "../lib/format";
import { fromBase64, hex, inside, short, sizeOfBase64, typeNames, typeOf } from "../lib/values";
import { Button, CopyButton, download } from "./ui";

const unsafe = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
export function Safe({ text, lines = false }: { text: string; lines?: boolean }) {
  unsafe.lastIndex = 0;
  if (!unsafe.test(text) && (lines || !/[\n\r\t]/.test(text))) return <bdi>{text}</bdi>;
  const parts: (string | preact.JSX.Element)[] = [];
  let at = 0;
  const all = new RegExp(lines ? unsafe.source : `${unsafe.source}|[\\n\\r\\t]`, "g");
  for (const found of text.matchAll(all)) {
    if (found.index > at) parts.push(text.slice(at, found.index));
    const code = found[0].charCodeAt(0);
    const name = `U+${code.toString(16).toUpperCase().padStart(4, "0")}`;
    parts.push(<span class="control" title={name}>{code < 32 ? String.fromCharCode(0x2400 + code) : name.slice(2)}</span>);
    at = found.index + found[0].length;
  }
  parts.push(text.slice(at));
  return <bdi>{parts}</bdi>;
}

export const TypeMark = ({ type }: { type: string }) => <span class={`type type-${type}`} title={typeNames[type as keyof typeof typeNames]}>{type}</span>;

// One line in a cell.
export function Cell({ value }: { value: AttributeValue | undefined }) {
  if (!value) return null;
  const type = typeOf(value);
  if (type === "S" && (value as { S: string }).S === "") return <span class="muted">empty text</span>;
  return <span class={`clip value value-${type}`}><Safe text={short(value)} /></span>;
}

// All of it: texts with their lines, binary as hex or text, lists and maps as a tree.
export function Whole({ value, depth = 0 }: { value: AttributeValue; depth?: number }) {
  const type = typeOf(value);
  if ("S" in value) return <LongText text={value.S} />;
  if ("B" in value) return <Binary base64={value.B} />;
  if ("M" in value || "L" in value) {
    const entries: [string, AttributeValue][] = "M" in value ? Object.entries(value.M) : value.L.map((one, i) => [String(i), one]);
    if (!entries.length) return <span class="muted">{"M" in value ? "empty map" : "empty list"}</span>;
    return <Branch entries={entries} depth={depth} what={"M" in value ? "attribute" : "element"} />;
  }
  if ("SS" in value || "NS" in value || "BS" in value) {
    const all = inside(value) as string[];
    return <span class="set">{all.slice(0, 500).map((one, i) => <span class={`member value-${type[0]}`} key={i}>{"BS" in value ? <Binary base64={one} /> : <Safe text={one.slice(0, 2000)} />}</span>)}{all.length > 500 && <span class="muted">and {count(all.length - 500)} more</span>}</span>;
  }
  return <span class={`value value-${type}`}>{short(value)}</span>;
}

function Branch({ entries, depth, what }: { entries: [string, AttributeValue][]; depth: number; what: string }) {
  const [open, setOpen] = useState(depth < 2 && entries.length <= 30);
  const [limit, setLimit] = useState(100);
  return (
    <div class="branch">
      <button type="button" class="twist" aria-expanded={open} onClick={() => setOpen(!open)}>{open ? "▾" : "▸"} {count(entries.length)} {what}{entries.length === 1 ? "" : "s"}</button>
      {open && (
        <dl class="tree">
          {entries.slice(0, limit).map(([name, one]) => (
            <div key={name}><dt><code><Safe text={name} /></code> <TypeMark type={typeOf(one)} /></dt><dd>{depth > 40 ? short(one) : <Whole value={one} depth={depth + 1} />}</dd></div>
          ))}
        </dl>
      )}
      {open && entries.length > limit && <Button kind="quiet" onClick={() => setLimit(limit + 500)}>Show more</Button>}
    </div>
  );
}

function LongText({ text }: { text: string }) {
  const [all, setAll] = useState(false);
  if (text === "") return <span class="muted">empty text</span>;
  const cut = !all && text.length > 2000;
  return (
    <span class="text value-S">
      <Safe text={cut ? text.slice(0, 2000) : text} lines />
      {cut && <span class="row"><Button kind="quiet" onClick={() => setAll(true)}>Show all {count(text.length)} characters</Button><CopyButton text={text} label="Copy the text" /></span>}
    </span>
  );
}

export function Binary({ base64 }: { base64: string }) {
  const [mode, setMode] = useState<"hex" | "text" | null>(null);
  const [limit, setLimit] = useState(1024);
  const size = sizeOfBase64(base64);
  const shown = useMemo(() => {
    if (!mode) return "";
    const bytes = fromBase64(base64);
    return mode === "hex" ? hex(bytes, 0, limit) : new TextDecoder().decode(bytes.subarray(0, limit));
  }, [mode, base64, limit]);
  return (
    <span class="binary">
      <span class="row">
        <span class="value-B">{formatBytes(size)}</span>
        <span class="segmented" role="group" aria-label="Show the binary value as">
          <button type="button" aria-pressed={mode === "hex"} onClick={() => setMode(mode === "hex" ? null : "hex")}>Hex</button>
          <button type="button" aria-pressed={mode === "text"} onClick={() => setMode(mode === "text" ? null : "text")}>Text</button>
        </span>
        <Button kind="quiet" icon="download" label="Download the binary value" onClick={() => download("value.bin", fromBase64(base64) as BlobPart, "application/octet-stream")} />
        <CopyButton text={base64} label="Copy as base64" />
      </span>
      {mode && <pre class="hex" tabIndex={0}>{mode === "hex" ? shown : <Safe text={shown} lines />}</pre>}
      {mode && size > limit && <Button kind="quiet" onClick={() => setLimit(limit * 16)}>Show more</Button>}
    </span>
  );
}

// An item as fields with types.
import { useRef } from "preact/hooks";
import type { AttributeValue, Item, KeyElement, Type } from "../../api/types";
import { Button, Select, Text } from "../../components/ui";
import { parse } from "../../lib/json";
import { emptyOf, inside, readTyped, sizeOfBase64, toBase64, typeNames, typeOf, types } from "../../lib/values";

// A field keeps its text while it is wrong, so that nothing that was typed is lost.
export interface FieldState {
  id: number;
  name: string;
  type: Type;
  text: string;
  error?: string;
}
let last = 0;
const textOf = (value: AttributeValue): string => {
  if ("L" in value || "M" in value) {
    const line = JSON.stringify(inside(value));
    return line.length <= 80 ? line : JSON.stringify(inside(value), null, 2);
  }
  if ("SS" in value || "NS" in value || "BS" in value) return (inside(value) as string[]).join("\n");
  return "NULL" in value ? "" : String(inside(value));
};
export const fieldsOf = (item: Item, keys: KeyElement[]): FieldState[] => {
  const first = keys.map((key) => key.AttributeName);
  const names = [...first.filter((name) => Object.hasOwn(item, name)), ...Object.keys(item).filter((name) => !first.includes(name)).sort()];
  return names.map((name) => ({ id: ++last, name, type: typeOf(item[name]!), text: textOf(item[name]!) }));
};
export const newField = (): FieldState => ({ id: ++last, name: "", type: "S", text: "" });

function valueOf(field: FieldState): AttributeValue {
  const lines = () => field.text.split("\n").filter((line, i, all) => line !== "" || (all.length > 1 && i < all.length - 1));
  switch (field.type) {
    case "S": return { S: field.text };
    case "N": return { N: number(field.text) };
    case "B": return readTyped({ B: field.text.trim() }, field.name);
    case "BOOL": return { BOOL: field.text === "true" };
    case "NULL": return { NULL: true };
    case "SS": return { SS: lines() };
    case "NS": return { NS: lines().map(number) };
    case "BS": return readTyped({ BS: lines() }, field.name);
    default: return readTyped({ [field.type]: parse(field.text || (field.type === "L" ? "[]" : "{}")) }, field.name);
  }
}
function number(text: string): string {
  if (!/^\s*[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?\s*$/.test(text)) throw new Error(`${JSON.stringify(text.slice(0, 40))} is no number`);
  return text.trim();
}
// The item, or the fields with what is wrong in them.
export function itemOf(fields: FieldState[]): { item: Item } | { fields: FieldState[] } {
  const found = new Map<string, AttributeValue>();
  let wrong = false;
  const checked = fields.map((field): FieldState => {
    const { error: _, ...rest } = field;
    try {
      if (!field.name) throw new Error("The attribute has no name.");
      if (found.has(field.name)) throw new Error("Another attribute has this name.");
      found.set(field.name, valueOf(field));
      return rest;
    } catch (problem) {
      wrong = true;
      return { ...rest, error: problem instanceof Error ? problem.message : String(problem) };
    }
  });
  return wrong ? { fields: checked } : { item: Object.fromEntries(found) };
}

export function Fields({ fields, onFields, locked, keys }: { fields: FieldState[]; onFields: (fields: FieldState[]) => void; locked: boolean; keys: string[] }) {
  const set = (i: number, part: Partial<FieldState>) => onFields(fields.with(i, { ...fields[i]!, ...part }));
  return (
    <div class="fields">
      {fields.map((field, i) => {
        const isKey = keys.includes(field.name);
        const fixed = isKey && locked;
        return (
          <div class={`edit-row ${field.error ? "wrong" : ""}`} key={field.id}>
            <Text aria-label="Name of the attribute" class="mono" value={field.name} disabled={fixed} onValue={(name) => set(i, { name })} />
            <Select aria-label={`Type of ${field.name}`} value={field.type} disabled={fixed} options={types.map((value) => ({ value, text: typeNames[value] }))} onValue={(type) => set(i, { type, text: convert(field, type) })} />
            <ValueField field={field} disabled={fixed} onText={(text) => set(i, { text })} />
            {fixed ? <span class="key-mark" title="Part of the key: it does not change">key</span> : <Button kind="quiet" icon="trash" label={`Remove ${field.name || "the attribute"}`} onClick={() => onFields(fields.filter((_, other) => other !== i))} />}
            {field.error && <p class="field-error" role="alert">{field.error}</p>}
          </div>
        );
      })}
      <div><Button icon="plus" onClick={() => onFields([...fields, newField()])}>Add an attribute</Button></div>
    </div>
  );
}
// Text stays when the type changes, where it still can be one.
function convert(field: FieldState, type: Type): string {
  if (type === "BOOL") return String(field.text === "true");
  if ((type === "L" || type === "M") && field.type !== type) return textOf(emptyOf(type));
  return field.text;
}

function ValueField({ field, disabled, onText }: { field: FieldState; disabled: boolean; onText: (text: string) => void }) {
  const file = useRef<HTMLInputElement>(null);
  const label = `Value of ${field.name || "the attribute"}`;
  switch (field.type) {
    case "BOOL": return <Select aria-label={label} value={field.text === "true" ? "true" : "false"} options={["true", "false"]} onValue={onText} disabled={disabled} />;
    case "NULL": return <span class="muted">null</span>;
    case "N": return <Text aria-label={label} class="mono" inputMode="decimal" value={field.text} disabled={disabled} onValue={onText} />;
    case "B": return (
      <span class="stack tight-stack">
        <textarea aria-label={`${label}, base64`} rows={2} disabled={disabled} value={field.text} spellcheck={false} onInput={(event) => onText(event.currentTarget.value)} />
        <span class="row"><span class="hint">base64, {sizeOfBase64(field.text)} bytes</span><Button kind="quiet" icon="upload" disabled={disabled} onClick={() => file.current!.click()}>From a file</Button></span>
        <input ref={file} type="file" hidden onChange={(event) => {
          const chosen = event.currentTarget.files?.[0];
          if (chosen) void chosen.arrayBuffer().then((buffer) => onText(toBase64(new Uint8Array(buffer))));
        }} />
      </span>
    );
    default: {
      const lines = field.text.split("\n").length;
      return <textarea aria-label={label} rows={Math.min(12, Math.max(1, lines, Math.ceil(field.text.length / 60)))} disabled={disabled} value={field.text} spellcheck={false}
        placeholder={field.type === "SS" || field.type === "NS" || field.type === "BS" ? "one in each line" : field.type === "S" ? "empty text" : "typed JSON"} onInput={(event) => onText(event.currentTarget.value)} />;
    }
  }
}

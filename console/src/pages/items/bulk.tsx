// Work on many items: export, copy, update, delete.  First it says what it would do; then it does it, and can be stopped.
import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, call, isAbort, messageOf } from "../../api/client";
import type { Item, TableDescription } from "../../api/types";
import { Dialog } from "../../components/dialog";
import { Button, Code, download, Field, Notice, Select, Text } from "../../components/ui";
import { writeAll } from "../../lib/batch";
import { type Request, targetOf } from "../../lib/expressions";
import { count, each, plural } from "../../lib/format";
import { csv, keyOf, plainText } from "../../lib/values";
import { tableNames } from "../../state";
import { Diff } from "./diff";
import { pages, wholeItems } from "./rows";

export type BulkAction = "export" | "copy" | "update" | "delete";
interface Props {
  action: BulkAction;
  table: TableDescription;
  selected: Item[];
  loaded: number;
  request: { operation: "Query" | "Scan"; request: Request };
  onClose: (changed: boolean) => void;
}
const titles: Record<BulkAction, string> = { export: "Export items", copy: "Copy items to a table", update: "Update items", delete: "Delete items" };

export function BulkDialog({ action, table, selected, request, onClose }: Props) {
  const name = table.TableName;
  const keys = table.KeySchema.map((key) => key.AttributeName);
  const [scope, setScope] = useState<"selected" | "all">(selected.length ? "selected" : "all");
  const [format, setFormat] = useState<"json" | "lines" | "typed" | "csv">("json");
  const [to, setTo] = useState("");
  const [expression, setExpression] = useState("SET #reviewed = :yes");
  const [names, setNames] = useState('{"#reviewed": "reviewed"}');
  const [values, setValues] = useState('{":yes": {"BOOL": true}}');
  const [typedCount, setTypedCount] = useState("");
  const [progress, setProgress] = useState<{ done: number; failed: number; ended: boolean } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [failures, setFailures] = useState<string[]>([]);
  const [preview, setPreview] = useState<{ before: Item; after: Item }[] | null>(null);
  const [matching, setMatching] = useState<number | null>(null);
  const stop = useRef(new AbortController());
  const changed = useRef(false);
  useEffect(() => () => stop.current.abort(), []);

  const partial = request.request.ProjectionExpression !== undefined || (targetOf(table, request.request.IndexName ?? "").index?.Projection?.ProjectionType ?? "ALL") !== "ALL";
  // The items, in portions.  For all but an export they are whole, or only their keys are needed.
  async function* portions(whole: boolean): AsyncGenerator<Item[]> {
    const source = scope === "selected" ? [selected] : pages(request.operation, request.request, stop.current.signal);
    for await (const part of source) yield whole && partial ? await wholeItems(name, part.map((item) => keyOf(item, keys)), stop.current.signal) : part;
  }
  const counted = async () => {
    let n = 0;
    for await (const part of portions(false)) setMatching((n += part.length));
    return n;
  };
  const work = async (each: (part: Item[], progressed: (n: number) => void) => Promise<void>, whole: boolean) => {
    let done = 0;
    setProgress({ done, failed: 0, ended: false });
    for await (const part of portions(whole)) await each(part, (n) => setProgress({ done: (done += n), failed: 0, ended: false }));
    return done;
  };
  const placeholders = () => {
    const parsed = (text: string, what: string) => {
      if (!text.trim()) return undefined;
      try {
        return JSON.parse(text) as object;
      } catch (problem) {
        throw new Error(`${what}: ${messageOf(problem)}`);
      }
    };
    const ExpressionAttributeNames = parsed(names, "Names");
    const ExpressionAttributeValues = parsed(values, "Values");
    return { UpdateExpression: expression, ...(ExpressionAttributeNames && Object.keys(ExpressionAttributeNames).length ? { ExpressionAttributeNames } : {}), ...(ExpressionAttributeValues && Object.keys(ExpressionAttributeValues).length ? { ExpressionAttributeValues } : {}) };
  };
  const attempt = async (doing: () => Promise<void>) => {
    setError(null);
    stop.current = new AbortController();
    try {
      await doing();
    } catch (problem) {
      setError(isAbort(problem) ? "Stopped. What was done until then stays." : messageOf(problem));
    }
    setProgress((old) => old && { ...old, ended: true });
  };

  const run = () => attempt(async () => {
    if (action === "export") {
      const parts: string[] = [];
      const all: Item[] = []; // for CSV, whose columns are known at the end
      await work(async (part, progressed) => {
        for (const item of part) {
          if (format === "csv") all.push(item);
          else if (format === "lines") parts.push(`${plainText(item, 0)}\n`);
          else parts.push(`${parts.length ? ",\n" : "["}${format === "json" ? plainText(item) : JSON.stringify(item)}`);
        }
        progressed(part.length);
      }, false);
      if (format === "csv") parts.push(csv(all));
      else if (format !== "lines") parts.push(parts.length ? "]\n" : "[]\n");
      download(`${name}.${format === "csv" ? "csv" : format === "lines" ? "jsonl" : "json"}`, parts, format === "csv" ? "text/csv" : "application/json");
    } else if (action === "copy") {
      await work((part, progressed) => writeAll(to, part.map((Item) => ({ PutRequest: { Item } })), progressed, stop.current.signal), true);
    } else if (action === "delete") {
      changed.current = true;
      await work((part, progressed) => writeAll(name, part.map((item) => ({ DeleteRequest: { Key: keyOf(item, keys) } })), progressed, stop.current.signal), false);
    } else {
      const update = placeholders();
      changed.current = true;
      await work(async (part, progressed) => {
        await each(part, 4, async (item) => {
          stop.current.signal.throwIfAborted();
          const Key = keyOf(item, keys);
          try {
            await call("UpdateItem", { TableName: name, Key, ...update, ConditionExpression: "attribute_exists(#k_e_y)", ExpressionAttributeNames: { ...update.ExpressionAttributeNames, "#k_e_y": keys[0]! } }, stop.current.signal);
          } catch (problem) {
            if (!(problem instanceof ApiError) || problem.status === 0) throw problem;
            setFailures((old) => (old.length < 100 ? [...old, `${JSON.stringify(Key)}: ${problem.message}`] : old));
            setProgress((old) => old && { ...old, failed: old.failed + 1 });
          }
          progressed(1);
        });
      }, false);
    }
  });

  // What an update would do to the first few items.
  const look = () => attempt(async () => {
    const update = placeholders();
    const some: Item[] = [];
    for await (const part of portions(true)) {
      some.push(...part.slice(0, 5 - some.length));
      if (some.length >= 5) break;
    }
    setPreview(await tryOnCopies(table, some, update, stop.current.signal));
  });

  const how = action === "delete" ? "Delete" : action === "copy" ? "Copy" : action === "update" ? "Update" : "Export";
  const needsCount = action === "delete" && scope === "all";
  const ready = !progress && (action !== "copy" || to) && (!needsCount || (matching !== null && typedCount === String(matching)));
  return (
    <Dialog title={titles[action]} onClose={() => onClose(changed.current)} actions={progress?.ended ? <Button kind="primary" onClick={() => onClose(changed.current)}>Done</Button> : progress ? <Button icon="stop" onClick={() => stop.current.abort()}>Stop</Button> : <>
      <Button onClick={() => onClose(false)}>Cancel</Button>
      {action === "update" && <Button icon="eye" onClick={() => void look()}>Preview</Button>}
      <Button kind={action === "delete" ? "danger" : "primary"} disabled={!ready} onClick={() => void run()}>{how}</Button>
    </>}>
      <Field label="Which items">{(id) => <Select id={id} value={scope} disabled={progress !== null} onValue={(value) => { setScope(value); setMatching(null); }} options={[
        { value: "selected", text: `The ${count(selected.length)} selected`, disabled: !selected.length }, { value: "all", text: `All that match the ${request.operation === "Query" ? "query" : request.request.FilterExpression ? "filter" : "scan: the whole table or index"}` }]} />}</Field>
      {action === "export" && <Field label="Format">{(id) => <Select id={id} value={format} onValue={setFormat} options={[{ value: "json", text: "JSON" }, { value: "lines", text: "JSON, one item per line" }, { value: "typed", text: "Typed JSON: DynamoDB's types, nothing is lost" }, { value: "csv", text: "CSV" }]} />}</Field>}
      {action === "export" && (format === "json" || format === "lines") && <p class="hint">JSON has no sets and no binary: sets become lists, binary becomes base64. Typed JSON keeps both.</p>}
      {action === "copy" && <Field label="To the table">{(id) => <Select id={id} value={to} onValue={setTo} options={[{ value: "", text: "Choose a table" }, ...(tableNames.value ?? []).filter((one) => one !== name)]} />}</Field>}
      {action === "copy" && <p class="hint">Items with the same key in that table are replaced.</p>}
      {action === "update" && (
        <>
          <Field label="Update expression" hint="SET, REMOVE, ADD and DELETE, as UpdateItem has them">{(id) => <Text id={id} class="mono" value={expression} onValue={setExpression} data-first />}</Field>
          <div class="form">
            <Field label="Names">{(id) => <Text id={id} class="mono" value={names} onValue={setNames} />}</Field>
            <Field label="Values">{(id) => <Text id={id} class="mono" value={values} onValue={setValues} />}</Field>
          </div>
        </>
      )}
      {action === "delete" && scope === "selected" && <p>{plural(selected.length, "item")} will be deleted. This cannot be undone.</p>}
      {needsCount && !progress && (matching === null || typedCount === "" || !ready) && (
        <div class="stack">
          <div class="row"><Button onClick={() => void attempt(async () => void (await counted()))}>Count them</Button>{matching !== null && <strong>{plural(matching, "item")}</strong>}</div>
          {matching !== null && <Field label={`Type ${matching} to delete them`}>{(id) => <Text id={id} value={typedCount} onValue={setTypedCount} />}</Field>}
        </div>
      )}
      {preview && (
        <section class="stack" aria-label="Preview">
          <h3>Preview of the first {preview.length}, made with copies in a table that is deleted again; nothing is changed yet</h3>
          {preview.map((one, i) => <div class="card" key={i}><code class="clip">{JSON.stringify(keyOf(one.before, keys))}</code><Diff before={one.before} after={one.after} /></div>)}
          {!preview.length && <p class="muted">There is no item to update.</p>}
        </section>
      )}
      {progress && <Notice tone={progress.ended ? (progress.failed || error ? "warn" : "good") : "info"}>{count(progress.done - progress.failed)} items {action === "export" ? "exported" : action === "copy" ? "copied" : action === "delete" ? "deleted" : "updated"}{progress.failed ? `, ${count(progress.failed)} refused` : ""}{progress.ended ? "." : "…"}</Notice>}
      {failures.length > 0 && <Code label="Refused items" text={failures.join("\n")} />}
      {error && <Notice tone="bad">{error}</Notice>}
    </Dialog>
  );
}

// Runs an update on copies of items in a table that exists only for that.
async function tryOnCopies(table: TableDescription, items: Item[], update: object, stop: AbortSignal): Promise<{ before: Item; after: Item }[]> {
  if (!items.length) return [];
  const TableName = `${table.TableName.slice(0, 200)}.preview-${Math.random().toString(36).slice(2, 10)}`;
  const keys = new Set(table.KeySchema.map((key) => key.AttributeName));
  await call("CreateTable", { TableName, KeySchema: table.KeySchema, AttributeDefinitions: table.AttributeDefinitions.filter((one) => keys.has(one.AttributeName)), BillingMode: "PAY_PER_REQUEST" }, stop);
  try {
    for (let tries = 0; tries < 100; tries++) {
      const { Table } = await call<{ Table: TableDescription }>("DescribeTable", { TableName }, stop);
      if (Table.TableStatus === "ACTIVE") break;
      await new Promise((done) => setTimeout(done, 100));
    }
    const results = [];
    for (const before of items) {
      await call("PutItem", { TableName, Item: before }, stop);
      const answer = await call<{ Attributes?: Item }>("UpdateItem", { TableName, Key: keyOf(before, [...keys]), ...update, ReturnValues: "ALL_NEW" }, stop);
      results.push({ before, after: answer.Attributes ?? {} });
    }
    return results;
  } finally {
    await call("DeleteTable", { TableName }).catch(() => {});
  }
}

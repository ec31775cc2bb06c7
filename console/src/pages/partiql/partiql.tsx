import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { ApiError, call, isAbort, messageOf } from "../../api/client";
import type { Item, StatementAnswer, TableDescription } from "../../api/types";
import type { CompletionSource } from "../../components/codemirror";
import { Editor } from "../../components/editor";
import { type Column, Grid } from "../../components/grid";
import { SavedDialog } from "../../components/saved";
import { ResultItem } from "../../components/transposed";
import { Button, copyText, Empty, Menu, Notice, Page, Spinner } from "../../components/ui";
import { Cell, Safe } from "../../components/value";
import { count, plural, units } from "../../lib/format";
import { canSave, remember } from "../../lib/saved";
import { csv, plainText } from "../../lib/values";
import { query, setQuery } from "../../router";
import { kept, keep, tableNames, useTitle } from "../../state";
import { addCapacity } from "../items/rows";
import { RequestAsCode } from "../items/search_bar";

interface Result {
  items: Item[];
  next?: string;
  millis: number;
  capacity: Map<string, number>;
  wrote: boolean;
  error?: string;
}
const descriptions = new Map<string, Promise<TableDescription>>();
const seenAttributes = new Set<string>();
function describe(table: string): Promise<TableDescription | null> {
  const known = descriptions.get(table) ?? call<{ Table: TableDescription }>("DescribeTable", { TableName: table }).then((one) => one.Table);
  descriptions.set(table, known);
  return known.catch(() => {
    descriptions.delete(table); // it may be created later
    return null;
  });
}

// FROM "Table"."Index", with quotes or without.
const fromClause = /\bfrom\s+(?:"([^"]+)"|([\w-]+))(?:\.(?:"([^"]+)"|([\w-]+)))?/i;
// Why a SELECT reads more than a partition; null: it does not, or nobody knows.
async function warningOf(text: string): Promise<string | null> {
  const statement = text.replace(/'(?:[^']|'')*'/g, "''"); // what a text contains is no condition
  const from = /^\s*select\b/i.test(statement) ? fromClause.exec(statement) : null;
  const name = from?.[1] ?? from?.[2];
  if (!name || !tableNames.peek()?.includes(name)) return null;
  const table = await describe(name);
  const indexName = from?.[3] ?? from?.[4];
  const index = indexName && [...(table?.GlobalSecondaryIndexes ?? []), ...(table?.LocalSecondaryIndexes ?? [])].find((one) => one.IndexName === indexName);
  const keys = (index || table)?.KeySchema.filter((one) => one.KeyType === "HASH").map((one) => one.AttributeName) ?? [];
  const where = /\bwhere\b([^]*)$/i.exec(statement)?.[1] ?? "";
  const has = (key: string) => new RegExp(`(^|[^\\w"])"?${key.replace(/[^\w]/g, "\\$&")}"?\\s*(=|[iI][nN]\\b)`).test(where);
  if (keys.every(has)) return null;
  return `Without ${keys.join(" and ")} in WHERE, this reads the whole ${index ? "index" : "table"}.`;
}

// Completes names of tables and indexes after FROM, INTO and UPDATE, and names of attributes elsewhere.
const complete: CompletionSource = async (context) => {
  const word = context.matchBefore(/["\w.$-]*/);
  if (!word || (word.from === word.to && !context.explicit)) return null;
  const before = context.state.sliceDoc(Math.max(0, word.from - 200), word.from);
  if (/\b(from|into|update|join)\s+$/i.test(before) || word.text.startsWith('"')) {
    const names = tableNames.peek() ?? [];
    const table = /^"([^"]+)"\./.exec(word.text)?.[1];
    if (table && names.includes(table)) {
      const described = await describe(table);
      const indexes = [...(described?.GlobalSecondaryIndexes ?? []), ...(described?.LocalSecondaryIndexes ?? [])];
      return { from: word.from, options: indexes.map((index) => ({ label: `"${table}"."${index.IndexName}"`, type: "class", detail: "index" })) };
    }
    return { from: word.from, options: names.map((name) => ({ label: `"${name}"`, type: "class", detail: "table", boost: name.includes(".") ? -1 : 0 })) };
  }
  const text = context.state.doc.toString();
  const attributes = new Set(seenAttributes);
  for (const name of tableNames.peek() ?? []) {
    if (!text.includes(name)) continue;
    const table = await describe(name);
    for (const one of table?.AttributeDefinitions ?? []) attributes.add(one.AttributeName);
  }
  return { from: word.from, options: [...attributes].slice(0, 500).map((name) => ({ label: /^[A-Za-z_]\w*$/.test(name) ? name : `"${name}"`, type: "property", detail: "attribute" })), validFor: /^["\w.$-]*$/ };
};

export function PartiqlPage() {
  useTitle("PartiQL");
  const fromUrl = query.value.get("q");
  const [text, setText] = useState(() => fromUrl ?? kept("partiql", ""));
  const [result, setResult] = useState<Result | null>(null);
  const [running, setRunning] = useState(false);
  const [dialog, setDialog] = useState<"saved" | "code" | null>(null);
  const [open, setOpen] = useState<number | null>(null);
  const stop = useRef(new AbortController());
  const statement = text.trim().replace(/;\s*$/, "");

  const [warning, setWarning] = useState<string | null>(null);
  useEffect(() => {
    let current = true;
    void warningOf(statement).then((text) => current && setWarning(text));
    return () => {
      current = false;
    };
  }, [statement, tableNames.value]);

  const run = async (more = false) => {
    if (!statement || running) return;
    if (!more) {
      setQuery({ q: text });
      keep("partiql", text);
      remember({ kind: "partiql", name: statement.replace(/\s+/g, " ").slice(0, 200), body: { text } });
    }
    stop.current = new AbortController();
    setRunning(true);
    setOpen(null);
    const before = more && result ? result : { items: [], millis: 0, capacity: new Map<string, number>(), wrote: false };
    const started = performance.now();
    try {
      const answer: StatementAnswer = await call("ExecuteStatement", { Statement: statement, ReturnConsumedCapacity: "INDEXES", ...(/^\s*select/i.test(statement) ? { Limit: 300 } : {}), ...(more && result?.next ? { NextToken: result.next } : {}) }, stop.current.signal);
      const capacity = new Map(before.capacity);
      addCapacity(capacity, answer.ConsumedCapacity);
      for (const item of answer.Items ?? []) for (const name of Object.keys(item)) if (seenAttributes.size < 2000) seenAttributes.add(name);
      setResult({ items: [...before.items, ...(answer.Items ?? [])], ...(answer.NextToken ? { next: answer.NextToken } : {}), millis: before.millis + performance.now() - started, capacity, wrote: !/^\s*select/i.test(statement) });
    } catch (problem) {
      setResult({ ...before, error: isAbort(problem) ? "Stopped." : problem instanceof ApiError ? problem.message : messageOf(problem) });
    }
    setRunning(false);
  };

  // An address with a statement that only reads shows its result.
  useEffect(() => {
    if (fromUrl && /^\s*select/i.test(fromUrl)) void run();
  }, []);

  const names = useMemo(() => {
    const all = new Map<string, number>();
    for (const item of result?.items.slice(0, 2000) ?? []) for (const name of Object.keys(item)) all.set(name, (all.get(name) ?? 0) + 1);
    return [...all].sort((a, b) => b[1] - a[1]).map(([name]) => name).slice(0, 80);
  }, [result]);
  const columns: Column[] = names.map((name) => ({ id: name, title: <span class="clip mono"><Safe text={name.slice(0, 80)} /></span>, width: 190 }));
  const total = [...(result?.capacity.values() ?? [])].reduce((a, b) => a + b, 0);
  const first = tableNames.value?.find((name) => !name.endsWith(".consistency")) ?? "Table";
  return (
    <Page title="PartiQL" fill actions={<>
      {running ? <Button icon="stop" onClick={() => stop.current.abort()}>Stop</Button> : <Button kind="primary" icon="play" disabled={!statement} title="Ctrl Enter" onClick={() => void run()}>Run</Button>}
      <Button icon="code" label="As request, command and code" disabled={!statement} onClick={() => setDialog("code")} />
      {canSave() && <Button icon="clock" label="Saved and recent statements" onClick={() => setDialog("saved")} />}
    </>}>
      <Editor language="partiql" label="PartiQL statement" height="148px" value={text} onValue={setText} onRun={() => void run()} complete={complete} />
      <p class="hint">{warning ? <span class="warn-text">{warning}</span> : "One statement: SELECT, INSERT, UPDATE or DELETE. Ctrl Enter runs it."}</p>
      {result?.error && <Notice tone="bad">{result.error}</Notice>}
      {!result ? (
        <Empty icon="code" title="Ask in PartiQL" actions={<>
          <Button onClick={() => setText(`SELECT * FROM "${first}"`)}>All items</Button>
          <Button onClick={() => setText(`SELECT * FROM "${first}" WHERE "PK" = 'owner#ADA' AND begins_with("SK", 'library')`)}>One partition</Button>
          <Button onClick={() => setText(`UPDATE "${first}" SET "note" = 'seen' WHERE "PK" = '…' AND "SK" = '…'`)}>Change an item</Button>
        </>}>Names in double quotes, texts in single quotes. With the partition key in WHERE it is a query, without it a scan.</Empty>
      ) : result.items.length ? (
        <Grid label="Result" columns={columns} count={result.items.length} onOpen={setOpen} cell={(i, column) => <Cell value={result.items[i]![column.id]} />} onEnd={() => result.next && !running && void run(true)} />
      ) : !result.error && <Empty icon={result.wrote ? "items" : "search"} title={result.wrote ? "Done" : "Nothing matches"}>{result.wrote ? "The statement has changed the table." : "No item satisfies the statement."}</Empty>}
      {result && (
        <footer class="status" aria-live="polite">
          {running && <Spinner text="Running" />}
          <span data-status="rows"><b>{count(result.items.length)}</b> {result.items.length === 1 ? "item" : "items"}{result.next ? " so far" : ""}</span><span><b>{units(total)}</b> units</span><span class="muted">{Math.round(result.millis)} ms</span><span class="grow" />
          {result.items.length > 0 && <Menu label="Copy the result" text="Copy as" icon="copy" entries={[
            { text: "JSON", run: () => void copyText(`[${result.items.map((one) => plainText(one)).join(",\n")}]`, `${plural(result.items.length, "item")} copied`) },
            { text: "Typed JSON", run: () => void copyText(JSON.stringify(result.items, null, 2)) }, { text: "CSV", run: () => void copyText(csv(result.items)) },
          ]} />}
        </footer>
      )}
      {open !== null && result?.items[open] && <ResultItem item={result.items[open]!} onClose={() => setOpen(null)} />}
      {dialog === "saved" && <SavedDialog kind="partiql" current={{ text }} suggested={statement.replace(/\s+/g, " ").slice(0, 80)} onClose={() => setDialog(null)} onPick={(entry) => { setText((entry.body as { text: string }).text); setDialog(null); }} />}
      {dialog === "code" && <RequestAsCode operation="ExecuteStatement" request={{ Statement: statement }} onClose={() => setDialog(null)} />}
    </Page>
  );
}

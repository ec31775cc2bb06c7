import { useEffect, useRef, useState } from "preact/hooks";
import { ApiError, call, describeTable, isAbort, messageOf } from "../../api/client";
import type { Item, TableDescription } from "../../api/types";
import { Button, Check, Field, Notice, Select, Spinner } from "../../components/ui";
import { Cell, Safe } from "../../components/value";
import { each, count, plural } from "../../lib/format";
import { type Format, guess, read, type Row } from "../../lib/importing";
import { tableUrl } from "../../router";
import { readOnly, useLoad, useTitle } from "../../state";
import { TablePage } from "../table_nav";

export function ImportPage({ table: name }: { table: string }) {
  useTitle(`${name}: import`);
  const loaded = useLoad((stop) => describeTable(name, stop), [name]);
  return <TablePage table={name}>{loaded.error && <Notice tone="bad">{loaded.error}</Notice>}{loaded.data ? <Import table={loaded.data} /> : !loaded.error && <Spinner />}</TablePage>;
}

function Import({ table }: { table: TableDescription }) {
  const [source, setSource] = useState<{ name: string; text: string }>({ name: "", text: "" });
  const [format, setFormat] = useState<Format>("json");
  const [replace, setReplace] = useState(false);
  const [rows, setRows] = useState<Row[] | null>(null);
  const [progress, setProgress] = useState<{ done: number; skipped: number; state: "running" | "done" | "stopped" } | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [over, setOver] = useState(false);
  const file = useRef<HTMLInputElement>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const keys = table.KeySchema.map((key) => key.AttributeName);

  const take = (name: string, text: string) => {
    setSource({ name, text });
    setFormat(guess(name, text));
    setRows(null);
    setProgress(null);
    setError(null);
  };
  const takeFile = async (chosen: File | undefined | null) => {
    if (!chosen) return;
    if (chosen.size > 256 * 1024 * 1024) setError("The file has more than 256 MB. Import it in parts, or with a program.");
    else take(chosen.name, await chosen.text());
  };
  const check = () => {
    setProgress(null);
    setRows(read(source.text, format, table));
  };
  const good = rows?.filter((row) => row.item) ?? [];
  const bad = rows?.filter((row) => row.error) ?? [];
  const run = async () => {
    stop.current = new AbortController();
    const signal = stop.current.signal;
    let done = 0;
    let skipped = 0;
    let painted = 0;
    const show = (force = false) => {
      if (!force && performance.now() - painted < 100) return;
      painted = performance.now();
      setProgress({ done, skipped, state: "running" });
    };
    show(true);
    const refuse = (row: Row, message: string) => {
      row.error = message;
      delete row.item;
    };
    // One by one, so that what is refused has a line.
    const single = async (row: Row) => {
      try {
        await call("PutItem", { TableName: table.TableName, Item: row.item, ...(replace ? {} : { ConditionExpression: "attribute_not_exists(#k)", ExpressionAttributeNames: { "#k": keys[0] } }) }, signal);
        done++;
      } catch (problem) {
        if (!(problem instanceof ApiError) || problem.status === 0) throw problem;
        if (problem.type === "ConditionalCheckFailedException") skipped++;
        else refuse(row, problem.message);
      }
      show();
    };
    try {
      if (!replace) await each(good, 8, single);
      else {
        const batches: Row[][] = [];
        for (let i = 0; i < good.length; i += 25) batches.push(good.slice(i, i + 25));
        await each(batches, 4, async (batch) => {
          signal.throwIfAborted();
          try {
            const answer = await call<{ UnprocessedItems?: Record<string, { PutRequest: { Item: Item } }[]> }>("BatchWriteItem", { RequestItems: { [table.TableName]: batch.map((row) => ({ PutRequest: { Item: row.item } })) } }, signal);
            if (answer.UnprocessedItems?.[table.TableName]?.length) for (const row of batch) await single(row);
            else done += batch.length;
          } catch (problem) {
            if (!(problem instanceof ApiError) || problem.status === 0) throw problem;
            for (const row of batch) await single(row);
          }
          show();
        });
      }
      setProgress({ done, skipped, state: "done" });
    } catch (problem) {
      if (!isAbort(problem)) setError(messageOf(problem));
      setProgress({ done, skipped, state: "stopped" });
    }
    setRows((old) => old && [...old]);
  };

  if (readOnly()) return <Notice tone="warn">This console only reads. It cannot import items.</Notice>;
  return (
    <div class="stack narrow">
      <p class="muted">Items of a file become items of <b>{table.TableName}</b>. First they are checked; nothing is written until you say so. Each item needs {keys.map((key, i) => <span key={key}>{i ? " and " : ""}<code>{key}</code></span>)}.</p>
      <div class={`drop ${over ? "over" : ""}`} onDragOver={(event) => { event.preventDefault(); setOver(true); }} onDragLeave={() => setOver(false)}
        onDrop={(event) => { event.preventDefault(); setOver(false); void takeFile(event.dataTransfer?.files[0]); }}>
        <Button icon="upload" onClick={() => file.current!.click()}>Choose a file</Button>
        <span class="muted">{source.name || "or drop one here: JSON, JSON lines, typed JSON, CSV"}</span>
        <input ref={file} type="file" hidden accept=".json,.jsonl,.ndjson,.csv,.txt" aria-label="File to import" onChange={(event) => void takeFile(event.currentTarget.files?.[0])} />
      </div>
      <Field label="Or paste" wide>{(id) => <textarea id={id} rows={8} spellcheck={false} value={source.text.length > 200_000 ? `${source.text.slice(0, 200_000)}\n…` : source.text} readOnly={source.text.length > 200_000} placeholder={`[{"${keys[0]}": "…"${keys[1] ? `, "${keys[1]}": "…"` : ""}}]`} onInput={(event) => take("", event.currentTarget.value)} />}</Field>
      <div class="row">
        <Field label="Format">{(id) => <Select id={id} value={format} onValue={(value) => { setFormat(value); setRows(null); }} options={[{ value: "json", text: "JSON" }, { value: "typed", text: "Typed JSON" }, { value: "csv", text: "CSV" }]} />}</Field>
        <span class="bottom"><Check checked={replace} onValue={setReplace}>Replace items with the same key</Check></span>
        <Button class="bottom" disabled={!source.text.trim()} onClick={check} kind={rows ? "plain" : "primary"}>Check</Button>
        {rows && progress?.state !== "running" && good.length > 0 && <Button class="bottom" kind="primary" onClick={() => void run()}>Import {plural(good.length, "item")}</Button>}
        {progress?.state === "running" && <Button class="bottom" icon="stop" onClick={() => stop.current.abort()}>Stop</Button>}
      </div>
      {error && <Notice tone="bad">{error}</Notice>}
      {progress && <Notice tone={progress.state === "done" && !bad.length ? "good" : "info"}>{count(progress.done)} imported{progress.skipped ? `, ${count(progress.skipped)} were there already and stay as they are` : ""}{progress.state === "stopped" ? "; stopped" : progress.state === "running" ? "…" : "."} {progress.state === "done" && <a href={tableUrl(table.TableName, "/items")}>See the items</a>}</Notice>}
      {rows && !progress && <Notice tone={bad.length ? "warn" : "good"}>{plural(good.length, "item")} can be imported{bad.length ? `, ${plural(bad.length, "line")} cannot` : ""}. Nothing is written yet.</Notice>}
      {bad.length > 0 && (
        <div class="table-box" tabIndex={0} role="region" aria-label="Lines that cannot be imported">
          <table class="plain"><thead><tr><th class="tight right">Line</th><th>What is wrong</th></tr></thead><tbody>{bad.slice(0, 200).map((row, i) => <tr key={i}><td class="right">{row.line}</td><td><Safe text={row.error!.slice(0, 500)} /></td></tr>)}</tbody></table>
          {bad.length > 200 && <p class="hint padded">and {count(bad.length - 200)} more</p>}
        </div>
      )}
      {good.length > 0 && !progress && (
        <div class="table-box" tabIndex={0} role="region" aria-label="First items">
          <table class="plain"><thead><tr><th class="tight right">Line</th>{keys.map((key) => <th key={key}>{key}</th>)}<th>Attributes</th></tr></thead><tbody>{good.slice(0, 10).map((row) => <tr key={row.line}><td class="right">{row.line}</td>{keys.map((key) => <td key={key}><Cell value={row.item![key]} /></td>)}<td class="muted"><span class="clip">{Object.keys(row.item!).filter((one) => !keys.includes(one)).slice(0, 12).join(", ")}</span></td></tr>)}</tbody></table>
        </div>
      )}
    </div>
  );
}

import { useCallback, useEffect, useMemo, useRef, useState } from "preact/hooks";
import { describeTable, reconnections } from "../../api/client";
import type { Item, TableDescription } from "../../api/types";
import { type Column, Grid } from "../../components/grid";
import { useCommands } from "../../components/palette";
import { SavedDialog } from "../../components/saved";
import { Badge, Button, copyText, Empty, Menu, Notice, Spinner, Text } from "../../components/ui";
import { Cell, Safe } from "../../components/value";
import { awsCli } from "../../lib/code";
import { build, indexesOf, type Search, searchFromQuery, searchToQuery, targetOf } from "../../lib/expressions";
import { count, plural, units } from "../../lib/format";
import { canSave, remember } from "../../lib/saved";
import { csv, keyOf, plainText, short } from "../../lib/values";
import { go, query, setQuery, tableUrl } from "../../router";
import { keep, kept, readOnly, useLoad, useTitle } from "../../state";
import { TablePage } from "../table_nav";
import { endpoint } from "../tables/parts";
import { BulkDialog, type BulkAction } from "./bulk";
import { type ColumnChoice, ColumnsDialog } from "./columns";
import { ItemDrawer } from "./item";
import { type Numbers, Rows } from "./rows";
import { SearchBar } from "./search_bar";

export function ItemsPage({ table: name }: { table: string }) {
  useTitle(name);
  const loaded = useLoad((stop) => describeTable(name, stop), [name]);
  if (!loaded.data) return <TablePage table={name}>{loaded.error ? <Notice tone="bad">{loaded.error}</Notice> : <Spinner />}</TablePage>;
  return <Browser table={loaded.data} reload={loaded.reload} />;
}

// A search in a few words, for its name in lists.
function summary(table: TableDescription, search: Search): string {
  const target = targetOf(table, search.index);
  const parts = [];
  if (search.pk) parts.push(`${target.pk.name} = ${search.pk}`);
  if (search.pk && search.sk && target.sk) parts.push(`${target.sk.name} ${search.op} ${search.sk}`);
  for (const one of search.filters) parts.push(`${one.name} ${one.op} ${one.value}`);
  return `${search.index ? `${search.index}: ` : ""}${parts.join(", ") || "everything"}`.slice(0, 200);
}

function Browser({ table, reload }: { table: TableDescription; reload: () => void }) {
  const name = table.TableName;
  const keys = table.KeySchema.map((key) => key.AttributeName);
  const address = query.value;
  const applied = useMemo(() => searchFromQuery(address), [JSON.stringify(searchToQuery(searchFromQuery(address)))]);
  const [draft, setDraft] = useState(applied);
  const [round, setRound] = useState(0);
  const [dialog, setDialog] = useState<"columns" | "saved" | BulkAction | null>(null);
  const [selected, setSelected] = useState<Set<string>>(new Set());
  const lastPicked = useRef(0);
  const find = address.get("find") ?? "";
  const itemKey = address.get("item");
  const again = reconnections.value;

  const rows = useMemo(() => {
    const { operation, request } = build(table, applied);
    return new Rows(operation, request);
  }, [applied, round, again]);
  useEffect(() => {
    setSelected(new Set());
    void rows.load();
    return () => rows.stop();
  }, [rows]);
  useEffect(() => setDraft(applied), [applied]);
  void rows.version.value;
  const state = rows.state.value;

  const run = () => {
    remember({ kind: "query", name: summary(table, draft), table: name, body: draft });
    setQuery({ ...searchToQuery(draft), item: null });
    setRound((n) => n + 1);
  };
  const more = useCallback(() => {
    if (rows.state.peek() === "idle") void rows.load();
  }, [rows]);

  // Keys first, then what most items have; keys of other indexes say least, and come last.
  const [choice, setChoice] = useState<ColumnChoice>(() => kept(`columns.${name}`, { hidden: [], pinned: [], widths: {} }));
  const changeChoice = (next: ColumnChoice) => {
    setChoice(next);
    keep(`columns.${name}`, next);
  };
  const target = targetOf(table, applied.index);
  const indexKeys = new Set(indexesOf(table).flatMap((index) => index.KeySchema.map((one) => one.AttributeName)));
  const facts = [...rows.columns.values()].sort((a, b) => Number(indexKeys.has(a.name)) - Number(indexKeys.has(b.name)) || b.count - a.count || (a.name < b.name ? -1 : 1));
  const first = [...new Set([...keys, target.pk.name, ...(target.sk ? [target.sk.name] : [])])];
  const order = [...first, ...facts.map((one) => one.name).filter((one) => !first.includes(one))].filter((one) => !choice.hidden.includes(one));
  const columns: Column[] = order.slice(0, 80).map((one, i) => ({
    id: one, title: <span class="clip mono"><Safe text={one.slice(0, 80)} /></span>, name: one,
    width: choice.widths[one] ?? (first.includes(one) ? 220 : 160), pinned: choice.pinned.includes(one) || (i === 0 && innerWidth > 820),
  }));

  const matching = useMemo(() => {
    if (!find) return null;
    const wanted = find.toLowerCase();
    return rows.items.flatMap((item, i) => (Object.entries(item).some(([attribute, value]) => attribute.toLowerCase().includes(wanted) || short(value, 4000).toLowerCase().includes(wanted)) ? [i] : []));
  }, [find, rows, rows.version.value]);
  const shownCount = matching ? matching.length : rows.items.length;
  const at = (row: number) => rows.items[matching ? matching[row]! : row]!;
  const idOf = (item: Item) => JSON.stringify(keyOf(item, keys));
  const toggle = (row: number, range: boolean) => {
    const next = new Set(selected);
    const ids = range ? Array.from({ length: Math.abs(row - lastPicked.current) + 1 }, (_, i) => idOf(at(Math.min(row, lastPicked.current) + i))) : [idOf(at(row))];
    const on = range || !next.has(ids[0]!);
    for (const id of ids) on ? next.add(id) : next.delete(id);
    lastPicked.current = row;
    setSelected(next);
  };
  const allOn = shownCount > 0 && selected.size >= shownCount;
  const chosen = () => rows.items.filter((item) => selected.has(idOf(item)));
  const open = (item: Item) => setQuery({ item: JSON.stringify(keyOf(item, keys)) });
  const copyAs = (how: "json" | "typed" | "csv" | "put") => {
    const items = chosen();
    const text = how === "json" ? `[${items.map((one) => plainText(one)).join(",\n")}]` : how === "typed" ? JSON.stringify(items, null, 2) : how === "csv" ? csv(items)
      : items.map((Item) => awsCli("PutItem", { TableName: name, Item }, endpoint())).join("\n\n");
    void copyText(text, `${plural(items.length, "item")} copied`);
  };

  useCommands([
    { text: "New item", icon: "plus", run: () => setQuery({ item: "new" }) },
    { text: "Columns", icon: "columns", run: () => setDialog("columns") },
    { text: "Saved and recent queries", icon: "star", run: () => setDialog("saved") },
    { text: "Export items", icon: "download", run: () => setDialog("export") },
  ], [rows]);

  return (
    <TablePage table={name} fill actions={
      <>
        <div class="find"><Text value={find} onValue={(text) => setQuery({ find: text }, { replace: true })} placeholder="Find in what is loaded" aria-label="Find in what is loaded" data-find /></div>
        <Button icon="columns" onClick={() => setDialog("columns")}>Columns</Button>
        <Menu label="Export, import and more" text="More" kind="plain" entries={[
          { text: "Export…", icon: "download", run: () => setDialog("export") },
          { text: "Import…", icon: "upload", disabled: readOnly(), run: () => go(tableUrl(name, "/import")) },
          null,
          { text: "Update all that match…", icon: "edit", disabled: readOnly(), run: () => setDialog("update") },
          { text: "Copy all that match…", icon: "copy", disabled: readOnly(), run: () => setDialog("copy") },
          { text: "Delete all that match…", icon: "trash", danger: true, disabled: readOnly(), run: () => setDialog("delete") },
        ]} />
        {!readOnly() && <Button icon="plus" kind="primary" onClick={() => setQuery({ item: "new" })}>New item</Button>}
      </>
    }>
      <SearchBar table={table} search={draft} onSearch={setDraft} onRun={run} running={state === "loading"} onStop={() => rows.stop()} columns={facts.slice(0, 500).map((one) => one.name)}
        more={canSave() && <Button icon="star" label="Saved and recent queries" onClick={() => setDialog("saved")} />} />
      {rows.error && <Notice tone="bad">{rows.error} <Button kind="quiet" onClick={() => setRound(round + 1)}>Try again</Button></Notice>}
      {selected.size > 0 && (
        <div class="bulk-bar" role="region" aria-label="Selected items">
          <strong>{plural(selected.size, "item")} selected</strong>
          <Menu label="Copy the selected items" text="Copy as" icon="copy" kind="plain" entries={[
            { text: "JSON", run: () => copyAs("json") }, { text: "Typed JSON", run: () => copyAs("typed") }, { text: "CSV", run: () => copyAs("csv") }, { text: "PutItem", run: () => copyAs("put") },
          ]} />
          <Button icon="download" onClick={() => setDialog("export")}>Export</Button>
          {!readOnly() && <>
            <Button icon="copy" onClick={() => setDialog("copy")}>Copy to a table</Button>
            <Button icon="edit" onClick={() => setDialog("update")}>Update</Button>
            <Button icon="trash" kind="danger" onClick={() => setDialog("delete")}>Delete</Button>
          </>}
          <span class="grow" />
          <Button kind="quiet" icon="close" label="Select nothing" onClick={() => setSelected(new Set())} />
        </div>
      )}
      {shownCount > 0 || state === "loading" ? (
        <Grid label={`Items of ${name}`} columns={columns} count={shownCount} onOpen={(i) => open(at(i))} onEnd={more}
          cell={(i, column) => <Cell value={Object.hasOwn(at(i), column.id) ? at(i)[column.id] : undefined} />}
          onResize={(column, width) => changeChoice({ ...choice, widths: { ...choice.widths, [column.id]: width } })}
          selected={{ has: (i) => selected.has(idOf(at(i))), toggle, all: { on: allOn, toggle: () => setSelected(allOn ? new Set() : new Set(Array.from({ length: shownCount }, (_, i) => idOf(at(i))))) } }} />
      ) : state === "error" ? null : <NoRows table={table} search={applied} find={find} paused={state === "paused"} onNew={() => setQuery({ item: "new" })} />}
      <Status rows={rows} numbers={rows.numbers} shown={shownCount} estimate={targetOf(table, applied.index).index?.ItemCount ?? table.ItemCount ?? 0} />
      {dialog === "columns" && <ColumnsDialog facts={facts} total={rows.items.length} fixed={first} choice={choice} onChoice={changeChoice} onClose={() => setDialog(null)} />}
      {dialog === "saved" && <SavedDialog kind="query" table={name} current={draft} suggested={summary(table, draft)} onClose={() => setDialog(null)} onPick={(entry) => {
        setDialog(null);
        setQuery({ ...searchToQuery({ ...applied, ...(entry.body as Search) }), item: null });
      }} />}
      {dialog && dialog !== "columns" && dialog !== "saved" && <BulkDialog action={dialog} table={table} selected={chosen()} loaded={rows.items.length} request={build(table, applied)} onClose={(changed) => {
        setDialog(null);
        if (changed) {
          setRound((n) => n + 1);
          reload();
        }
      }} />}
      {itemKey && <ItemDrawer table={table} at={itemKey} onClose={() => setQuery({ item: null })} onChanged={() => setRound((n) => n + 1)} />}
    </TablePage>
  );
}

function NoRows({ table, search, find, paused, onNew }: { table: TableDescription; search: Search; find: string; paused: boolean; onNew: () => void }) {
  if (find) return <Empty icon="search" title="Nothing that is loaded has this text">Only loaded rows are searched. Scroll to load more, or use a filter, which the server applies.</Empty>;
  if (paused) return <Empty icon="search" title="Nothing matches so far">Go on to read further.</Empty>;
  if (search.pk || search.filters.length) return <Empty icon="search" title="Nothing matches">{search.pk ? <p>Keys match exactly: letters, case and spaces count. <a href={tableUrl(table.TableName, "/tree")}>See which keys there are</a>.</p> : <p>The filter drops every item that was read.</p>}</Empty>;
  if (search.index) return <Empty icon="items" title={`${search.index} is empty`}>An item is in an index if it has all attributes of the index's key.</Empty>;
  return (
    <Empty icon="items" title="The table is empty" actions={!readOnly() && <><Button kind="primary" icon="plus" onClick={onNew}>New item</Button><a class="button" href={tableUrl(table.TableName, "/import")}>Import a file</a></>}>
      Items come from your program, from here, or from a file in JSON or CSV.
    </Empty>
  );
}

function Status({ rows, numbers, shown, estimate }: { rows: Rows; numbers: Numbers; shown: number; estimate: number }) {
  const state = rows.state.value;
  void rows.version.value; // the numbers change in their place
  const total = [...numbers.capacity.values()].reduce((a, b) => a + b, 0);
  return (
    <footer class="status" aria-live="polite">
      {state === "loading" ? <Spinner text="Reading" /> : state === "done" ? <Badge tone="good">all read</Badge> : state === "paused" ? <Badge tone="warn">stopped</Badge> : <Badge>more below</Badge>}
      <span data-status="rows"><b>{count(shown)}</b> {shown === rows.items.length ? "returned" : `of ${count(rows.items.length)} loaded`}</span>
      <span data-status="examined" title="A filter is applied after reading"><b>{count(numbers.examined)}</b> examined{estimate > numbers.examined && state !== "done" ? ` of about ${count(estimate)}` : ""}</span>
      <span data-status="capacity" title={[...numbers.capacity].map(([index, n]) => `${index || "table"}: ${units(n)}`).join(", ")}><b>{units(total)}</b> read units{[...numbers.capacity].some(([index]) => index) && <span class="muted"> ({[...numbers.capacity].map(([index, n]) => `${index || "table"} ${units(n)}`).join(", ")})</span>}</span>
      <span class="muted">{plural(numbers.requests, "request")}, {Math.round(numbers.millis)} ms</span>
      <span class="grow" />
      {state === "paused" && <Button onClick={() => void rows.load()}>Go on</Button>}
      {(state === "idle" || state === "paused") && <Button kind="quiet" onClick={() => void rows.load(5000, 1000)}>Load 5,000 more</Button>}
    </footer>
  );
}

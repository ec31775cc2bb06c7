// The single-table view: partitions on the left, their sort keys in order, attributes to the right, coloured by entity.
import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { describeTable, reconnections } from "../../api/client";
import type { Identified, Item, ModelSummary, TableDescription } from "../../api/types";
import { type Column, Grid } from "../../components/grid";
import { Button, Empty, Field, Notice, Select, Spinner, Text } from "../../components/ui";
import { Cell, Safe } from "../../components/value";
import { colourOf, entityOf, identify, modelOf, typeAttribute } from "../../lib/entities";
import { build, emptySearch, indexesOf, targetOf } from "../../lib/expressions";
import { count, plural } from "../../lib/format";
import { inside, keyOf, same } from "../../lib/values";
import { query, setQuery, withQuery } from "../../router";
import { useLoad, useTitle } from "../../state";
import { ItemDrawer } from "../items/item";
import { Rows } from "../items/rows";
import { TablePage } from "../table_nav";

export function PartitionsPage({ table: name }: { table: string }) {
  useTitle(`${name}: partitions`);
  const loaded = useLoad(async (stop) => ({ table: await describeTable(name, stop), model: await modelOf(name) }), [name]);
  if (!loaded.data) return <TablePage table={name}>{loaded.error ? <Notice tone="bad">{loaded.error}</Notice> : <Spinner />}</TablePage>;
  return <Partitions {...loaded.data} />;
}

// Keys that begin alike differ at their ends.
const middle = (key: string, most: number) => (key.length <= most ? key : `${key.slice(0, Math.floor(most / 3))}…${key.slice(key.length - Math.ceil((most * 2) / 3) + 1)}`);
const text = (item: Item, name: string) => (Object.hasOwn(item, name) ? String(inside(item[name]!)) : "");

function Partitions({ table, model }: { table: TableDescription; model: ModelSummary | null }) {
  const name = table.TableName;
  const index = query.value.get("index") ?? "";
  const pk = query.value.get("pk") ?? "";
  const only = query.value.get("entity") ?? "";
  const trail = useMemo(() => readTrail(query.value.get("trail")), [query.value.get("trail")]);
  const itemKey = query.value.get("item");
  const [draft, setDraft] = useState(pk);
  const [round, setRound] = useState(0);
  useEffect(() => setDraft(pk), [pk]);
  const target = targetOf(table, index);
  const rows = useMemo(() => {
    const { operation, request } = build(table, { ...emptySearch, index, pk });
    return new Rows(operation, request);
  }, [index, pk, round, reconnections.value]);
  useEffect(() => {
    void rows.load();
    return () => rows.stop();
  }, [rows]);
  const version = rows.version.value;
  const state = rows.state.value;

  const [known, setKnown] = useState<{ rows: Rows; found: (Identified | null)[] }>({ rows, found: [] });
  const found = known.rows === rows ? known.found : [];
  useEffect(() => {
    if (!model || found.length >= rows.items.length) return;
    const controller = new AbortController();
    void identify(model, rows.items.slice(found.length), controller.signal).then((more) => controller.signal.aborted || setKnown({ rows, found: [...found, ...more] }));
    return () => controller.abort();
  }, [rows, version, found.length]);

  const attribute = useMemo(() => typeAttribute(rows.items), [rows, Math.min(500, rows.items.length)]);
  const entity = (i: number) => found[i]?.entity ?? entityOf(rows.items[i]!, attribute, target.sk?.name ?? null);
  const counts = useMemo(() => {
    const all = new Map<string, number>();
    rows.items.forEach((_, i) => all.set(entity(i), (all.get(entity(i)) ?? 0) + 1));
    return [...all].sort((a, b) => b[1] - a[1]);
  }, [rows, version, found.length]);
  const shown = useMemo(() => (only ? rows.items.flatMap((_, i) => (entity(i) === only ? [i] : [])) : null), [only, rows, version, found.length]);
  const total = shown ? shown.length : rows.items.length;
  const at = (row: number) => (shown ? shown[row]! : row);
  const keys = table.KeySchema.map((key) => key.AttributeName);
  const reserved = new Set([target.pk.name, ...(target.sk ? [target.sk.name] : []), ...(attribute ? [attribute] : [])]);
  // Attributes of an item in their places: those that all entities share come last.
  const rest = (item: Item) => Object.keys(item).filter((one) => !reserved.has(one)).sort((a, b) => rank(a, item) - rank(b, item) || (a < b ? -1 : 1));
  const rank = (one: string, item: Item) => (/^(title|name|label)$/i.test(one) ? 0 : keys.includes(one) ? 3 : /^gsi|^lsi/i.test(one) ? 4 : /(id|version|at)$/i.test(one) && "S" in item[one]! ? 2 : 1);
  const width = Math.min(24, rows.items.slice(0, 2000).reduce((most, item) => Math.max(most, Object.keys(item).length - 1), 1));
  const narrow = innerWidth <= 820;
  const columns: Column[] = [
    ...(narrow && pk ? [] : [{ id: "pk", title: <code>{target.pk.name}</code>, width: narrow ? 130 : 190, pinned: !narrow }]),
    ...(target.sk ? [{ id: "sk", title: <code>{target.sk.name}</code>, width: narrow ? 200 : 300, pinned: !narrow || pk !== "" }] : []),
    { id: "entity", title: "Entity", width: 144 },
    ...Array.from({ length: width }, (_, i) => ({ id: `a${i}`, title: i ? <span class="sr">Attribute {i + 1}</span> : "Attributes", width: 150 })),
  ];
  const openPartition = (item: Item) => setQuery({ pk: text(item, target.pk.name), trail: writeTrail([...trail, { index, pk }]), entity: null });
  const more = useCallback(() => {
    if (rows.state.peek() === "idle") void rows.load();
  }, [rows]);

  return (
    <TablePage table={name} fill>
      <form class="search-keys partition-search" onSubmit={(event) => { event.preventDefault(); setQuery({ pk: draft, entity: null, trail: null }); }}>
        <Field label="Partitions of">{(id) => <Select id={id} value={index} options={[{ value: "", text: "Table" }, ...indexesOf(table).map((one) => one.IndexName)]} onValue={(next) => setQuery({ index: next, pk: null, entity: null, trail: null })} />}</Field>
        <Field label={`${target.pk.name} =`}>{(id) => <Text id={id} class="mono" value={draft} placeholder="all partitions" onValue={setDraft} data-find />}</Field>
        <div class="search-run">
          {state === "loading" ? <Button key="stop" icon="stop" onClick={() => rows.stop()}>Stop</Button> : <Button key="show" type="submit" kind="primary" icon="play">Show</Button>}
        </div>
      </form>
      <nav class="crumbs trail" aria-label="Way here">
        <span><a href={withQuery({ pk: null, index: null, entity: null, trail: null, item: null })}>All partitions</a></span>
        {trail.filter((one) => one.pk).map((one, i) => <span key={i}><a class="mono" href={withQuery({ ...one, entity: null, item: null, trail: writeTrail(trail.slice(0, trail.indexOf(one))) })}>{one.index ? `${one.index}: ` : ""}<Safe text={one.pk.slice(0, 60)} /></a></span>)}
        {pk && <span class="mono"><b>{index ? `${index}: ` : ""}<Safe text={pk.slice(0, 120)} /></b></span>}
      </nav>
      {counts.length > 0 && (
        <div class="legend" role="group" aria-label="Entities">
          {counts.slice(0, 24).map(([one, n]) => (
            <button type="button" key={one} class={`entity ${colourOf(one)}`} aria-pressed={only === one} onClick={() => setQuery({ entity: only === one ? null : one })}><Safe text={one.slice(0, 40)} /> <span>{count(n)}</span></button>
          ))}
          <span class="hint">{model ? <>by the model <a href={`/models/${encodeURIComponent(model.name)}`}>{model.title || model.name}</a></> : attribute ? <>by the attribute <code>{attribute}</code></> : "by the start of the sort key"}</span>
        </div>
      )}
      {rows.error && <Notice tone="bad">{rows.error}</Notice>}
      {total > 0 || state === "loading" ? (
        <Grid label={`Partitions of ${name}`} rowHeight={46} columns={columns} count={total} onEnd={more} onOpen={(i) => setQuery({ item: JSON.stringify(keyOf(rows.items[at(i)]!, keys)) })}
          rowClass={(i) => `${colourOf(entity(at(i)))} ${i > 0 && text(rows.items[at(i - 1)]!, target.pk.name) === text(rows.items[at(i)]!, target.pk.name) ? "same-partition" : "new-partition"}`}
          cell={(i, column) => {
            const row = at(i);
            const item = rows.items[row]!;
            if (column.id === "pk") {
              const value = text(item, target.pk.name);
              if (i > 0 && text(rows.items[at(i - 1)]!, target.pk.name) === value) return <span class="sr">{value.slice(0, 80)}</span>;
              return pk ? <code class="clip strong"><Safe text={value.slice(0, 200)} /></code> : <button type="button" class="link mono clip strong" title="Only this partition" onClick={() => openPartition(item)}><Safe text={value.slice(0, 200)} /></button>;
            }
            if (column.id === "sk") return <code class="clip" title={text(item, target.sk!.name).slice(0, 500)}><Safe text={middle(text(item, target.sk!.name), narrow ? 22 : 37)} /></code>;
            if (column.id === "entity") return <span class={`entity ${colourOf(entity(row))}`}><Safe text={entity(row).slice(0, 40)} /></span>;
            const one = rest(item)[Number(column.id.slice(1))];
            if (one === undefined) return null;
            return <span class="attribute"><small><Safe text={one.slice(0, 60)} /></small><Cell value={item[one]} /></span>;
          }} />
      ) : state === "error" ? null : <Empty icon="tree" title={pk ? "The partition is empty" : "There are no items"}>{pk ? <>No item of {index || "the table"} has <code>{target.pk.name} = {pk.slice(0, 100)}</code>.</> : "A partition is made of the items with the same partition key."}</Empty>}
      <footer class="status" aria-live="polite">
        <span><b>{count(total)}</b> {total === 1 ? "item" : "items"}{only ? ` of ${count(rows.items.length)}` : ""}</span>
        {!pk && <span>{plural(new Set(rows.items.map((item) => text(item, target.pk.name))).size, "partition")}{state === "done" ? "" : " so far"}</span>}
        {state === "loading" ? <Spinner text="Reading" /> : state !== "done" && <Button kind="quiet" onClick={() => void rows.load(2000, 100)}>Load more</Button>}
      </footer>
      {itemKey && <ItemDrawer table={table} at={itemKey} onClose={() => setQuery({ item: null })} onChanged={() => setRound(round + 1)} />}
    </TablePage>
  );
}

interface Step {
  index: string;
  pk: string;
}
function readTrail(text: string | null): Step[] {
  try {
    return (JSON.parse(text ?? "[]") as [string, string][]).map(([index, pk]) => ({ index: String(index), pk: String(pk) }));
  } catch {
    return [];
  }
}
const writeTrail = (trail: Step[]) => (trail.some((one) => one.pk) ? JSON.stringify(trail.filter((one, i) => one.pk && !trail.slice(0, i).some((other) => same(one, other))).slice(-6).map((one) => [one.index, one.pk])) : null);

import { useEffect, useState } from "preact/hooks";
import { describeTable, describeTtl, isAbort, messageOf, reconnections } from "../../api/client";
import type { TableDescription, TimeToLive } from "../../api/types";
import { type Column, Grid } from "../../components/grid";
import { Badge, Empty, LinkButton, Menu, Notice, Page, Spinner, Text } from "../../components/ui";
import { bytes, count, each, plural } from "../../lib/format";
import { go, query, setQuery, tableUrl } from "../../router";
import { info, readOnly, refreshTables, tableNames, useTitle } from "../../state";
import { DeleteTable, PurgeTable } from "./remove";

interface Row {
  name: string;
  table?: TableDescription;
  ttl?: TimeToLive;
  error?: string;
}
const columns: Column[] = [
  { id: "name", title: "Name", width: 230, pinned: true },
  { id: "status", title: "Status", width: 84 },
  { id: "items", title: "Items", width: 84, align: "right" },
  { id: "size", title: "Size", width: 84, align: "right" },
  { id: "key", title: "Key", width: 130 },
  { id: "indexes", title: "Indexes", width: 180 },
  { id: "stream", title: "Stream", width: 110 },
  { id: "ttl", title: "Time to live", width: 90 },
  { id: "menu", title: <span class="sr">Actions</span>, width: 46 },
];
const sorts = ["name", "items", "size", "indexes"];

export function TablesPage() {
  useTitle("Tables");
  const names = tableNames.value;
  const [rows, setRows] = useState<Map<string, Row>>(new Map());
  const [error, setError] = useState<string | null>(null);
  const [removing, setRemoving] = useState<{ name: string; how: "delete" | "purge" } | null>(null);
  const find = query.value.get("find") ?? "";
  const [sortId, direction] = (query.value.get("sort") ?? "name.asc").split(".") as [string, "asc" | "desc"];

  useEffect(() => {
    refreshTables().catch((problem) => setError(messageOf(problem)));
  }, [reconnections.value]);
  useEffect(() => {
    if (!names) return;
    const controller = new AbortController();
    const found = new Map<string, Row>();
    let painted = 0;
    const show = (force = false) => {
      if (controller.signal.aborted || (!force && performance.now() - painted < 150)) return;
      painted = performance.now();
      setRows(new Map(found));
    };
    void each(names, 6, async (name) => {
      if (controller.signal.aborted) return;
      try {
        const [table, ttl] = await Promise.all([describeTable(name, controller.signal), describeTtl(name).catch(() => ({}))]);
        found.set(name, { name, table, ttl });
      } catch (problem) {
        if (!isAbort(problem)) found.set(name, { name, error: messageOf(problem) });
      }
      show();
    }).then(() => show(true));
    return () => controller.abort();
  }, [names]);

  const shown = (names ?? []).filter((name) => name.toLowerCase().includes(find.toLowerCase())).map((name): Row => rows.get(name) ?? { name });
  const value = (row: Row) => ({ name: row.name, items: row.table?.ItemCount ?? 0, size: row.table?.TableSizeBytes ?? 0, indexes: indexesOf(row).length })[sortId] ?? row.name;
  shown.sort((a, b) => (value(a) < value(b) ? -1 : value(a) > value(b) ? 1 : 0) * (direction === "desc" ? -1 : 1));
  const total = shown.reduce((sum, row) => sum + (row.table?.TableSizeBytes ?? 0), 0);

  return (
    <Page title="Tables" fill actions={
      <>
        <div class="find"><Text value={find} onValue={(text) => setQuery({ find: text }, { replace: true })} placeholder="Find a table" aria-label="Find a table by its name" data-find /></div>
        {!readOnly() && <LinkButton kind="primary" icon="plus" href="/new-table">Create a table</LinkButton>}
      </>
    }>
      {error && <Notice tone="bad">{error}</Notice>}
      {!names ? <Spinner /> : !names.length ? <NoTables /> : !shown.length ? (
        <Empty icon="search" title="No table has this name">Nothing matches <code>{find}</code>.</Empty>
      ) : (
        <>
          <Grid label="Tables" rowHeight={36} count={shown.length} rowKey={(i) => shown[i]!.name} onOpen={(i) => go(tableUrl(shown[i]!.name, "/items"))}
            columns={columns.map((column) => (sorts.includes(column.id) ? { ...column, sort: column.id === sortId ? direction : null } : column))}
            onSort={(column) => setQuery({ sort: `${column.id}.${column.id === sortId && direction === "asc" ? "desc" : "asc"}` }, { replace: true })}
            cell={(i, column) => <Cell row={shown[i]!} column={column.id} onRemove={setRemoving} />}
            footer={<>{plural(shown.length, "table")}, {bytes(total)}</>} />
        </>
      )}
      {removing?.how === "delete" && <DeleteTable name={removing.name} onClose={() => setRemoving(null)} />}
      {removing?.how === "purge" && <PurgeTable name={removing.name} onClose={() => setRemoving(null)} />}
    </Page>
  );
}

const indexesOf = (row: Row) => [...(row.table?.GlobalSecondaryIndexes ?? []), ...(row.table?.LocalSecondaryIndexes ?? [])];

function Cell({ row, column, onRemove }: { row: Row; column: string; onRemove: (what: { name: string; how: "delete" | "purge" }) => void }) {
  const { name, table } = row;
  if (column === "name") return <a class="clip strong" href={tableUrl(name, "/items")}>{name}</a>;
  if (column === "menu") {
    return (
      <Menu label={`Actions for ${name}`} entries={[
        { text: "Items", icon: "items", run: () => go(tableUrl(name, "/items")) },
        { text: "Partitions", icon: "tree", run: () => go(tableUrl(name, "/partitions")) },
        { text: "Settings", icon: "table", run: () => go(tableUrl(name)) },
        { text: "Copy the table", icon: "copy", disabled: readOnly(), run: () => go(`/new-table?from=${encodeURIComponent(name)}`) },
        null,
        { text: "Purge all items", icon: "trash", danger: true, disabled: readOnly(), run: () => onRemove({ name, how: "purge" }) },
        { text: "Delete the table", icon: "trash", danger: true, disabled: readOnly(), run: () => onRemove({ name, how: "delete" }) },
      ]} />
    );
  }
  if (row.error) return column === "status" ? <Badge tone="bad" title={row.error}>error</Badge> : null;
  if (!table) return column === "status" ? <span class="muted">…</span> : null;
  switch (column) {
    case "status": return <Badge tone={table.TableStatus === "ACTIVE" ? "good" : "warn"}>{table.TableStatus.toLowerCase()}</Badge>;
    case "items": return <span>{count(table.ItemCount ?? 0)}</span>;
    case "size": return <span>{bytes(table.TableSizeBytes ?? 0)}</span>;
    case "key": return <code class="clip">{table.KeySchema.map((key) => key.AttributeName).join(", ")}</code>;
    case "indexes": {
      const all = indexesOf(row);
      return all.length ? <span class="clip" title={all.map((one) => one.IndexName).join(", ")}>{all.length} <span class="muted">{all.map((one) => one.IndexName).join(", ")}</span></span> : <span class="muted">none</span>;
    }
    case "stream": return table.StreamSpecification?.StreamEnabled ? <span class="clip">{(table.StreamSpecification.StreamViewType ?? "").toLowerCase().replaceAll("_", " ").replace(" images", "")}</span> : <span class="muted">off</span>;
    case "ttl": return row.ttl?.AttributeName ? <code class="clip">{row.ttl.AttributeName}</code> : <span class="muted">off</span>;
    default: return null;
  }
}

const NoTables = () => (
  <Empty icon="table" title="There is no table yet" actions={<>{!readOnly() && <LinkButton kind="primary" icon="plus" href="/new-table">Create a table</LinkButton>}</>}>
    <p>A table holds items, which are found by their key. Create one here, or with any DynamoDB client at this server's endpoint.</p>
    {!info.value?.endpoint && <p class="hint">Start with <code>./run</code> or <code>stator up --demo</code> to have five example systems with data.</p>}
  </Empty>
);

// The keys of a table as a tree: its levels are the parts of the keys between `#`.
import { useEffect, useMemo, useState } from "preact/hooks";
import { describeTable } from "../../api/client";
import type { TableDescription } from "../../api/types";
import { Button, Empty, Field, Notice, Select, Spinner, Text } from "../../components/ui";
import { Safe } from "../../components/value";
import { build, emptySearch, indexesOf, targetOf } from "../../lib/expressions";
import { count } from "../../lib/format";
import { inside } from "../../lib/values";
import { query, setQuery, tableUrl } from "../../router";
import { useLoad, useTitle } from "../../state";
import { TablePage } from "../table_nav";
import { Rows } from "./rows";

interface Node {
  part: string;
  items: number;
  children: Map<string, Node>;
  pk?: string; // the partition that ends here
  depth: number;
}

export function TreePage({ table: name }: { table: string }) {
  useTitle(`${name}: tree`);
  const loaded = useLoad((stop) => describeTable(name, stop), [name]);
  if (!loaded.data) return <TablePage table={name}>{loaded.error ? <Notice tone="bad">{loaded.error}</Notice> : <Spinner />}</TablePage>;
  return <Tree table={loaded.data} />;
}

function Tree({ table }: { table: TableDescription }) {
  const index = query.value.get("index") ?? "";
  const by = query.value.get("by") === "sk" ? "sk" : "pk";
  const find = query.value.get("find") ?? "";
  const target = targetOf(table, index);
  const key = by === "sk" && target.sk ? target.sk : target.pk;
  const rows = useMemo(() => {
    const { operation, request } = build(table, { ...emptySearch, index, select: [target.pk.name, ...(target.sk ? [target.sk.name] : [])].map((one) => `"${one}"`).join(",") });
    return new Rows(operation, request);
  }, [index]);
  useEffect(() => {
    void rows.load(2000, 40);
    return () => rows.stop();
  }, [rows]);
  const version = rows.version.value;
  const state = rows.state.value;
  const root = useMemo(() => {
    const top: Node = { part: "", items: 0, children: new Map(), depth: -1 };
    const wanted = find.toLowerCase();
    for (const item of rows.items) {
      const value = item[key.name];
      if (!value) continue;
      const text = String(inside(value));
      if (wanted && !text.toLowerCase().includes(wanted)) continue;
      let node = top;
      node.items++;
      for (const part of text.split("#").slice(0, 24)) {
        let next = node.children.get(part);
        if (!next) node.children.set(part, (next = { part, items: 0, children: new Map(), depth: node.depth + 1 }));
        next.items++;
        node = next;
      }
      if (by === "pk") node.pk = text;
    }
    return top;
  }, [rows, version, key.name, find]);
  return (
    <TablePage table={table.TableName} fill actions={<div class="find"><Text value={find} placeholder="Find a key" aria-label="Find a key" data-find onValue={(text) => setQuery({ find: text }, { replace: true })} /></div>}>
      <div class="row">
        <Field label="Keys of">{(id) => <Select id={id} value={index} options={[{ value: "", text: "Table" }, ...indexesOf(table).map((one) => one.IndexName)]} onValue={(next) => setQuery({ index: next })} />}</Field>
        {target.sk && <Field label="By">{(id) => <Select id={id} value={by} options={[{ value: "pk", text: target.pk.name }, { value: "sk", text: target.sk!.name }]} onValue={(next) => setQuery({ by: next === "sk" ? "sk" : null })} />}</Field>}
        {state === "loading" && <Button class="bottom" icon="stop" onClick={() => rows.stop()}>Stop</Button>}
      </div>
      {rows.error && <Notice tone="bad">{rows.error}</Notice>}
      {root.items ? (
        <div class="key-tree" tabIndex={0} role="region" aria-label="Tree of keys"><Level table={table} index={index} node={root} prefix="" open={root.children.size <= 12} /></div>
      ) : state === "loading" ? <Spinner text="Reading keys" /> : <Empty icon="tree" title={find ? "No key has this text" : "There are no keys"}>{find ? "Only the keys that are read so far are searched." : "The tree splits keys such as user#42#order#7 at each #."}</Empty>}
      <footer class="status" aria-live="polite">
        <span><b>{count(rows.items.length)}</b> keys are read</span>
        {state === "loading" ? <Spinner text="Reading" /> : state !== "done" && <Button kind="quiet" onClick={() => void rows.load(20_000, 200)}>Read 20,000 more</Button>}
      </footer>
    </TablePage>
  );
}

function Level({ table, index, node, prefix, open: initially }: { table: TableDescription; index: string; node: Node; prefix: string; open: boolean }) {
  const [limit, setLimit] = useState(100);
  const children = [...node.children.values()].sort((a, b) => (a.part < b.part ? -1 : 1));
  return (
    <ul>
      {children.slice(0, limit).map((child) => <Branch key={child.part} table={table} index={index} node={child} prefix={prefix} initially={initially && children.length === 1} />)}
      {children.length > limit && <li><Button kind="quiet" onClick={() => setLimit(limit + 500)}>{count(children.length - limit)} more</Button></li>}
    </ul>
  );
}
function Branch({ table, index, node, prefix, initially }: { table: TableDescription; index: string; node: Node; prefix: string; initially: boolean }) {
  const [open, setOpen] = useState(initially);
  const text = prefix + node.part;
  const leaf = !node.children.size;
  const label = <span class="mono"><Safe text={node.part.slice(0, 200) || "(empty)"} />{leaf ? "" : <span class="muted">#</span>}</span>;
  return (
    <li>
      <div class="tree-line">
        {leaf ? <span class="twist-space" /> : <button type="button" class="twist" aria-expanded={open} aria-label={`${open ? "Close" : "Open"} ${text.slice(0, 100)}`} onClick={() => setOpen(!open)}>{open ? "▾" : "▸"}</button>}
        {node.pk !== undefined ? <a class="clip" href={tableUrl(table.TableName, `/partitions?${new URLSearchParams({ ...(index ? { index } : {}), pk: node.pk })}`)}>{label}</a> : <button type="button" class="link clip" onClick={() => setOpen(!open)}>{label}</button>}
        <span class="muted">{count(node.items)}</span>
      </div>
      {open && !leaf && <Level table={table} index={index} node={node} prefix={`${text}#`} open={node.children.size === 1} />}
    </li>
  );
}

import { useEffect, useMemo, useState } from "preact/hooks";
import { ApiError, call, describeTable, messageOf } from "../../api/client";
import type { Item, TableDescription } from "../../api/types";
import { Confirm, Dialog } from "../../components/dialog";
import { Editor } from "../../components/editor";
import { toast } from "../../components/toast";
import { Badge, Button, copyText, Menu, Notice, Spinner, Tabs } from "../../components/ui";
import { Attributes } from "../../components/transposed";
import { Safe } from "../../components/value";
import { awsCli } from "../../lib/code";
import { indexesOf, Placeholders } from "../../lib/expressions";
import { bytes, count } from "../../lib/format";
import { parse } from "../../lib/json";
import { csv, emptyOf, inside, keyOf, plainText, readItem, readTypedItem, sizeOfItem, typedText } from "../../lib/values";
import { go, query, setQuery, tableUrl } from "../../router";
import { readOnly, useLoad, useTitle } from "../../state";
import { TablePage } from "../table_nav";
import { endpoint } from "../tables/parts";
import { changesOf, Diff } from "./diff";
import { RelationsOf } from "./relations";
import { type FieldState, Fields, fieldsOf, itemOf } from "./fields";

type Mode = "view" | "edit" | "json" | "typed";

// The key in the address: typed JSON, or `new`.
function readKey(text: string): Item | null {
  if (text === "new") return null;
  return readTypedItem(parse(text) as never);
}
const partitionUrl = (table: TableDescription, item: Item, index = "") => {
  const schema = (index ? indexesOf(table).find((one) => one.IndexName === index)! : table).KeySchema;
  const pk = item[schema.find((one) => one.KeyType === "HASH")!.AttributeName];
  return tableUrl(table.TableName, `/partitions?${new URLSearchParams({ ...(index ? { index } : {}), pk: pk ? String(inside(pk)) : "" })}`);
};

export function ItemPage({ table: name }: { table: string }) {
  useTitle(`${name}: item`);
  const at = query.value.get("key") ?? "new";
  const loaded = useLoad((stop) => describeTable(name, stop), [name]);
  return (
    <TablePage table={name}>
      {loaded.error && <Notice tone="bad">{loaded.error}</Notice>}
      {loaded.data ? <ItemView key={at} table={loaded.data} at={at} onSaved={(key) => go(tableUrl(name, `/item?key=${encodeURIComponent(key)}`), { replace: true })} onGone={() => go(tableUrl(name, "/items"))} /> : !loaded.error && <Spinner />}
    </TablePage>
  );
}

// Beside the list, so that the list stays where it is.
export function ItemDrawer({ table, at, onClose, onChanged }: { table: TableDescription; at: string; onClose: () => void; onChanged: () => void }) {
  const [touched, setTouched] = useState(false);
  const [leaving, setLeaving] = useState(false);
  const close = () => (touched ? setLeaving(true) : onClose());
  return (
    <>
      <Dialog title={at === "new" ? "New item" : "Item"} size="side" onClose={close}>
        <ItemView key={at} table={table} at={at} inDrawer onTouched={setTouched} onSaved={(key) => { setTouched(false); onChanged(); setQuery({ item: key }, { replace: true }); }} onGone={() => { onChanged(); onClose(); }} />
      </Dialog>
      {leaving && <Confirm title="Leave without saving?" action="Leave" onClose={() => setLeaving(false)} run={async () => onClose()}><p>What was changed here is lost.</p></Confirm>}
    </>
  );
}

interface ViewProps {
  table: TableDescription;
  at: string;
  inDrawer?: boolean;
  onSaved: (key: string) => void;
  onGone: () => void;
  onTouched?: (touched: boolean) => void;
}
function ItemView({ table, at, inDrawer, onSaved, onGone, onTouched }: ViewProps) {
  const name = table.TableName;
  const keys = table.KeySchema.map((key) => key.AttributeName);
  const template = query.value.get("like");
  const key = useMemo(() => {
    try {
      return { value: readKey(at) };
    } catch {
      return { value: null, error: "The address names no key." };
    }
  }, [at]);
  const isNew = key.value === null;
  const loaded = useLoad(async (stop) => {
    if (key.value) return (await call<{ Item?: Item }>("GetItem", { TableName: name, Key: key.value, ConsistentRead: true }, stop)).Item ?? null;
    if (template) return (await call<{ Item?: Item }>("GetItem", { TableName: name, Key: readKey(template), ConsistentRead: true }, stop)).Item ?? null;
    return Object.fromEntries(table.AttributeDefinitions.filter((one) => keys.includes(one.AttributeName)).map((one) => [one.AttributeName, emptyOf(one.AttributeType)])) as Item;
  }, [at, template]);
  const item = loaded.data;
  const asked = query.value.get("as") as Mode | null;
  const [mode, setModeState] = useState<Mode>(isNew ? "edit" : asked && ["edit", "json", "typed"].includes(asked) ? asked : "view");
  const [fields, setFields] = useState<FieldState[]>([]);
  const [text, setText] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [saving, setSaving] = useState<Item | null>(null);
  const [deleting, setDeleting] = useState(false);
  useEffect(() => {
    if (item) fill(item, mode);
  }, [item]);

  const fill = (from: Item, next: Mode) => {
    setError(null);
    if (next === "edit") setFields(fieldsOf(from, table.KeySchema));
    if (next === "json") setText(plainText(from));
    if (next === "typed") setText(typedText(from));
  };
  // What the fields or the text say now.
  const edited = (): Item | null => {
    if (!item) return null;
    if (mode === "view") return item;
    if (mode === "edit") {
      const result = itemOf(fields);
      if ("item" in result) return result.item;
      setFields(result.fields);
      return null;
    }
    try {
      return readItem(text, item);
    } catch (problem) {
      setError(messageOf(problem));
      return null;
    }
  };
  const setMode = (next: Mode) => {
    const now = edited();
    if (!now) return;
    fill(now, next);
    setModeState(next);
  };
  const review = () => {
    const now = edited();
    if (!now) return;
    setError(null);
    if (!isNew && JSON.stringify(keyOf(now, keys)) !== JSON.stringify(keyOf(item!, keys))) {
      setError("The key of an item does not change. Duplicate the item to have it under another key.");
      return;
    }
    setSaving(now);
  };
  const touch = () => onTouched?.(true);

  if (key.error) return <Notice tone="bad">{key.error}</Notice>;
  if (loaded.error) return <Notice tone="bad">{loaded.error}</Notice>;
  if (item === undefined) return <Spinner />;
  if (item === null) return <Notice tone="warn">There is no item with this key. It may have been deleted. <code>{at}</code></Notice>;
  const put = () => awsCli("PutItem", { TableName: name, Item: item }, endpoint());
  const indexes = indexesOf(table).filter((index) => index.KeySchema.every((one) => Object.hasOwn(item, one.AttributeName)));
  return (
    <div class="item" onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && mode !== "view" && !saving) { event.preventDefault(); review(); } }}>
      {!isNew && <div class="item-key">{keys.map((one) => <div key={one}><span class="muted">{one}</span> <code class="clip"><Safe text={String(inside(item[one]!)).slice(0, 300)} /></code></div>)}</div>}
      <div class="row spread">
        <Tabs label="How to show the item" value={mode} onValue={setMode} tabs={[
          ...(isNew ? [] : [{ value: "view" as const, text: "Attributes" }]), ...(readOnly() ? [] : [{ value: "edit" as const, text: isNew ? "Fields" : "Edit" }]), { value: "json", text: "JSON" }, { value: "typed", text: "Typed JSON" },
        ]} />
        {!isNew && (
          <div class="actions">
            <span class="muted">{Object.keys(item).length} attributes, {bytes(sizeOfItem(item))}</span>
            <Menu label="Copy the item" icon="copy" entries={[
              { text: "Copy as JSON", run: () => void copyText(plainText(item)) }, { text: "Copy as typed JSON", run: () => void copyText(typedText(item)) },
              { text: "Copy as CSV", run: () => void copyText(csv([item])) }, { text: "Copy as PutItem", run: () => void copyText(put()) },
            ]} />
            <Menu label="More for the item" entries={[
              { text: "Its partition", icon: "tree", run: () => go(partitionUrl(table, item)) },
              ...indexes.map((index) => ({ text: `Its partition in ${index.IndexName}`, icon: "tree" as const, run: () => go(partitionUrl(table, item, index.IndexName)) })),
              ...(inDrawer ? [{ text: "On a page of its own", icon: "link" as const, run: () => go(tableUrl(name, `/item?key=${encodeURIComponent(at)}`)) }] : []),
              null,
              { text: "Duplicate", icon: "copy" as const, disabled: readOnly(), run: () => go(tableUrl(name, `/items?item=new&like=${encodeURIComponent(at)}`)) },
              { text: "Delete", icon: "trash" as const, danger: true, disabled: readOnly(), run: () => setDeleting(true) },
            ]} />
          </div>
        )}
      </div>
      {mode === "view" && <RelationsOf table={table} item={item} />}
      {mode === "view" && <Attributes item={item} first={keys} mark={(one) => keys.includes(one) && <> <Badge tone="accent">key</Badge></>} />}
      {mode === "edit" && <Fields fields={fields} onFields={(next) => { setFields(next); touch(); }} locked={!isNew} keys={keys} />}
      {(mode === "json" || mode === "typed") && <Editor key={mode} language="json" label={mode === "json" ? "Item as JSON" : "Item as typed JSON"} height="min(56vh, 520px)" value={text} readOnly={readOnly()} onRun={review}
        onValue={(next) => { if (next !== text) { setText(next); touch(); } }} />}
      {mode === "json" && <p class="hint">Numbers keep all their digits. Sets and binary values keep their types if they still fit.</p>}
      {error && <Notice tone="bad">{error}</Notice>}
      {mode !== "view" && !readOnly() && (
        <div class="actions end-actions">
          {!isNew && <Button onClick={() => { fill(item, "view"); setModeState("view"); onTouched?.(false); }}>Discard</Button>}
          <Button kind="primary" onClick={review}>{isNew ? "Create…" : "Save…"}</Button>
        </div>
      )}
      {saving && <SaveDialog table={table} before={isNew ? null : item} after={saving} onClose={() => setSaving(null)} onTheirs={(theirs) => { setSaving(null); fill(theirs, mode); loaded.reload(); onTouched?.(false); }}
        onSaved={() => { setSaving(null); onTouched?.(false); setModeState("view"); loaded.reload(); onSaved(JSON.stringify(keyOf(saving, keys))); }} />}
      {deleting && <Confirm title="Delete the item" action="Delete" onClose={() => setDeleting(false)} run={async () => {
        await call("DeleteItem", { TableName: name, Key: keyOf(item, keys) });
        toast("The item is deleted", "good", { text: "Undo", run: () => void call("PutItem", { TableName: name, Item: item }).then(() => toast("The item is back")) });
        onGone();
      }}><p>The item with the key <code>{at.slice(0, 300)}</code> is deleted.</p></Confirm>}
    </div>
  );
}

// Shows what changes, and writes only that; nothing is written if somebody else changed the same attributes.
function SaveDialog({ table, before, after, onClose, onSaved, onTheirs }: { table: TableDescription; before: Item | null; after: Item; onClose: () => void; onSaved: () => void; onTheirs: (theirs: Item) => void }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [theirs, setTheirs] = useState<Item | null>(null);
  const keys = table.KeySchema.map((key) => key.AttributeName);
  const changes = changesOf(before ?? {}, after);
  const request = (guarded: boolean): [string, object] => {
    const holders = new Placeholders();
    const pk = holders.name(keys[0]!);
    if (!before) return ["PutItem", { TableName: table.TableName, Item: after, ConditionExpression: `attribute_not_exists(${pk})`, ExpressionAttributeNames: holders.names }];
    const sets: string[] = [];
    const removes: string[] = [];
    const conditions = [`attribute_exists(${pk})`];
    for (const one of changes) {
      const path = holders.name(one.name);
      if (one.after) sets.push(`${path} = ${holders.value(one.after)}`);
      else removes.push(path);
      if (guarded) conditions.push(one.before ? `${path} = ${holders.value(one.before)}` : `attribute_not_exists(${path})`);
    }
    return ["UpdateItem", holders.addTo({
      TableName: table.TableName, Key: keyOf(before, keys), UpdateExpression: `${sets.length ? `SET ${sets.join(", ")}` : ""}${removes.length ? ` REMOVE ${removes.join(", ")}` : ""}`.trim(),
      ConditionExpression: conditions.join(" AND "), ReturnValuesOnConditionCheckFailure: "ALL_OLD",
    })];
  };
  const save = async (guarded: boolean) => {
    setBusy(true);
    setError(null);
    try {
      const [operation, body] = request(guarded);
      await call(operation, body);
      toast(before ? "The item is saved" : "The item is created");
      onSaved();
    } catch (problem) {
      setBusy(false);
      if (problem instanceof ApiError && problem.type === "ConditionalCheckFailedException") {
        if (before && problem.body.Item) setTheirs(problem.body.Item);
        else setError(before ? "The item was deleted in the meantime." : "There is an item with this key. Nothing is written.");
      } else setError(messageOf(problem));
    }
  };
  return (
    <Dialog title={before ? `Save ${count(changes.length)} change${changes.length === 1 ? "" : "s"}` : "Create the item"} onClose={onClose} actions={<>
      <Button onClick={onClose}>Back</Button>
      {theirs ? <><Button onClick={() => onTheirs(theirs)}>Take theirs</Button><Button kind="danger" disabled={busy} onClick={() => void save(false)}>Save mine over it</Button></>
        : <Button kind="primary" data-first disabled={busy || !changes.length} onClick={() => void save(true)}>{busy ? "Saving…" : before ? "Save" : "Create"}</Button>}
    </>}>
      {theirs ? <>
        <Notice tone="warn">Somebody has changed this item since you read it. Nothing is written. This is what they changed:</Notice>
        <Diff before={before!} after={theirs} />
        <h3>And this is what you change</h3>
      </> : before && <p class="hint">Only these attributes are written, on the condition that nobody has changed them since they were read.</p>}
      <Diff before={before ?? {}} after={after} />
      {error && <Notice tone="bad">{error}</Notice>}
    </Dialog>
  );
}

import { useEffect, useState } from "preact/hooks";
import { call, describeTable, describeTtl, listTags, messageOf } from "../../api/client";
import type { IndexDescription, Tag, TableDescription } from "../../api/types";
import { Confirm, Dialog } from "../../components/dialog";
import { toast } from "../../components/toast";
import { Badge, Button, CopyButton, Notice, Select, Spinner, Text } from "../../components/ui";
import { bytes, count, when } from "../../lib/format";
import { go } from "../../router";
import { readOnly, useLoad, useTitle } from "../../state";
import { TablePage } from "../table_nav";
import { definitions, designOf, type IndexDesign, indexRequest, newIndex, requestOf, streamViews } from "./design";
import { AsCode, IndexFields } from "./parts";
import { DeleteTable, PurgeTable } from "./remove";

export function TableSettingsPage({ table: name }: { table: string }) {
  useTitle(`${name}: settings`);
  const loaded = useLoad((stop) => describeTable(name, stop), [name]);
  const ttl = useLoad(() => describeTtl(name), [name]);
  const [removing, setRemoving] = useState<"delete" | "purge" | null>(null);
  const table = loaded.data;
  const tags = useLoad(async () => (table?.TableArn ? await listTags(table.TableArn) : []), [table?.TableArn]);
  const unsettled = table && (table.TableStatus !== "ACTIVE" || (table.GlobalSecondaryIndexes ?? []).some((one) => one.IndexStatus !== "ACTIVE" || one.Backfilling));
  useEffect(() => {
    if (!unsettled) return;
    const timer = setTimeout(loaded.reload, 500);
    return () => clearTimeout(timer);
  }, [loaded.data]);

  return (
    <TablePage table={name} actions={!readOnly() && <>
      <Button icon="copy" onClick={() => go(`/new-table?from=${encodeURIComponent(name)}`)}>Copy the table</Button>
      <Button icon="trash" onClick={() => setRemoving("purge")}>Purge</Button>
      <Button icon="trash" onClick={() => setRemoving("delete")}>Delete</Button>
    </>}>
      {loaded.error && <Notice tone="bad">{loaded.error}</Notice>}
      {!table && loaded.loading && <Spinner />}
      {table && (
        <>
          <Indexes table={table} reload={loaded.reload} />
          <div class="cards">
            <Overview table={table} />
            <section class="card" aria-label="Stream, time to live, protection">
              <Stream table={table} reload={loaded.reload} />
              <hr />
              <Ttl name={name} attribute={ttl.data?.AttributeName ?? ""} status={ttl.data?.TimeToLiveStatus ?? "DISABLED"} reload={ttl.reload} />
              <hr />
              <Protection table={table} reload={loaded.reload} />
            </section>
            {table.TableArn && <Tags arn={table.TableArn} tags={tags.data ?? []} reload={tags.reload} />}
          </div>
          <section class="stack" aria-label="The table as code">
            <h2>Create it elsewhere</h2>
            <AsCode request={requestOf(designOf(table, "", tags.data ?? []))} ttl={ttl.data?.AttributeName ?? ""} />
          </section>
        </>
      )}
      {removing === "delete" && <DeleteTable name={name} onClose={() => setRemoving(null)} />}
      {removing === "purge" && <PurgeTable name={name} onClose={() => { setRemoving(null); loaded.reload(); }} />}
    </TablePage>
  );
}

function Overview({ table }: { table: TableDescription }) {
  const key = (role: string) => table.KeySchema.find((one) => one.KeyType === role)?.AttributeName;
  const type = (name: string) => table.AttributeDefinitions.find((one) => one.AttributeName === name)?.AttributeType;
  return (
    <section class="card" aria-label="Overview">
      <header><h2>Overview</h2><Badge tone={table.TableStatus === "ACTIVE" ? "good" : "warn"}>{table.TableStatus.toLowerCase()}</Badge></header>
      <dl class="facts">
        <dt>Partition key</dt><dd><code>{key("HASH")}</code> <span class="muted">{type(key("HASH")!)}</span></dd>
        <dt>Sort key</dt><dd>{key("RANGE") ? <><code>{key("RANGE")}</code> <span class="muted">{type(key("RANGE")!)}</span></> : <span class="muted">none</span>}</dd>
        <dt>Items</dt><dd>{count(table.ItemCount ?? 0)}</dd>
        <dt>Size</dt><dd>{bytes(table.TableSizeBytes ?? 0)}</dd>
        {table.CreationDateTime !== undefined && <><dt>Created</dt><dd>{when(table.CreationDateTime)} UTC</dd></>}
        <dt>Billing</dt><dd>{(table.BillingModeSummary?.BillingMode ?? "PROVISIONED").toLowerCase().replaceAll("_", " ")}</dd>
        {table.TableArn && <><dt>ARN</dt><dd class="row nowrap"><code>{table.TableArn}</code><CopyButton text={table.TableArn} label="Copy the ARN" /></dd></>}
      </dl>
    </section>
  );
}

function Indexes({ table, reload }: { table: TableDescription; reload: () => void }) {
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<string | null>(null);
  const rows: [IndexDescription, "global" | "local"][] = [
    ...(table.GlobalSecondaryIndexes ?? []).map((one): [IndexDescription, "global"] => [one, "global"]),
    ...(table.LocalSecondaryIndexes ?? []).map((one): [IndexDescription, "local"] => [one, "local"]),
  ];
  return (
    <section class="stack" aria-label="Indexes">
      <div class="row spread"><h2>Indexes</h2>{!readOnly() && <Button icon="plus" onClick={() => setAdding(true)}>Add an index</Button>}</div>
      {!rows.length ? <p class="muted">The table has no indexes. An index finds items by other attributes than the key, and is filled in the background when it is added.</p> : (
        <div class="table-box" tabIndex={0} role="region" aria-label="List of indexes">
          <table class="plain">
            <thead><tr><th>Name</th><th>Kind</th><th>Partition key</th><th>Sort key</th><th>Projection</th><th class="right">Items</th><th class="right">Size</th><th>Status</th><th class="tight"><span class="sr">Actions</span></th></tr></thead>
            <tbody>
              {rows.map(([index, kind]) => (
                <tr key={index.IndexName} data-index={index.IndexName}>
                  <td class="strong">{index.IndexName}</td><td>{kind}</td>
                  <td><code>{index.KeySchema.filter((one) => one.KeyType === "HASH").map((one) => one.AttributeName).join(", ")}</code></td>
                  <td><code>{index.KeySchema.filter((one) => one.KeyType === "RANGE").map((one) => one.AttributeName).join(", ")}</code></td>
                  <td>{index.Projection?.ProjectionType === "INCLUDE" ? <span class="clip" title={(index.Projection.NonKeyAttributes ?? []).join(", ")}>{(index.Projection.NonKeyAttributes ?? []).join(", ")}</span> : (index.Projection?.ProjectionType ?? "ALL").toLowerCase().replaceAll("_", " ")}</td>
                  <td class="right">{count(index.ItemCount ?? 0)}</td><td class="right">{bytes(index.IndexSizeBytes ?? 0)}</td>
                  <td><IndexStatus index={index} table={table} /></td>
                  <td class="tight">{kind === "global" && !readOnly() && <Button kind="quiet" icon="trash" label={`Remove the index ${index.IndexName}`} onClick={() => setRemoving(index.IndexName)} />}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {adding && <AddIndex table={table} onClose={() => setAdding(false)} reload={reload} />}
      {removing && (
        <Confirm title={`Remove ${removing}`} action="Remove the index" typed={removing} onClose={() => setRemoving(null)} run={async () => {
          await call("UpdateTable", { TableName: table.TableName, GlobalSecondaryIndexUpdates: [{ Delete: { IndexName: removing } }] });
          reload();
        }}><p>Queries of the index fail from now on. The items stay in the table.</p></Confirm>
      )}
    </section>
  );
}
function IndexStatus({ index, table }: { index: IndexDescription; table: TableDescription }) {
  const status = index.IndexStatus ?? "ACTIVE";
  if (!index.Backfilling) return <Badge tone={status === "ACTIVE" ? "good" : "warn"}>{status.toLowerCase()}</Badge>;
  const part = table.ItemCount ? Math.min(1, (index.ItemCount ?? 0) / table.ItemCount) : 0;
  return <span class="row"><Badge tone="warn">filling</Badge><span class="progress wide-progress" role="progressbar" aria-label={`Filling ${index.IndexName}`} aria-valuemin={0} aria-valuemax={100} aria-valuenow={Math.round(part * 100)}><span style={{ width: `${part * 100}%` }} /></span></span>;
}

function AddIndex({ table, onClose, reload }: { table: TableDescription; onClose: () => void; reload: () => void }) {
  const [index, setIndex] = useState<IndexDesign>(newIndex((table.GlobalSecondaryIndexes?.length ?? 0) + 1));
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const add = async () => {
    setBusy(true);
    try {
      const known = designOf(table);
      await call("UpdateTable", {
        TableName: table.TableName,
        AttributeDefinitions: definitions(known.pk, known.sk, ...known.indexes.flatMap((one) => [one.pk, one.sk]), index.pk, index.sk),
        GlobalSecondaryIndexUpdates: [{ Create: indexRequest(index, known.pk) }],
      });
      toast(`${index.name} is being filled`);
      reload();
      onClose();
    } catch (problem) {
      setError(messageOf(problem));
      setBusy(false);
    }
  };
  return (
    <Dialog title="Add an index" onClose={onClose} actions={<><Button onClick={onClose}>Cancel</Button><Button kind="primary" disabled={busy} onClick={() => void add()}>Add the index</Button></>}>
      <IndexFields value={index} onValue={setIndex} local={false} />
      <p class="hint">The index is filled with the {count(table.ItemCount ?? 0)} items of the table in the background; its status shows how far it is.</p>
      {error && <Notice tone="bad">{error}</Notice>}
    </Dialog>
  );
}

// A setting with a button that applies it and says what went wrong.
function Setting({ title, state, children, action, run }: { title: string; state: preact.ComponentChildren; children?: preact.ComponentChildren; action: string; run: () => Promise<unknown> }) {
  const [busy, setBusy] = useState(false);
  const apply = async () => {
    setBusy(true);
    try {
      await run();
      toast("The table is changed");
    } catch (problem) {
      toast(messageOf(problem), "bad");
    }
    setBusy(false);
  };
  return (
    <div class="stack tight-stack">
      <div class="row spread"><h2>{title}</h2>{state}</div>
      <div class="row nowrap">{children}{!readOnly() && <Button disabled={busy} onClick={() => void apply()}>{action}</Button>}</div>
    </div>
  );
}
function Stream({ table, reload }: { table: TableDescription; reload: () => void }) {
  const on = table.StreamSpecification?.StreamEnabled ?? false;
  const [view, setView] = useState<(typeof streamViews)[number]>("NEW_AND_OLD_IMAGES");
  return (
    <Setting title="Stream" state={on ? <Badge tone="good">{(table.StreamSpecification?.StreamViewType ?? "").toLowerCase().replaceAll("_", " ")}</Badge> : <Badge>off</Badge>} action={on ? "Turn off" : "Turn on"}
      run={async () => {
        await call("UpdateTable", { TableName: table.TableName, StreamSpecification: on ? { StreamEnabled: false } : { StreamEnabled: true, StreamViewType: view } });
        reload();
      }}>
      {on ? <span class="muted grow">Changes are kept for 24 hours.</span> : <span class="grow"><Select aria-label="What records of the stream hold" value={view} options={streamViews.map((value) => ({ value, text: value.toLowerCase().replaceAll("_", " ") }))} onValue={setView} /></span>}
    </Setting>
  );
}
function Ttl({ name, attribute, status, reload }: { name: string; attribute: string; status: string; reload: () => void }) {
  const [text, setText] = useState("expires");
  const on = status === "ENABLED" || status === "ENABLING";
  return (
    <Setting title="Time to live" state={<Badge tone={on ? "good" : "plain"}>{on ? attribute : status.toLowerCase()}</Badge>} action={on ? "Turn off" : "Turn on"}
      run={async () => {
        await call("UpdateTimeToLive", { TableName: name, TimeToLiveSpecification: { Enabled: !on, AttributeName: on ? attribute : text } });
        reload();
      }}>
      {on ? <span class="muted grow">Items end at the second that <code>{attribute}</code> says.</span> : <span class="grow"><Text aria-label="Attribute with the second at which an item ends" class="mono" value={text} onValue={setText} /></span>}
    </Setting>
  );
}
function Protection({ table, reload }: { table: TableDescription; reload: () => void }) {
  const on = table.DeletionProtectionEnabled ?? false;
  return (
    <Setting title="Deletion protection" state={<Badge tone={on ? "good" : "plain"}>{on ? "on" : "off"}</Badge>} action={on ? "Turn off" : "Turn on"} run={async () => {
      await call("UpdateTable", { TableName: table.TableName, DeletionProtectionEnabled: !on });
      reload();
    }}><span class="muted grow">{on ? "The table cannot be deleted." : "The table can be deleted."}</span></Setting>
  );
}
function Tags({ arn, tags, reload }: { arn: string; tags: Tag[]; reload: () => void }) {
  const [key, setKey] = useState("");
  const [value, setValue] = useState("");
  const change = async (work: Promise<unknown>) => {
    try {
      await work;
      setKey("");
      setValue("");
      reload();
    } catch (problem) {
      toast(messageOf(problem), "bad");
    }
  };
  return (
    <section class="card" aria-label="Tags">
      <header><h2>Tags</h2></header>
      {!tags.length && <p class="muted">There are no tags.</p>}
      <dl class="facts tags">
        {tags.map((tag) => <><dt key={tag.Key}>{tag.Key}</dt><dd class="row nowrap"><span class="grow">{tag.Value}</span>{!readOnly() && <Button kind="quiet" icon="trash" label={`Remove the tag ${tag.Key}`} onClick={() => void change(call("UntagResource", { ResourceArn: arn, TagKeys: [tag.Key] }))} />}</dd></>)}
      </dl>
      {!readOnly() && (
        <form class="row nowrap" onSubmit={(event) => { event.preventDefault(); void change(call("TagResource", { ResourceArn: arn, Tags: [{ Key: key, Value: value }] })); }}>
          <Text aria-label="Name of the tag" placeholder="name" value={key} onValue={setKey} /><Text aria-label="Value of the tag" placeholder="value" value={value} onValue={setValue} />
          <Button type="submit" disabled={!key}>Add</Button>
        </form>
      )}
    </section>
  );
}

import { useEffect, useRef, useState } from "preact/hooks";
import { call, describeTable, describeTtl, isAbort, listTags, messageOf, request as send } from "../../api/client";
import type { TableDescription, Tag, TimeToLive } from "../../api/types";
import { Editor } from "../../components/editor";
import { toast } from "../../components/toast";
import { Button, Check, Field, Notice, Page, Select, Tabs, Text } from "../../components/ui";
import { type Caller, copyItems, waitUntilActive } from "../../lib/copy";
import { count } from "../../lib/format";
import { go, query, setQuery, tableUrl } from "../../router";
import { info, readOnly, refreshTables, tableNames, useTitle } from "../../state";
import { type CreateTable, type Design, designOf, designOfRequest, emptyDesign, newIndex, problems, requestOf, streamViews } from "./design";
import { AsCode, IndexFields, KeyField } from "./parts";

// Another endpoint is read by the server: this page talks to nobody else.
interface Remote {
  endpoint: string;
  region: string;
  accessKeyId: string;
  secretAccessKey: string;
}
const remoteCaller = (remote: Remote): Caller => (operation, body, stop) => send("POST", `/console/remote/${operation}`, { ...remote, request: body }, stop);

export function CreateTablePage() {
  const from = query.value.get("from") ?? "";
  const mode = query.value.get("mode") === "json" ? "json" : "form";
  useTitle(from ? `Copy ${from}` : "Create a table");
  const [design, setDesign] = useState<Design>(emptyDesign);
  const [text, setText] = useState<string | null>(null);
  const [items, setItems] = useState(true);
  const [tried, setTried] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const [progress, setProgress] = useState<string | null>(null);
  const [reader, setReader] = useState<{ read: Caller; table: string } | null>(null);
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);

  const take = async (read: Caller, name: string) => {
    const { Table } = await read<{ Table: TableDescription }>("DescribeTable", { TableName: name });
    const ttl = await read<{ TimeToLiveDescription?: TimeToLive }>("DescribeTimeToLive", { TableName: name }).then((one) => one.TimeToLiveDescription?.AttributeName ?? "", () => "");
    setReader({ read, table: name });
    return { Table, ttl };
  };
  useEffect(() => {
    if (!from) return;
    void (async () => {
      const table = await describeTable(from);
      const ttl = await describeTtl(from).then((one) => one.AttributeName ?? "", () => "");
      const tags: Tag[] = table.TableArn ? await listTags(table.TableArn).catch(() => []) : [];
      setReader({ read: call as Caller, table: from });
      setDesign({ ...designOf(table, ttl, tags), name: freeName(from), protect: false });
    })().catch((problem) => setError(messageOf(problem)));
  }, [from]);

  let fromText: CreateTable | null = null;
  let textError: string | null = null;
  if (mode === "json" && text !== null) {
    try {
      fromText = JSON.parse(text) as CreateTable;
    } catch (problem) {
      textError = messageOf(problem);
    }
  }
  const request = fromText ?? requestOf(design);
  const wrong = mode === "form" ? problems(design, tableNames.value ?? []) : {};
  const change = (part: Partial<Design>) => setDesign({ ...design, ...part });
  const switchTo = (next: "form" | "json") => {
    if (next === "json") setText(JSON.stringify(requestOf(design), null, 2));
    else if (fromText) {
      setDesign({ ...designOfRequest(fromText), ttl: design.ttl });
      setText(null);
    }
    setQuery({ mode: next === "json" ? "json" : null }, { replace: true });
  };
  const create = async () => {
    setTried(true);
    setError(null);
    if (Object.keys(wrong).length || textError) return;
    try {
      setProgress("Creating the table");
      await call("CreateTable", request);
      const name = request.TableName;
      await waitUntilActive(name, stop.current.signal);
      if (design.ttl) await call("UpdateTimeToLive", { TableName: name, TimeToLiveSpecification: { Enabled: true, AttributeName: design.ttl } });
      if (reader && items) {
        const copied = await copyItems(reader.read, reader.table, name, (n) => setProgress(`${count(n)} items are copied`), stop.current.signal);
        toast(`${name} is a copy of ${reader.table}: ${count(copied)} items`);
      } else toast(`${name} is created`);
      await refreshTables();
      go(tableUrl(name, "/items"));
    } catch (problem) {
      if (isAbort(problem)) setError("The copy was stopped. The items that were copied until then are in the new table.");
      else setError(messageOf(problem));
      await refreshTables().catch(() => {});
    }
    setProgress(null);
    stop.current = new AbortController();
  };

  return (
    <Page title={reader ? `Copy ${reader.table}` : "Create a table"} crumbs={<span><a href="/tables">Tables</a></span>}
      tabs={<Tabs label="How to describe the table" value={mode} onValue={switchTo} tabs={[{ value: "form", text: "Form" }, { value: "json", text: "JSON" }]} />}>
      {readOnly() && <Notice tone="warn">This console only reads. It cannot create a table.</Notice>}
      <div class="split">
        <form class="stack" onSubmit={(event) => { event.preventDefault(); void create(); }}>
          {mode === "form" ? (
            <>
              <div class="form">
                <Field label="Table name" wide error={(tried || design.name) && wrong.name ? wrong.name : null}>{(id) => <Text id={id} class="mono" value={design.name} autofocus onValue={(name) => change({ name })} />}</Field>
                <KeyField label="Partition key" value={design.pk} error={wrong.pk} onValue={(pk) => change({ pk })} />
                <KeyField label="Sort key" optional value={design.sk} error={wrong.sk} onValue={(sk) => change({ sk })} />
              </div>
              <h2>Indexes</h2>
              {design.indexes.map((index, i) => (
                <IndexFields key={i} local value={index} error={wrong[`index${i}`]} onValue={(next) => change({ indexes: design.indexes.with(i, next) })}
                  onRemove={() => change({ indexes: design.indexes.filter((_, other) => other !== i) })} />
              ))}
              <div><Button icon="plus" onClick={() => change({ indexes: [...design.indexes, newIndex(design.indexes.length + 1)] })}>Add an index</Button></div>
              <h2>Settings</h2>
              <div class="form">
                <Field label="Stream">{(id) => <Select id={id} value={design.stream} options={[{ value: "", text: "Off" }, ...streamViews.map((value) => ({ value, text: value.toLowerCase().replaceAll("_", " ") }))]} onValue={(stream) => change({ stream })} />}</Field>
                <Field label="Time to live" hint="A number with the second at which an item ends">{(id) => <Text id={id} class="mono" value={design.ttl} placeholder="none" onValue={(ttl) => change({ ttl })} />}</Field>
                <Field label="Tags" hint="name=value, with commas">{(id) => <TagsText id={id} value={design.tags} onValue={(tags) => change({ tags })} />}</Field>
              </div>
              <Check checked={design.protect} onValue={(protect) => change({ protect })}>Protect the table from being deleted</Check>
            </>
          ) : (
            <>
              <p class="muted">The body of a CreateTable request, as any client would send it.</p>
              <Editor language="json" label="CreateTable request" height="420px" value={text ?? JSON.stringify(requestOf(design), null, 2)} onValue={setText} onRun={() => void create()} />
              {textError && <Notice tone="bad">{textError}</Notice>}
            </>
          )}
          {reader && <Check checked={items} onValue={setItems}>Copy the items of {reader.table}, too</Check>}
          {error && <Notice tone="bad">{error}</Notice>}
          {progress && <Notice><div class="row spread"><span>{progress}</span><Button icon="stop" onClick={() => stop.current.abort()}>Stop</Button></div></Notice>}
          <div class="actions">
            <Button type="submit" kind="primary" disabled={progress !== null || readOnly()}>{reader ? "Copy the table" : "Create the table"}</Button>
          </div>
          {!from && <FromElsewhere onTake={async (remote, name) => {
            const { Table, ttl } = await take(remoteCaller(remote), name);
            setDesign({ ...designOf(Table, ttl), name: freeName(name), protect: false });
          }} />}
        </form>
        <section class="stack" aria-label="The same as a command">
          <h2>The same elsewhere</h2>
          <AsCode request={request} ttl={design.ttl} />
        </section>
      </div>
    </Page>
  );
}

function freeName(name: string) {
  const taken = new Set(tableNames.peek() ?? []);
  if (!taken.has(name)) return name;
  for (let n = 1; ; n++) if (!taken.has(`${name}-copy${n > 1 ? n : ""}`)) return `${name}-copy${n > 1 ? n : ""}`;
}

function TagsText({ id, value, onValue }: { id: string; value: Tag[]; onValue: (tags: Tag[]) => void }) {
  const print = (tags: Tag[]) => tags.map((tag) => `${tag.Key}=${tag.Value}`).join(", ");
  const [text, setText] = useState(print(value));
  useEffect(() => setText(print(value)), [print(value) === "" ? "" : print(value)]);
  return <Text id={id} value={text} placeholder="none" onValue={setText} onBlur={() => onValue(text.split(",").filter((one) => one.trim()).map((one) => {
    const [Key = "", ...rest] = one.split("=");
    return { Key: Key.trim(), Value: rest.join("=").trim() };
  }))} />;
}

async function namesOf(read: Caller): Promise<string[]> {
  const names: string[] = [];
  let after: string | undefined;
  do {
    const page: { TableNames: string[]; LastEvaluatedTableName?: string } = await read("ListTables", after ? { ExclusiveStartTableName: after } : {});
    names.push(...page.TableNames);
    after = page.LastEvaluatedTableName;
  } while (after);
  return names;
}

function FromElsewhere({ onTake }: { onTake: (remote: Remote, table: string) => Promise<void> }) {
  const [remote, setRemote] = useState<Remote>({ endpoint: "", region: "us-east-1", accessKeyId: "", secretAccessKey: "" });
  const [tables, setTables] = useState<string[] | null>(null);
  const [error, setError] = useState<string | null>(null);
  if (!info.value?.features.remote) return null;
  const field = (name: keyof Remote, label: string, type = "text", placeholder = "") => (
    <Field label={label}>{(id) => <Text id={id} type={type} placeholder={placeholder} value={remote[name]} onValue={(value) => setRemote({ ...remote, [name]: value })} />}</Field>
  );
  const attempt = async (work: () => Promise<void>) => {
    setError(null);
    try {
      await work();
    } catch (problem) {
      setError(messageOf(problem));
    }
  };
  return (
    <details class="card">
      <summary>Copy a table from another endpoint</summary>
      <div class="form">
        {field("endpoint", "Endpoint", "text", "http://localhost:8000")}
        {field("region", "Region")}
        {field("accessKeyId", "Access key")}
        {field("secretAccessKey", "Secret access key", "password")}
      </div>
      <div class="row after-form">
        <Button disabled={!remote.endpoint} onClick={() => void attempt(async () => setTables(await namesOf(remoteCaller(remote))))}>List its tables</Button>
        {tables && !tables.length && <span class="muted">It has no tables.</span>}
        {tables?.map((name) => <Button key={name} icon="copy" onClick={() => void attempt(() => onTake(remote, name))}>{name}</Button>)}
      </div>
      {error && <Notice tone="bad">{error}</Notice>}
    </details>
  );
}

// The changes of a table as its stream tells them: what was, and what is.
import { useMemo, useState } from "preact/hooks";
import { call, messageOf } from "../../api/client";
import type { AttributeValue, Item } from "../../api/types";
import { Cell, Safe } from "../../components/value";
import { Badge, Button, CopyButton, Empty, LinkButton, Notice, Page, Select, Spinner, Text } from "../../components/ui";
import { plural, when } from "../../lib/format";
import { usePoll } from "../../lib/poll";
import { same, short } from "../../lib/values";
import { query, setQuery, tableUrl } from "../../router";
import { useLoad, useTitle } from "../../state";
import { type From, type StreamRecord, Tail } from "./tail";

interface Listed {
  StreamArn: string;
  TableName: string;
  StreamLabel: string;
}
async function listStreams(stop: AbortSignal): Promise<Listed[]> {
  const found: Listed[] = [];
  let last: string | undefined;
  do {
    const page = await call<{ Streams?: Listed[]; LastEvaluatedStreamArn?: string }>("ListStreams", last ? { ExclusiveStartStreamArn: last } : {}, stop);
    found.push(...(page.Streams ?? []));
    last = page.LastEvaluatedStreamArn;
  } while (last);
  return found;
}
const streamUrl = (table: string) => `/streams/${encodeURIComponent(table)}`;

export function StreamsPage() {
  useTitle("Streams");
  const { data, error } = useLoad(listStreams, []);
  const tables = [...new Set(data?.map((one) => one.TableName))].sort();
  return (
    <Page title="Streams">
      {error && <Notice tone="bad">{error}</Notice>}
      {!data && !error && <Spinner />}
      {data && !tables.length && (
        <Empty icon="stream" title="No table has a stream" actions={<LinkButton kind="primary" href="/tables">Tables</LinkButton>}>
          <p>A stream tells every change of a table for 24 hours: the old item, the new one, or both. Turn it on in the settings of a table.</p>
        </Empty>
      )}
      {tables.length > 0 && (
        <div class="table-box" tabIndex={0} role="group" aria-label="Streams">
          <table class="plain">
            <thead><tr><th>Table</th><th>Since</th><th class="tight"><span class="sr">Settings</span></th></tr></thead>
            <tbody>{tables.map((name) => {
              const newest = data!.filter((one) => one.TableName === name).map((one) => one.StreamLabel).sort().at(-1)!;
              return <tr key={name}><td><a class="strong" href={streamUrl(name)}>{name}</a></td><td class="muted">{newest.replace("T", " ").slice(0, 19)}</td><td class="tight"><LinkButton href={tableUrl(name)}>Settings</LinkButton></td></tr>;
            })}</tbody>
          </table>
        </div>
      )}
    </Page>
  );
}

const most = 1000;
const tones = { INSERT: "good", MODIFY: "accent", REMOVE: "bad" } as const;
const words = { INSERT: "insert", MODIFY: "modify", REMOVE: "remove" } as const;

export function StreamPage({ table }: { table: string }) {
  useTitle(`${table} · Streams`);
  const stream = useLoad(async (stop) => (await listStreams(stop)).filter((one) => one.TableName === table).sort((a, b) => (a.StreamLabel < b.StreamLabel ? 1 : -1))[0] ?? null, [table]);
  return (
    <Page title={table} crumbs={<a href="/streams">Streams</a>} actions={<LinkButton icon="items" href={tableUrl(table, "/items")}>Items</LinkButton>}>
      {stream.error && <Notice tone="bad">{stream.error}</Notice>}
      {stream.loading && !stream.data && <Spinner />}
      {stream.data === null && <Empty icon="stream" title="This table has no stream" actions={<LinkButton kind="primary" href={tableUrl(table)}>Settings of the table</LinkButton>}>Turn its stream on to see every change here.</Empty>}
      {stream.data && <Changes arn={stream.data.StreamArn} />}
    </Page>
  );
}

function Changes({ arn }: { arn: string }) {
  const asked = query.value;
  const start = asked.get("from") ?? "start";
  const kind = asked.get("kind") ?? "";
  const find = asked.get("find") ?? "";
  const paused = asked.get("paused") === "1";
  const [sequence, setSequence] = useState(/^\d+$/.test(start) ? start : "");
  const [error, setError] = useState<string | null>(null);
  const [read, setRead] = useState(false);
  const from: From = start === "now" || start === "start" ? start : { sequence: start };
  const wrong = typeof from === "object" && !/^\d{1,40}$/.test(from.sequence);
  const tail = useMemo(() => new Tail(arn, from), [arn, start]);
  const [records, setRecords] = useState<{ of: Tail; all: StreamRecord[] }>({ of: tail, all: [] });
  const all = records.of === tail ? records.all : [];
  usePoll(async (stop) => {
    const next = await tail.next(stop);
    setRead(true);
    setError(null);
    if (next.length || records.of !== tail) setRecords((old) => ({ of: tail, all: [...next.reverse(), ...(old.of === tail ? old.all : [])].slice(0, most) }));
  }, paused || wrong ? 0 : 1000, [tail], (problem) => setError(messageOf(problem)));
  const shown = all.filter((one) => (!kind || one.eventName === kind) && (!find || JSON.stringify(one).toLowerCase().includes(find.toLowerCase())));
  const set = (changes: Record<string, string | null>) => setQuery(changes, { replace: true });
  return (
    <div class="stack">
      <div class="row" role="group" aria-label="Filter">
        <Select aria-label="From" value={typeof from === "object" ? "sequence" : from} onValue={(value) => setQuery({ from: value === "sequence" ? sequence || "0" : value })}
          options={[{ value: "start", text: "From the beginning" }, { value: "now", text: "From now on" }, { value: "sequence", text: "From a sequence number" }]} />
        {typeof from === "object" && <div class="find"><Text value={sequence} onValue={(text) => { setSequence(text); set({ from: text || "0" }); }} placeholder="Sequence number" aria-label="Sequence number" aria-invalid={wrong} /></div>}
        <Select aria-label="Kind of change" value={kind} onValue={(value) => set({ kind: value })} options={[{ value: "", text: "Every change" }, { value: "INSERT", text: "Inserts" }, { value: "MODIFY", text: "Modifications" }, { value: "REMOVE", text: "Removals" }]} />
        <div class="find"><Text value={find} onValue={(text) => set({ find: text })} placeholder="Find in changes" aria-label="Find in changes" data-find /></div>
        <Button icon={paused ? "play" : "stop"} aria-pressed={paused} onClick={() => set({ paused: paused ? null : "1" })}>{paused ? "Go on" : "Pause"}</Button>
        <span class="muted" role="status">{plural(shown.length, "change")}{shown.length < all.length ? ` of ${all.length}` : ""}{all.length >= most ? ", the newest" : ""}</span>
      </div>
      {error && <Notice tone="bad">{error}</Notice>}
      {wrong && <Notice tone="warn">A sequence number is made of digits.</Notice>}
      {!all.length && !error && !wrong && (read ? <Empty icon="stream" title="No change yet">Every write to the table appears here within a second. A stream keeps changes for 24 hours.</Empty> : <Spinner text="Reading" />)}
      <ol class="changes">{shown.slice(0, 200).map((one) => <Change key={one.eventID} record={one} />)}</ol>
      {shown.length > 200 && <p class="hint">{shown.length - 200} more: filter to see them.</p>}
    </div>
  );
}

function Change({ record }: { record: StreamRecord }) {
  const { Keys, NewImage, OldImage, SequenceNumber, ApproximateCreationDateTime } = record.dynamodb;
  const [all, setAll] = useState(false);
  const names = [...new Set([...Object.keys(Keys), ...Object.keys(OldImage ?? {}), ...Object.keys(NewImage ?? {})])];
  const changed = names.filter((name) => !Object.hasOwn(Keys, name) && !same(OldImage?.[name], NewImage?.[name]));
  const both = OldImage !== undefined && NewImage !== undefined;
  const shown = all ? names : both ? changed : names.filter((name) => !Object.hasOwn(Keys, name)).slice(0, 6);
  const expired = record.userIdentity?.PrincipalId === "dynamodb.amazonaws.com";
  return (
    <li class="card change">
      <header>
        <span class="row">
          <Badge tone={tones[record.eventName]}>{words[record.eventName]}</Badge>
          {expired && <Badge title="Its time to live had passed">expired</Badge>}
          {Object.entries(Keys).map(([name, value]) => <span key={name} class="key-pair"><span class="muted">{name}</span> <code><Safe text={short(value)} /></code></span>)}
        </span>
        <span class="row muted"><span>{ApproximateCreationDateTime ? when(ApproximateCreationDateTime) : ""}</span><button type="button" class="link" title="Show the stream from here" onClick={() => setQuery({ from: SequenceNumber })}>{SequenceNumber.slice(-12)}</button><CopyButton text={() => JSON.stringify(record, null, 2)} label="Copy the record" /></span>
      </header>
      {(OldImage || NewImage) && (
        <div class="table-box" tabIndex={0} role="group" aria-label="Images">
          <table class="plain compact images">
            <thead><tr><th>Attribute</th>{OldImage && <th>Old</th>}{NewImage && <th>New</th>}</tr></thead>
            <tbody>
              {shown.map((name) => (
                <tr key={name} class={changed.includes(name) && both ? "changed" : ""}>
                  <td><code><Safe text={name} /></code></td>
                  {OldImage && <td class="old"><Side image={OldImage} name={name} /></td>}
                  {NewImage && <td class="new"><Side image={NewImage} name={name} /></td>}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
      {!OldImage && !NewImage && <p class="hint">This stream tells keys only.</p>}
      {(all || names.length > shown.length) && <div class="row"><Button kind="quiet" onClick={() => setAll(!all)}>{all ? "Show less" : `Show all ${names.length} attributes`}</Button></div>}
    </li>
  );
}
const Side = ({ image, name }: { image: Item; name: string }) => (Object.hasOwn(image, name) ? <Cell value={image[name] as AttributeValue} /> : <span class="muted">absent</span>);

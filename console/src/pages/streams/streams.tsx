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
import { type From, readFrom, type Round, type StreamRecord, Tail } from "./tail";

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

type Start = "start" | "now" | "time" | "at" | "after";
const starts: readonly { value: Start; text: string }[] = [
  { value: "start", text: "From the oldest change" },
  { value: "now", text: "From now on" },
  { value: "time", text: "From a time" },
  { value: "at", text: "From a sequence number" },
  { value: "after", text: "After a sequence number" },
];
const startOf = (from: From): Start => (typeof from === "string" ? from : "time" in from ? "time" : from.after ? "after" : "at");
const hour = 3_600_000;
const utc = (milliseconds: number) => new Date(milliseconds).toISOString().slice(0, 19);

interface Seen {
  of: Tail;
  all: StreamRecord[];
  skipped: number;
  at: number | null; // the time of the last record that was read
  first: number | null; // and of the first
  behind: boolean;
}
const nothing = (of: Tail): Seen => ({ of, all: [], skipped: 0, at: null, first: null, behind: true });
const after = (old: Seen, round: Round): Seen => ({
  ...old,
  all: [...round.records.reverse(), ...old.all].slice(0, most),
  skipped: old.skipped + round.skipped,
  at: round.at ?? old.at,
  first: old.first ?? round.at,
  behind: round.behind,
});

function Changes({ arn }: { arn: string }) {
  const asked = query.value;
  const text = asked.get("from") ?? "start";
  const kind = asked.get("kind") ?? "";
  const find = asked.get("find") ?? "";
  const paused = asked.get("paused") === "1";
  const from = readFrom(text);
  const start = startOf(from);
  const sequence = typeof from === "object" && "sequence" in from ? from.sequence : "";
  const [error, setError] = useState<string | null>(null);
  const wrong = typeof from === "string" ? null
    : "time" in from ? (Number.isNaN(from.time) ? "Give a date and a time." : null)
    : /^\d{1,40}$/.test(from.sequence) ? null : "A sequence number is made of digits.";
  const tail = useMemo(() => new Tail(arn, from), [arn, text]);
  const [read, setRead] = useState<Seen>(nothing(tail));
  const seen = read.of === tail ? read : nothing(tail);
  usePoll(async (stop) => {
    for (let behind = true; behind && !stop.aborted; ) {
      const round = await tail.next(stop);
      behind = round.behind;
      setError(null);
      setRead((old) => after(old.of === tail ? old : nothing(tail), round));
    }
  }, paused || wrong ? 0 : 1000, [tail], (problem) => setError(messageOf(problem)));
  const matches = (one: StreamRecord) => (!kind || one.eventName === kind) && (!find || JSON.stringify(one).toLowerCase().includes(find.toLowerCase()));
  const shown = seen.all.filter(matches);
  const set = (changes: Record<string, string | null>) => setQuery(changes, { replace: true });
  const setStart = (value: Start) => {
    const number = sequence || seen.all[0]?.dynamodb.SequenceNumber || "";
    const texts = { start: null, now: "now", time: `time:${utc(Date.now() - hour)}`, at: `at:${number}`, after: `after:${number}` };
    setQuery({ from: texts[value], paused: null });
  };
  return (
    <div class="stack">
      <div class="row" role="group" aria-label="Filter">
        <Select aria-label="From" value={start} onValue={setStart} options={starts} />
        {(start === "at" || start === "after") && (
          <div class="find"><Text value={sequence} onValue={(value) => set({ from: `${start}:${value}` })} placeholder="Sequence number" aria-label="Sequence number" aria-invalid={wrong !== null} /></div>
        )}
        {start === "time" && (
          <label class="moment">
            <input type="datetime-local" step="1" aria-label="Time (UTC)" value={text.slice(5)} aria-invalid={wrong !== null}
              onChange={(event) => set({ from: `time:${event.currentTarget.value}`, paused: null })} />
            <span class="muted">UTC</span>
          </label>
        )}
        <Select aria-label="Kind of change" value={kind} onValue={(value) => set({ kind: value })} options={kinds} />
        <div class="find"><Text value={find} onValue={(value) => set({ find: value })} placeholder="Find in changes" aria-label="Find in changes" data-find /></div>
        <Button icon={paused ? "play" : "stop"} aria-pressed={paused} onClick={() => set({ paused: paused ? null : "1" })}>{paused ? "Go on" : "Pause"}</Button>
        <span class="muted" role="status">{plural(shown.length, "change")}{shown.length < seen.all.length ? ` of ${seen.all.length}` : ""}{seen.all.length >= most ? ", the newest" : ""}</span>
      </div>
      {error && <Notice tone="bad">{error}</Notice>}
      {wrong && <Notice tone="warn">{wrong}</Notice>}
      {!wrong && !error && typeof from === "object" && "time" in from && <Skipping seen={seen} time={from.time} paused={paused} onStop={() => set({ paused: "1" })} />}
      {!seen.all.length && !error && !wrong && !paused && (seen.behind
        ? start !== "time" && <Spinner text="Reading" />
        : <Empty icon="stream" title={start === "time" ? "No change since then" : "No change yet"}>Every write to the table appears here within a second. A stream keeps changes for 24 hours.</Empty>)}
      <ol class="changes">{shown.slice(0, 200).map((one) => <Change key={one.eventID} record={one} />)}</ol>
      {shown.length > 200 && <p class="hint">{shown.length - 200} more: filter to see them.</p>}
    </div>
  );
}
const kinds = [
  { value: "", text: "Every change" },
  { value: "INSERT", text: "Inserts" },
  { value: "MODIFY", text: "Modifications" },
  { value: "REMOVE", text: "Removals" },
];

// A stream cannot be asked for a time: it is read from its oldest record, and what is older is left out.
function Skipping({ seen, time, paused, onStop }: { seen: Seen; time: number; paused: boolean; onStop: () => void }) {
  const arrived = !seen.behind || (seen.at !== null && seen.at >= time);
  const first = seen.first ?? time;
  const share = arrived ? 1 : seen.at === null || time <= first ? 0 : (seen.at - first) / (time - first);
  if (arrived) return seen.skipped ? <p class="hint" data-skipped={seen.skipped}>{plural(seen.skipped, "older change")} left out.</p> : null;
  return (
    <Notice>
      <div class="stack">
        <div class="row spread">
          <span>{paused ? "Stopped on the way to that time" : "Reading on to that time"}: {plural(seen.skipped, "older change")} left out{seen.at !== null && `, now at ${when(seen.at)}`}</span>
          {!paused && <Button icon="stop" onClick={onStop}>Stop</Button>}
        </div>
        <div class="progress" role="progressbar" aria-label="How far the stream is read" aria-valuenow={Math.round(100 * share)} aria-valuemin={0} aria-valuemax={100}>
          <span style={{ width: `${100 * share}%` }} />
        </div>
      </div>
    </Notice>
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
        <span class="row muted"><span class="time" title="UTC">{ApproximateCreationDateTime ? when(ApproximateCreationDateTime) : ""}</span><button type="button" class="link" title="Show the stream from here" onClick={() => setQuery({ from: `at:${SequenceNumber}` })}>{SequenceNumber.slice(-12)}</button><CopyButton text={() => JSON.stringify(record, null, 2)} label="Copy the record" /></span>
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

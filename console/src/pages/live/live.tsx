// The requests of the server as they come, its numbers over time, and its hottest partitions.
import { signal } from "@preact/signals";
import { useRef, useState } from "preact/hooks";
import { ApiError, messageOf } from "../../api/client";
import { live, type LiveRequest, type Numbers } from "../../api/live";
import { type Column, Grid } from "../../components/grid";
import { Badge, Button, Check, Empty, Notice, Page, Select, Spinner, Tabs, Text } from "../../components/ui";
import { Safe } from "../../components/value";
import { bytes, count, plural, units } from "../../lib/format";
import { usePoll } from "../../lib/poll";
import { query, setQuery, tableUrl } from "../../router";
import { useTitle } from "../../state";
import { Charts } from "./charts";
import { RequestDetails } from "./request";
import { StoreState } from "./store";
import { type Sample, sampleOf } from "./samples";

const most = 2000;
const columns: Column[] = [
  { id: "at", title: "Time", width: 104 },
  { id: "operation", title: "Operation", width: 150 },
  { id: "table", title: "Table", width: 170 },
  { id: "partition", title: "Partition", width: 200 },
  { id: "status", title: "Status", width: 225 },
  { id: "took", title: "Took", width: 80, align: "right" },
  { id: "capacity", title: "Units", width: 70, align: "right" },
  { id: "in", title: "In", width: 70, align: "right" },
  { id: "out", title: "Out", width: 70, align: "right" },
];

// Kept while the page is open, so that another tab and back loses nothing.
const requests = signal<LiveRequest[]>([]);
const dropped = signal(0);
const samples = signal<Sample[]>([]);
const numbers = signal<Numbers | null>(null);
let cursor = 0;

type Tab = "requests" | "charts" | "partitions" | "store";

export function LivePage() {
  useTitle("Live");
  const [error, setError] = useState<string | null>(null);
  const tab = (query.value.get("tab") ?? "requests") as Tab;
  const paused = query.value.get("paused") === "1";
  const last = useRef<Numbers | null>(null);
  const onError = (problem: unknown) => (problem instanceof ApiError && problem.status === 0 ? undefined : setError(messageOf(problem)));
  usePoll(async (stop) => {
    const news = await live.requests(cursor, stop);
    if (news.cursor < cursor) requests.value = []; // another life of the server
    cursor = news.cursor;
    dropped.value += news.dropped;
    if (news.requests.length) requests.value = [...news.requests.reverse(), ...requests.value].slice(0, most);
    setError(null);
  }, paused ? 0 : 1000, [], onError);
  usePoll(async (stop) => {
    const now = await live.numbers(stop);
    numbers.value = now;
    const sample = last.current && sampleOf(last.current, now);
    if (sample) samples.value = [...samples.value.slice(-599), sample];
    last.current = now;
  }, 1000, [], onError);
  return (
    <Page title="Live" fill={tab === "requests"}
      actions={tab === "requests" && <>
        <Button icon={paused ? "play" : "stop"} aria-pressed={paused} onClick={() => setQuery({ paused: paused ? null : "1" }, { replace: true })}>{paused ? "Go on" : "Pause"}</Button>
        <Button onClick={() => { requests.value = []; dropped.value = 0; }}>Clear</Button>
      </>}
      tabs={<Tabs label="Live" value={tab} onValue={(value) => setQuery({ tab: value, open: null })} tabs={[{ value: "requests", text: "Requests" }, { value: "charts", text: "Charts" }, { value: "partitions", text: "Hottest partitions" }, ...(numbers.value?.store || tab === "store" ? [{ value: "store" as const, text: "Store" }] : [])]} />}>
      {error && <Notice tone="bad">{error}</Notice>}
      {tab === "requests" && <RequestList />}
      {tab === "charts" && (samples.value.length ? <Charts samples={samples.value} numbers={numbers.value!} /> : <Spinner text="Waiting for the first second" />)}
      {tab === "partitions" && <Partitions />}
      {tab === "store" && (numbers.value?.store ? <StoreState store={numbers.value.store} /> : <Empty icon="live" title="No database server"><p>This server keeps its data itself.</p></Empty>)}
    </Page>
  );
}

function RequestList() {
  const asked = query.value;
  const find = asked.get("find") ?? "";
  const operation = asked.get("operation") ?? "";
  const slow = Number(asked.get("slow") ?? 0);
  const dear = Number(asked.get("units") ?? 0);
  const failed = asked.get("failed") === "1";
  const all = requests.value;
  const shown = all.filter((one) =>
    (!operation || one.operation === operation) && (!failed || one.error) && (!slow || one.micros >= slow * 1000) && (!dear || (one.capacity ?? 0) >= dear) &&
    (!find || `${one.operation} ${one.table} ${one.partition ?? ""} ${one.error ?? ""} ${one.body ?? ""}`.toLowerCase().includes(find.toLowerCase())));
  const opened = all.find((one) => String(one.id) === asked.get("open"));
  const set = (changes: Record<string, string | null>) => setQuery(changes, { replace: true });
  return (
    <>
      <div class="row" role="group" aria-label="Filter">
        <div class="find"><Text value={find} onValue={(text) => set({ find: text })} placeholder="Find in requests" aria-label="Find in requests" data-find /></div>
        <Select aria-label="Operation" value={operation} onValue={(value) => set({ operation: value })} options={[{ value: "", text: "Every operation" }, ...[...new Set(all.map((one) => one.operation))].sort().map((value) => ({ value, text: value }))]} />
        <Select aria-label="Time" value={String(slow)} onValue={(value) => set({ slow: value === "0" ? null : value })} options={[{ value: "0", text: "Any time" }, { value: "1", text: "1 ms and more" }, { value: "10", text: "10 ms and more" }, { value: "100", text: "100 ms and more" }, { value: "1000", text: "1 s and more" }]} />
        <Select aria-label="Capacity" value={String(dear)} onValue={(value) => set({ units: value === "0" ? null : value })} options={[{ value: "0", text: "Any capacity" }, { value: "1", text: "1 unit and more" }, { value: "5", text: "5 units and more" }, { value: "25", text: "25 units and more" }]} />
        <Check checked={failed} onValue={(on) => set({ failed: on ? "1" : null })}>only errors</Check>
      </div>
      {!all.length ? (
        <Empty icon="live" title="Waiting for requests">
          <p>Requests to the DynamoDB API and those of the systems appear here as they come. They are recorded only while somebody looks; headers never are.</p>
        </Empty>
      ) : (
        <Grid label="Requests" columns={columns} count={shown.length} rowKey={(i) => String(shown[i]!.id)} rowClass={(i) => (shown[i]!.error ? "failed" : "")}
          onOpen={(i) => setQuery({ open: String(shown[i]!.id) })} cell={(i, column) => <Cell request={shown[i]!} column={column.id} />}
          footer={<>{plural(shown.length, "request")}{shown.length < all.length && ` of ${count(all.length)}`}{dropped.value > 0 && `, ${count(dropped.value)} came too fast to be shown`}</>} />
      )}
      {opened && <RequestDetails request={opened} onClose={() => setQuery({ open: null })} />}
    </>
  );
}

export const took = (micros: number) => (micros < 1000 ? `${micros} µs` : micros < 100_000 ? `${(micros / 1000).toFixed(1)} ms` : micros < 1_000_000 ? `${Math.round(micros / 1000)} ms` : `${(micros / 1e6).toFixed(1)} s`);
function Cell({ request, column }: { request: LiveRequest; column: string }) {
  switch (column) {
    case "at": return <code>{request.at.slice(11, 23)}</code>;
    case "operation": return <span class="strong clip">{request.operation}</span>;
    case "table": return <span class="clip"><Safe text={request.table} /></span>;
    case "partition": return request.partition === null ? null : <code class="clip"><Safe text={request.partition.slice(0, 200)} /></code>;
    case "status": return request.error ? <Badge tone={request.status >= 500 ? "bad" : "warn"} title={request.error}>{request.error}</Badge> : <span class="muted">{request.status}</span>;
    case "took": return <span class={request.micros >= 100_000 ? "bad-text" : request.micros >= 10_000 ? "warn-text" : ""}>{took(request.micros)}</span>;
    case "capacity": return request.capacity === null ? <span class="muted" title="Not an operation on items">–</span> : <span>{units(request.capacity)}</span>;
    case "in": return <span>{bytes(request.requestBytes)}</span>;
    case "out": return <span>{bytes(request.responseBytes)}</span>;
    default: return null;
  }
}

function Partitions() {
  const hottest = numbers.value?.hottest ?? [];
  const top = hottest[0]?.requests ?? 1;
  if (!hottest.length) {
    return (
      <Empty icon="live" title="No partition was asked for yet">
        <p>While this page is open, the server counts which partitions requests are about. A partition that gets much more than the others limits how far a table scales.</p>
      </Empty>
    );
  }
  return (
    <div class="table-box" tabIndex={0} role="group" aria-label="Hottest partitions">
      <table class="plain">
        <thead><tr><th>Table</th><th>Partition</th><th class="right">Requests</th><th class="share">Against the first</th></tr></thead>
        <tbody>
          {hottest.map((one) => (
            <tr key={`${one.table} ${one.partition}`}>
              <td><a href={tableUrl(one.table, "/items")}><Safe text={one.table} /></a></td>
              <td><code><Safe text={one.partition} /></code></td>
              <td class="right">{count(one.requests)}</td>
              <td class="share"><div class="progress"><span style={{ width: `${(100 * one.requests) / top}%` }} /></div></td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

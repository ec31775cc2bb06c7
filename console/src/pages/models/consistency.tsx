// The consistency manager of a model: how far it is, what it could not do, and whether the table is what the rules say.
import { useState } from "preact/hooks";
import { describeTable, messageOf } from "../../api/client";
import { type Consistency as State, models } from "../../api/models";
import { Confirm } from "../../components/dialog";
import { toast } from "../../components/toast";
import { Badge, Button, Code, Notice, Spinner } from "../../components/ui";
import { Safe } from "../../components/value";
import { count, plural } from "../../lib/format";
import { usePoll } from "../../lib/poll";
import { readOnly, useLoad } from "../../state";

const lag = (ms: number) => (ms < 1000 ? `${ms} ms` : ms < 120_000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`);

export function Consistency({ name, table }: { name: string; table: string }) {
  const [state, setState] = useState<State | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [repairing, setRepairing] = useState(false);
  const [migration, setMigration] = useState<State["migration"]>(null); // the last that was seen
  const running = state?.verify.busy ?? false;
  const load = async (stop?: AbortSignal) => {
    const now = await models.consistency(name, stop);
    setState(now);
    if (now.migration) setMigration(now.migration);
    setError(null);
  };
  usePoll(load, running || state?.migration ? 500 : 2000, [name], (problem) => setError(messageOf(problem)));
  const verify = async (repair: boolean) => {
    try {
      await models.verify(name, repair);
      await load();
    } catch (problem) {
      toast(messageOf(problem), "bad");
    }
  };
  if (!state) return error ? <Notice tone="bad">{error}</Notice> : <Spinner />;
  return (
    <div class="stack">
      {error && <Notice tone="bad">{error}</Notice>}
      <div class="cards">
        <Manager state={state} />
        <section class="card" aria-label="Verification">
          <header><h2>Verification</h2>{state.verify.state !== "idle" && <Badge tone={state.verify.state === "running" ? "accent" : state.verify.found > state.verify.repaired ? "bad" : "good"}>{state.verify.state === "running" ? "running" : state.verify.found > state.verify.repaired ? "differences" : "as it should be"}</Badge>}</header>
          <p class="muted">Compares every row of {table} with the rules of the model: copies, counters, reservations, keys, and rows whose parent is gone. Others may write at the same time.</p>
          {state.verify.state !== "idle" && (
            <p>{plural(state.verify.checked, "row")} looked at, {plural(state.verify.found, "difference")}, {count(state.verify.repaired)} repaired{state.verify.pending > 0 && `, ${count(state.verify.pending)} pending`}</p>
          )}
          {state.verify.problem && <Notice tone="warn">{state.verify.problem}</Notice>}
          <div class="row">
            <Button icon="check" kind="primary" disabled={running} onClick={() => void verify(false)}>Verify</Button>
            <Button disabled={running || readOnly()} onClick={() => setRepairing(true)}>Verify and repair</Button>
            {running && <Spinner text="Verifying" />}
          </div>
        </section>
      </div>
      {migration && <Migration migration={state.migration ?? migration} table={table} over={!state.migration} />}
      {state.verify.findings.length > 0 && <Differences findings={state.verify.findings} />}
      <Parked name={name} state={state} onDone={() => void load().catch(() => {})} />
      {state.shards.length > 0 && <Shards shards={state.shards} />}
      {repairing && (
        <Confirm title={`Repair ${table}`} action="Repair" onClose={() => setRepairing(false)} run={() => verify(true)}>
          <p>Rows that differ from the rules are rewritten. A repair is written only if the rows that it was computed from have not changed.</p>
        </Confirm>
      )}
    </div>
  );
}

function Manager({ state }: { state: State }) {
  if (!state.needed) return <section class="card" aria-label="Consistency manager"><header><h2>Consistency manager</h2><Badge>not needed</Badge></header><p class="muted">The model has no copies, cascades or rows that expire, so nothing has to follow a change.</p></section>;
  return (
    <section class="card" aria-label="Consistency manager">
      <header><h2>Consistency manager</h2><Badge tone={!state.running || state.problem ? "bad" : state.held || state.verifying ? "warn" : "good"}>{!state.running ? "stopped" : state.held ? "held by a migration" : state.verifying ? "verifying" : "running"}</Badge></header>
      <dl class="facts">
        <dt>Lag</dt><dd>{lag(state.lagMs)}</dd>
        <dt>Changes waiting</dt><dd>{count(state.waiting ?? 0)}</dd>
        <dt>Propagated since the start</dt><dd>{count(state.propagated ?? 0)}</dd>
        <dt>Repaired since the start</dt><dd>{count(state.repaired ?? 0)}</dd>
        <dt>Parked</dt><dd>{count(state.parkedCount)}</dd>
      </dl>
      {state.problem && <Notice tone="warn">{state.problem}</Notice>}
    </section>
  );
}

// `over`: it was there when the server was asked before, and is not any more.
function Migration({ migration, table, over }: { migration: NonNullable<State["migration"]>; table: string; over: boolean }) {
  const rows = useLoad(async (stop) => (await describeTable(table, stop)).ItemCount ?? 0, [table, migration.step]).data ?? 0;
  const { step, steps } = migration;
  const share = over ? 1 : (step + (rows ? Math.min(1, migration.rows / rows) : 0)) / Math.max(1, steps.length);
  return (
    <section class="card" aria-label="Migration">
      <header><h2>Migration</h2><Badge tone={over ? "good" : "accent"}>{over ? "ended" : `step ${step + 1} of ${steps.length}`}</Badge></header>
      <div class="progress" role="progressbar" aria-label="Progress of the migration" aria-valuenow={Math.round(100 * share)} aria-valuemin={0} aria-valuemax={100}>
        <span style={{ width: `${100 * share}%` }} />
      </div>
      <ol class="steps">{steps.map((one, i) => (
        <li key={i} class={over || i < step ? "muted" : ""} aria-current={!over && i === step ? "step" : undefined}>
          {one} {over || i < step ? <Badge tone="good">done</Badge> : i === step && <Badge tone="accent">{plural(migration.rows, "row")} read{rows ? ` of ${count(rows)}` : ""}</Badge>}
        </li>
      ))}</ol>
      {over
        ? <p class="hint">Begun {dateOf(migration.since)}. Serve the new model now: the server still has the old one.</p>
        : <p class="hint">Begun {dateOf(migration.since)}. If it was interrupted, the same command continues it.</p>}
    </section>
  );
}
const dateOf = (text: string) => `${text.slice(0, 19).replace("T", " ")} UTC`;

function Differences({ findings }: { findings: State["verify"]["findings"] }) {
  return (
    <section class="stack" aria-label="Differences">
      <h2>Differences</h2>
      <div class="table-box" tabIndex={0} role="group" aria-label="Differences">
        <table class="plain compact">
          <thead><tr><th>Kind</th><th>Entity</th><th>Key</th><th>What</th><th>Expected</th><th>Found</th><th>State</th></tr></thead>
          <tbody>
            {findings.map((one, i) => (
              <tr key={i}>
                <td>{one.kind}</td><td>{one.entity}</td><td><code><Safe text={one.key} /></code></td><td><Safe text={one.what} /></td>
                <td><code><Safe text={one.expected || "nothing"} /></code></td><td><code><Safe text={one.found || "nothing"} /></code></td>
                <td>{one.state !== "found" ? <Badge tone={one.state === "repaired" ? "good" : "plain"}>{one.state}</Badge> : !one.repairable ? <Badge tone="warn">a person decides</Badge> : <Badge tone="bad">found</Badge>}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function Parked({ name, state, onDone }: { name: string; state: State; onDone: () => void }) {
  const [busy, setBusy] = useState<string | null>(null);
  if (!state.needed) return null;
  const replay = async (id: string) => {
    setBusy(id);
    try {
      await models.replay(name, id);
      toast("The change was propagated");
    } catch (problem) {
      toast(messageOf(problem), "bad");
    }
    setBusy(null);
    onDone();
  };
  return (
    <section class="stack" aria-label="Parked changes">
      <h2>Parked changes</h2>
      {!state.parked.length && <p class="muted">None. A change that fails again and again would be set aside here, to be looked at and replayed.</p>}
      {state.parked.map((one) => (
        <section class="card" key={one.id} aria-label={`Parked change ${one.sequence}`}>
          <header><code class="clip">{one.sequence}</code><Button icon="refresh" disabled={busy !== null || readOnly()} onClick={() => void replay(one.id)}>{busy === one.id ? "Replaying…" : "Replay"}</Button></header>
          <p>{one.reason}</p>
          <p class="hint">Parked {dateOf(one.at)} after {plural(one.attempts, "attempt")}</p>
          <details><summary>Record</summary><Code text={typeof one.record === "string" ? one.record : JSON.stringify(one.record, null, 2)} label="record" /></details>
        </section>
      ))}
    </section>
  );
}

const Shards = ({ shards }: { shards: State["shards"] }) => (
  <section class="stack" aria-label="Shards">
    <h2>Shards of the stream</h2>
    <div class="table-box" tabIndex={0} role="group" aria-label="Shards">
      <table class="plain compact">
        <thead><tr><th>Shard</th><th>Read by</th><th>Checkpoint</th><th class="right">Read up to</th></tr></thead>
        <tbody>{shards.map((one) => <tr key={one.id}><td><code>{one.id}</code></td><td>{one.done ? <span class="muted">read to its end</span> : one.owner || <span class="muted">nobody</span>}</td><td><code>{one.checkpoint ?? ""}</code></td><td class="right">{one.done ? "" : `${lag(one.lagMs)} ago`}</td></tr>)}</tbody>
      </table>
    </div>
  </section>
);

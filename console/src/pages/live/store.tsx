import type { StoreServer } from "../../api/live";
import { Badge } from "../../components/ui";
import { Safe } from "../../components/value";
import { count } from "../../lib/format";
import { took } from "./live";

const purposes: Record<string, string> = {
  read: "values at keys", snapshot: "beginning a snapshot", page: "reading in a snapshot",
  lock: "first half of a commit: locks and checks", write: "second half of a commit", other: "connecting, pings",
};

// The database server that keeps the data, and what this server asked of it since its start.
export function StoreState({ store }: { store: StoreServer }) {
  return (
    <>
      <dl class="facts">
        <dt>Host</dt><dd><Safe text={store.host} /></dd>
        <dt>State</dt><dd>{store.reachable ? <Badge tone="good">reachable</Badge> : <Badge tone="bad">unreachable</Badge>} since {store.since.slice(0, 19).replace("T", " ")} UTC</dd>
        <dt>Round trip</dt><dd>{took(store.roundTripMicros)}</dd>
        <dt>Connections</dt><dd>{count(store.connectionsUsed)} in use, {count(store.connections)} open, at most {count(store.mostConnections)}</dd>
        <dt>Epoch</dt><dd>{count(store.epoch)}</dd>
        <dt>Conflicts</dt><dd>{count(store.conflicts)}</dd>
        <dt>Retries</dt><dd>{count(store.retries)}</dd>
        <dt>Waited for locks</dt><dd>{took(store.lockWaitMicros)}</dd>
      </dl>
      <div class="table-box" tabIndex={0} role="group" aria-label="Statements">
        <table class="plain">
          <thead><tr><th>Statements</th><th>For</th><th class="right">Round trips</th><th class="right">Statements</th><th class="right">Rows</th><th class="right">Time of each</th></tr></thead>
          <tbody>{store.statements.map((one) => (
            <tr key={one.kind}>
              <td>{one.kind}</td><td>{purposes[one.kind]}</td>
              <td class="right">{count(one.roundTrips)}</td><td class="right">{count(one.statements)}</td><td class="right">{count(one.rows)}</td>
              <td class="right">{one.roundTrips ? took(Math.round(one.micros / one.roundTrips)) : "–"}</td>
            </tr>))}</tbody>
        </table>
      </div>
    </>
  );
}

import { useState } from "preact/hooks";
import { call, messageOf } from "../../api/client";
import type { LiveRequest } from "../../api/live";
import { Confirm, Dialog } from "../../components/dialog";
import { Badge, Button, Code, Notice } from "../../components/ui";
import { Safe } from "../../components/value";
import { bytes, units } from "../../lib/format";
import { readOnly } from "../../state";
import { took } from "./live";

const reads = /^(Get|BatchGet|TransactGet|Query|Scan|Describe|List)/;
const pretty = (text: string) => {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
};

// One request, and the same again: a write only after a question.
export function RequestDetails({ request, onClose }: { request: LiveRequest; onClose: () => void }) {
  const [answer, setAnswer] = useState<string | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [asking, setAsking] = useState(false);
  const replay = async () => {
    try {
      setAnswer(JSON.stringify(await call(request.operation, JSON.parse(request.body!) as object), null, 2));
      setError(null);
    } catch (problem) {
      setAnswer(null);
      setError(messageOf(problem));
    }
  };
  const harmless = reads.test(request.operation);
  const possible = request.body !== undefined && !request.cut && (harmless || !readOnly());
  return (
    <>
      <Dialog title={`${request.operation}${request.table ? ` of ${request.table}` : ""}`} size="large" onClose={onClose}
        actions={<><Button onClick={onClose}>Close</Button><Button kind="primary" icon="refresh" disabled={!possible} onClick={() => (harmless ? void replay() : setAsking(true))}>Replay</Button></>}>
        <dl class="facts">
          <dt>Time</dt><dd>{request.at}</dd>
          <dt>Status</dt><dd>{request.status} {request.error && <Badge tone="warn">{request.error}</Badge>}</dd>
          <dt>Took</dt><dd>{took(request.micros)}</dd>
          <dt>Capacity</dt><dd>{request.capacity === null ? "none" : `${units(request.capacity)} units`}</dd>
          {request.partition !== null && <><dt>Partition</dt><dd><code><Safe text={request.partition} /></code></dd></>}
          <dt>Size</dt><dd>{bytes(request.requestBytes)} in, {bytes(request.responseBytes)} out</dd>
        </dl>
        {request.body === undefined ? <Notice>Bodies are shown only to a session that may write.</Notice> : <Code text={pretty(request.body)} label="request" />}
        {request.cut && <p class="hint">The body is longer. Only its beginning was recorded, so it cannot be replayed.</p>}
        {error && <Notice tone="bad">{error}</Notice>}
        {answer !== null && <><h3>Answer of the replay</h3><Code text={answer} label="answer" /></>}
      </Dialog>
      {asking && (
        <Confirm title={`Replay ${request.operation}`} action="Replay" onClose={() => setAsking(false)} run={replay}>
          <p>This request changes data, and changes it again.</p>
        </Confirm>
      )}
    </>
  );
}

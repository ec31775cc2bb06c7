import { useMemo, useRef, useState } from "preact/hooks";
import { call, isAbort, messageOf } from "../../api/client";
import { models, type ModelView, type RunAnswer, type TracedCall } from "../../api/models";
import type { PageOfItems } from "../../api/types";
import { Editor } from "../../components/editor";
import { Safe } from "../../components/value";
import { Badge, Button, Code, Empty, Field, Notice, Select, Spinner, Tabs, Text } from "../../components/ui";
import { plural, units } from "../../lib/format";
import { isObject, type Json, parse, print } from "../../lib/json";
import { query, setQuery } from "../../router";
import { info, readOnly, useLoad } from "../../state";
import { filled, type Operation, operationsOf } from "./operations";

const millis = (micros: number) => `${micros < 10_000 ? (micros / 1000).toFixed(1) : Math.round(micros / 1000)} ms`;

export function Run({ model }: { model: ModelView }) {
  const operations = useMemo(() => operationsOf(model), [model]);
  const [find, setFind] = useState("");
  const chosen = operations.find((one) => one.id === query.value.get("op"));
  const shown = operations.filter((one) => `${one.group} ${one.name} ${one.path}`.toLowerCase().includes(find.toLowerCase()));
  const groups = [...new Set(shown.map((one) => one.group))];
  return (
    <div class="run">
      <nav class="run-list" aria-label="What can be run">
        <Text value={find} onValue={setFind} placeholder="Find a pattern or an action" aria-label="Find a pattern or an action" data-find />
        <div class="scroll">
          {groups.map((group) => (
            <section key={group} aria-label={group}>
              <h2>{group}</h2>
              {shown.filter((one) => one.group === group).map((one) => (
                <button type="button" key={one.id} class="run-entry" aria-pressed={one === chosen} onClick={() => setQuery({ op: one.id })}>
                  <Method method={one.method} /><span class="clip">{one.name}</span>
                </button>
              ))}
            </section>
          ))}
          {!shown.length && <p class="hint">Nothing has this name.</p>}
        </div>
      </nav>
      {chosen ? <Form key={chosen.id} model={model} operation={chosen} /> : (
        <Empty icon="play" title="Choose what to run">
          <p>Each pattern and action runs as a user of your choice. You see the answer, the requests of the DynamoDB API that it became, and what they cost.</p>
        </Empty>
      )}
    </div>
  );
}
const Method = ({ method }: { method: string }) => <span class={`method ${method.toLowerCase()}`}>{method}</span>;

// Users who own something, from the first rows of the table.
async function usersOf(model: ModelView, stop: AbortSignal) {
  const owners = new Map(model.entities.filter((one) => one.owner).map((one) => [one.name, one.owner!]));
  const { Items = [] } = await call<PageOfItems>("Scan", { TableName: model.table.name, Limit: 300 }, stop);
  const found = new Map<string, number>();
  for (const item of Items) {
    const type = item[model.table.typeAttribute];
    const owner = type && "S" in type ? owners.get(type.S) : undefined;
    const user = owner ? item[owner] : undefined;
    if (user && "S" in user) found.set(user.S, (found.get(user.S) ?? 0) + 1);
  }
  return [...found].sort((a, b) => b[1] - a[1]).slice(0, 20).map(([user]) => user);
}

function Form({ model, operation }: { model: ModelView; operation: Operation }) {
  const impersonate = info.value?.features.impersonate ?? false;
  const users = useLoad((stop) => usersOf(model, stop), [model.table.name]);
  const subject = query.value.get("as") ?? (impersonate ? users.data?.[0] ?? "" : "");
  const roles = query.value.get("roles") ?? "";
  const values = Object.fromEntries(operation.parameters.map((one) => [one.name, query.value.get(`p.${one.name}`) ?? ""]));
  const [body, setBody] = useState(operation.body ?? "");
  const [answer, setAnswer] = useState<RunAnswer | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const running = useRef<AbortController | null>(null);
  const path = filled(operation.path, values);
  const writes = operation.method !== "GET";
  const missing = operation.parameters.filter((one) => one.required && !values[one.name]);

  const run = async () => {
    if (path === null || busy) return;
    running.current?.abort();
    const controller = (running.current = new AbortController());
    setBusy(true);
    setError(null);
    try {
      const asked = operation.parameters.filter((one) => one.in === "query" && values[one.name]);
      const claims = roles ? { claims: { roles: roles.split(",").map((one) => one.trim()).filter(Boolean) } } : {};
      setAnswer(await models.run(model.name, {
        method: operation.method, path, query: Object.fromEntries(asked.map((one) => [one.name, values[one.name]!])),
        body: operation.body === null ? null : body, contentType: operation.contentType,
        as: impersonate && subject ? { subject, ...claims } : null,
      }, controller.signal));
    } catch (problem) {
      if (!isAbort(problem)) setError(messageOf(problem));
    }
    setBusy(false);
  };
  return (
    <div class="stack run-form">
      <div class="row"><Method method={operation.method} /><code class="strong">{operation.path}</code></div>
      {operation.description && operation.group !== operation.description.split(" ")[1] && <p class="muted">{operation.description}</p>}
      {operation.steps.length > 0 && (
        <details><summary>{plural(operation.steps.length, "step")} in one transaction</summary><ol class="steps">{operation.steps.map((one, i) => <li key={i}>{one.replaceAll("`", "")}</li>)}</ol></details>
      )}
      <form class="stack" onSubmit={(event) => { event.preventDefault(); void run(); }}>
        <div class="form">
          {impersonate ? (
            <>
              <Field label="As the user" hint={operation.access ? `For: ${operation.access}` : "Empty: nobody"}>
                {(id) => <><Text id={id} list={`${id}-users`} value={subject} onValue={(text) => setQuery({ as: text }, { replace: true })} /><datalist id={`${id}-users`}>{users.data?.map((one) => <option key={one} value={one} />)}</datalist></>}
              </Field>
              <Field label="With the roles" hint="Separated by commas">{(id) => <Text id={id} value={roles} onValue={(text) => setQuery({ roles: text }, { replace: true })} />}</Field>
            </>
          ) : <Notice tone="warn">This server does not let its console act as a user, so requests run as nobody.</Notice>}
          {operation.parameters.map((one) => (
            <Field key={one.name} label={`${one.name}${one.required ? "" : " (optional)"}`} hint={one.description || one.type}>
              {(id) => one.values ? (
                <Select id={id} value={values[one.name]!} options={[{ value: "", text: one.required ? "Choose" : "Any" }, ...one.values.map((value) => ({ value, text: value }))]} onValue={(value) => setQuery({ [`p.${one.name}`]: value }, { replace: true })} />
              ) : <Text id={id} value={values[one.name]!} onValue={(value) => setQuery({ [`p.${one.name}`]: value }, { replace: true })} />}
            </Field>
          ))}
        </div>
        {operation.body !== null && (operation.contentType === "application/json"
          ? <Editor label="Body of the request" language="json" value={body} onValue={setBody} onRun={() => void run()} height="180px" />
          : <Field label={`Body (${operation.contentType})`}>{(id) => <textarea id={id} rows={8} value={body} onInput={(event) => setBody(event.currentTarget.value)} />}</Field>)}
        <div class="row">
          <Button type="submit" kind="primary" icon="play" disabled={path === null || missing.length > 0 || busy || (writes && readOnly())}>{busy ? "Running…" : "Run"}</Button>
          {busy && <Button icon="stop" onClick={() => running.current?.abort()}>Stop</Button>}
          {missing.length > 0 && <span class="muted">{missing.map((one) => one.name).join(", ")} {missing.length === 1 ? "is" : "are"} missing</span>}
          {writes && readOnly() && <span class="muted">The console is read-only.</span>}
        </div>
      </form>
      {error && <Notice tone="bad">{error}</Notice>}
      {busy && !answer && <Spinner text="Running" />}
      {answer && <Answer answer={answer} />}
    </div>
  );
}

function Answer({ answer }: { answer: RunAnswer }) {
  const shown = (query.value.get("answer") ?? "rows") as "rows" | "body" | "requests";
  const json = useMemo((): Json | undefined => {
    try {
      return parse(answer.text);
    } catch {
      return undefined;
    }
  }, [answer]);
  const rows = isObject(json) && Array.isArray(json.items) ? json.items.filter(isObject) : undefined;
  const capacity = answer.requests.reduce((sum, one) => sum + (one.capacity ?? 0), 0);
  const bodyText = json === undefined ? answer.text : print(json, 2);
  return (
    <section class="stack" aria-label="Answer">
      <div class="row">
        <Badge tone={answer.status < 300 ? "good" : answer.status < 500 ? "warn" : "bad"}>{answer.status}</Badge>
        <span>{millis(answer.micros)}</span><span class="muted">·</span>
        <span>{plural(answer.requests.length, "request")}</span><span class="muted">·</span>
        <span>{units(capacity)} capacity units</span>
        {answer.headers.Location && <><span class="muted">·</span><code class="clip">{answer.headers.Location}</code></>}
      </div>
      <Tabs label="Parts of the answer" value={shown} onValue={(value) => setQuery({ answer: value }, { replace: true })}
        tabs={[{ value: "rows", text: rows ? `Rows (${rows.length})` : "Answer" }, { value: "body", text: "Body" }, { value: "requests", text: `Requests (${answer.requests.length})` }]} />
      {shown === "rows" && (rows ? <Rows rows={rows} more={isObject(json) && typeof json.nextToken === "string" ? json.nextToken : null} /> : bodyText ? <Code text={bodyText} label="answer" /> : <p class="muted">The answer has no body.</p>)}
      {shown === "body" && (bodyText ? <Code text={bodyText} label="body" /> : <p class="muted">The answer has no body.</p>)}
      {shown === "requests" && <Requests requests={answer.requests} leftOut={answer.leftOut} />}
    </section>
  );
}

function Rows({ rows, more }: { rows: { [name: string]: Json }[]; more: string | null }) {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  if (!rows.length) return <p class="muted">The answer has no rows.</p>;
  return (
    <>
      <div class="table-box rows" tabIndex={0} role="group" aria-label="Rows">
        <table class="plain compact">
          <thead><tr>{names.map((name) => <th key={name}><Safe text={name} /></th>)}</tr></thead>
          <tbody>{rows.map((row, i) => <tr key={i}>{names.map((name) => <td key={name}>{row[name] !== undefined && <span class="clip cell-text" title={textOf(row[name]!).slice(0, 500)}><Safe text={textOf(row[name]!).slice(0, 300)} /></span>}</td>)}</tr>)}</tbody>
        </table>
      </div>
      {more && <div class="row"><Button onClick={() => setQuery({ "p.nextToken": more })}>Take the token of the next page</Button></div>}
    </>
  );
}
const textOf = (json: Json) => (typeof json === "string" ? json : print(json));

export function Requests({ requests, leftOut = 0 }: { requests: TracedCall[]; leftOut?: number }) {
  if (!requests.length) return <p class="muted">No request was necessary.</p>;
  return (
    <ol class="traced">
      {requests.map((one, i) => (
        <li key={i}>
          <details open={requests.length === 1}>
            <summary>
              <span class="strong">{one.operation}</span>
              {one.error && <Badge tone="bad">{one.error}</Badge>}
              <span class="muted">{millis(one.micros)}{one.capacity !== undefined && `, ${units(one.capacity)} units`}</span>
            </summary>
            <div class="pair-of-texts">
              <div class="stack tight-stack"><h3>Request</h3><Code text={JSON.stringify(one.request, null, 2)} label={`request ${i + 1}`} /></div>
              <div class="stack tight-stack"><h3>Answer</h3><Code text={JSON.stringify(one.response, null, 2)} label={`answer ${i + 1}`} /></div>
            </div>
          </details>
        </li>
      ))}
      {leftOut > 0 && <li class="muted">{plural(leftOut, "further request")} not shown</li>}
    </ol>
  );
}

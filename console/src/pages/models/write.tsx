// A model that is being written: the text on the left, what the checker says on the right, at every change.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { isAbort, messageOf } from "../../api/client";
import { type CheckedModel, models, type Plan } from "../../api/models";
import { Editor } from "../../components/editor";
import { Badge, Button, Code, download, Notice, Page, Spinner, Tabs } from "../../components/ui";
import { plural } from "../../lib/format";
import { query, setQuery, withQuery } from "../../router";
import { useTitle } from "../../state";
import { endpoint } from "../tables/parts";
import { Document } from "./document";
import { FindingList } from "./findings";
import { Picture } from "./picture";

type Side = "findings" | "picture" | "document" | "plan";

// `served`: the name of the model that runs, for the plan of a migration to this text; `builtin`: commands know that name.
export function Writing({ source, served, builtin = false }: { source: string; served?: string; builtin?: boolean }) {
  const [text, setText] = useState(source);
  const [checked, setChecked] = useState<CheckedModel | null>(null);
  const [error, setError] = useState<string | null>(null);
  const [line, setLine] = useState<number | undefined>(undefined);
  const side = (query.value.get("side") ?? "findings") as Side;
  useEffect(() => {
    const controller = new AbortController();
    const later = setTimeout(() => {
      models.check(text, controller.signal).then(
        (answer) => {
          setChecked(answer);
          setError(null);
        },
        (problem) => isAbort(problem) || setError(messageOf(problem)),
      );
    }, checked ? 250 : 0);
    return () => {
      clearTimeout(later);
      controller.abort();
    };
  }, [text]);
  const diagnostics = useMemo(() => {
    const starts = [0];
    for (let i = 0; i < text.length; i++) if (text[i] === "\n") starts.push(i + 1);
    return (checked?.findings ?? []).filter((one) => one.line > 0 && one.line <= starts.length).map((one) => {
      const start = starts[one.line - 1]!;
      const end = Math.max(start, (starts[one.line] ?? text.length + 1) - 1);
      return { from: Math.min(end, start + Math.max(0, one.column - 1)), to: end, severity: one.accepted ? ("info" as const) : one.severity, message: one.message };
    });
  }, [checked]);
  const open = checked?.findings.filter((one) => !one.accepted) ?? [];
  const tabs = [
    { value: "findings" as const, text: <>Findings {checked && <Badge tone={open.some((one) => one.severity === "error") ? "bad" : open.length ? "warn" : "good"}>{open.length}</Badge>}</> },
    { value: "picture" as const, text: "Picture" },
    { value: "document" as const, text: "Document" },
    ...(served ? [{ value: "plan" as const, text: "Migration plan" }] : []),
  ];
  const goTo = (to: number) => {
    setLine(undefined);
    setTimeout(() => setLine(to));
  };
  return (
    <div class="writing">
      <div class="stack">
        <Editor label="Model" language="yaml" value={text} onValue={setText} diagnostics={diagnostics} line={line} height="max(420px, calc(100vh - 220px))" />
        <div class="row">
          <Button icon="download" onClick={() => download(`${checked?.model?.name ?? served ?? "model"}.yaml`, text, "application/yaml")}>Download</Button>
          {text !== source && <Button onClick={() => setText(source)}>Undo all changes</Button>}
          <span class="hint">Nothing is changed on the server. Save the file, and serve it with <code>--models</code>.</span>
        </div>
      </div>
      <div class="stack writing-side">
        <Tabs label="What the checker says" tabs={tabs} value={side} onValue={(value) => setQuery({ side: value }, { replace: true })} />
        {error && <Notice tone="bad">{error}</Notice>}
        {!checked && !error && <Spinner text="Checking" />}
        {checked && side === "findings" && (
          <>
            {!checked.findings.length && <Notice tone="good">The design is sound: the checker finds nothing.</Notice>}
            {checked.findings.length > 0 && !open.length && <Notice tone="good">The design is sound: {plural(checked.findings.length, "finding")}, all accepted.</Notice>}
            <FindingList findings={checked.findings} onLine={goTo} />
          </>
        )}
        {checked && side !== "findings" && side !== "plan" && !checked.model && <Notice tone="warn">The text has errors, so there is no model to show. Look at its findings.</Notice>}
        {checked?.model && side === "picture" && <Picture model={checked.model} />}
        {checked?.document && side === "document" && <Document markdown={checked.document} />}
        {served && side === "plan" && <MigrationPlan served={served} builtin={builtin} text={text} changed={text !== source} />}
      </div>
    </div>
  );
}

function MigrationPlan({ served, builtin, text, changed }: { served: string; builtin: boolean; text: string; changed: boolean }) {
  const [plan, setPlan] = useState<Plan | null>(null);
  const [error, setError] = useState<string | null>(null);
  const last = useRef<AbortController | null>(null);
  useEffect(() => {
    const controller = (last.current = new AbortController());
    const later = setTimeout(() => {
      models.plan(served, text, controller.signal).then(
        (answer) => {
          setPlan(answer);
          setError(null);
        },
        (problem) => {
          if (isAbort(problem)) return;
          setPlan(null);
          setError(messageOf(problem));
        },
      );
    }, 250);
    return () => {
      clearTimeout(later);
      controller.abort();
    };
  }, [served, text]);
  if (error) return <Notice tone="warn">{error}</Notice>;
  if (!plan) return <Spinner text="Planning" />;
  return (
    <div class="stack">
      {!changed && <p class="hint">Change the model on the left: here is what has to happen to the table {served} is served from.</p>}
      {plan.obstacles.map((one, i) => <Notice key={i} tone="bad">Not possible: {one}</Notice>)}
      {!plan.steps.length && !plan.obstacles.length && <Notice tone="good">Nothing to do: both models need the same rows.</Notice>}
      {plan.steps.length > 0 && <ol class="steps">{plan.steps.map((one, i) => <li key={i}>{one}</li>)}</ol>}
      {plan.warnings.map((one, i) => <Notice key={i} tone="info">{one}</Notice>)}
      {plan.steps.length > 0 && !plan.obstacles.length && (
        <>
          <p class="hint">
            Save the new model to a file, and run this command; while programs of the old model go on, first with <code>--prepare</code>.{" "}
            <a href={withQuery({ tab: "consistency", side: null })}>Consistency</a> shows its progress.
          </p>
          <Code label="command" text={`stator model migrate ${builtin ? served : "OLD.yaml"} NEW.yaml --endpoint ${endpoint()}`} />
        </>
      )}
    </div>
  );
}

const first = `model: bookshelf
description: Shelves of books.

table:
  name: Bookshelf
  key: [PK, SK]

entities:
  SHELF:
    path: /shelves/{shelfId}
    owner: ownerId
    keys:
      PK: "owner#{ownerId}"
      SK: "shelf#{shelfId}"
    attributes:
      ownerId: string
      shelfId: { type: uuid, generated: uuid }
      name: { type: string, required: true, min: 1, max: 100 }

patterns:
  shelves:
    get: /shelves
    query: { PK: "owner#{me}", SK: { begins_with: "shelf#" } }
    returns: [SHELF]
`;
export function NewModelPage() {
  useTitle("Write a model");
  return (
    <Page title="Write a model" crumbs={<a href="/models">Models</a>}>
      <Writing source={first} />
    </Page>
  );
}

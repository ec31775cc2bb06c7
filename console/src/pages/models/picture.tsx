// The entities of a model, how they hang together, and which index serves which pattern.
import { useEffect, useRef, useState } from "preact/hooks";
import type { Finding, ModelEntity, ModelPattern, ModelView } from "../../api/models";
import { Badge, Button, Check, Notice, Spinner } from "../../components/ui";
import { plural } from "../../lib/format";
import { query, setQuery } from "../../router";
import { FindingList } from "./findings";
import type { Layout } from "./layout";

export const colourOf = (model: ModelView, entity: string) => `var(--e${Math.max(0, model.entities.findIndex((one) => one.name === entity)) % 8})`;

const nodeWidth = 250;
const letter = 6.65; // of 11 px in a monospaced face
const cut = (text: string, width: number) => (text.length * letter <= width ? text : `${text.slice(0, Math.max(1, Math.floor(width / letter) - 1))}…`);

// The key attributes of the table and its indexes, in order.
function keyRows(model: ModelView, entity: ModelEntity) {
  const { table } = model;
  const names = [table.partitionKey, table.sortKey, ...table.indexes.flatMap((index) => [index.partitionKey, index.sortKey])].flatMap((one) => one?.split(", ") ?? []);
  return [...new Set(names)].filter((name) => entity.keys[name]).map((name) => ({ name, templates: entity.keys[name]! }));
}
const keysOf = (model: ModelView, index: string | null) => {
  const one = index ? model.table.indexes.find((other) => other.name === index) : undefined;
  const names = one ? [one.kind === "local" ? model.table.partitionKey : one.partitionKey, one.sortKey] : [model.table.partitionKey, model.table.sortKey];
  return names.flatMap((name) => name?.split(", ") ?? []);
};
const open = (findings: Finding[]) => findings.filter((one) => !one.accepted);

export function Picture({ model }: { model: ModelView }) {
  const [layout, setLayout] = useState<Layout | null>(null);
  const [failed, setFailed] = useState(false);
  const [asked, setZoom] = useState<number | null>(null); // null: as wide as the box, where that can be read
  const box = useRef<HTMLDivElement>(null);
  const fitting = layout && box.current ? Math.min(1, (box.current.clientWidth - 4) / layout.width) : 1;
  const zoom = asked ?? Math.max(0.7, fitting); // small text is not read: rather one scrolls
  const kinds = (query.value.get("lines") ?? "parent").split(",");
  const entityName = query.value.get("entity");
  const patternName = query.value.get("pattern");
  const entity = model.entities.find((one) => one.name === entityName);
  const pattern = model.patterns.find((one) => one.name === patternName);
  const key = kinds.join();
  useEffect(() => {
    let gone = false;
    import("./layout").then(
      ({ layOut }) => {
        if (gone) return;
        setLayout(layOut(model, kinds, (name) => ({ width: nodeWidth, height: 34 + 16 * keyRows(model, model.entities.find((one) => one.name === name)!).length })));
      },
      () => setFailed(true),
    );
    return () => {
      gone = true;
    };
  }, [model, key]);
  const lines = (kind: string, on: boolean) => setQuery({ lines: [...kinds.filter((one) => one !== kind), ...(on ? [kind] : [])].sort().join() || "none" }, { replace: true });
  return (
    <div class="picture">
      <div class="stack" ref={box}>
        <div class="row spread">
          <div class="row lines" role="group" aria-label="Lines">
            <Check checked={kinds.includes("parent")} onValue={(on) => lines("parent", on)}><Line kind="parent" />parents</Check>
            <Check checked={kinds.includes("copy")} onValue={(on) => lines("copy", on)}><Line kind="copy" />copies</Check>
            <Check checked={kinds.includes("count")} onValue={(on) => lines("count", on)}><Line kind="count" />counts and sums</Check>
          </div>
          <div class="row" role="group" aria-label="Size of the picture">
            <Button kind="quiet" onClick={() => setZoom(Math.max(0.4, zoom - 0.2))} label="Smaller">−</Button>
            <Button kind="quiet" onClick={() => setZoom(fitting)} title="Fit to the width">{Math.round(zoom * 100)}%</Button>
            <Button kind="quiet" onClick={() => setZoom(Math.min(2, zoom + 0.2))} label="Larger">+</Button>
          </div>
        </div>
        {failed && <Notice tone="bad">The picture cannot be drawn: its code cannot be loaded. Load the page again.</Notice>}
        {!layout && !failed && <Spinner text="Drawing" />}
        {layout && <Drawing model={model} layout={layout} zoom={zoom} entity={entity} pattern={pattern} />}
      </div>
      <aside class="stack" aria-label="Details">
        {entity ? <EntityDetails model={model} entity={entity} /> : <Indexes model={model} pattern={pattern} />}
      </aside>
    </div>
  );
}

const dashes: Record<string, string | undefined> = { copy: "5 3", count: "2 3" };
const Line = ({ kind }: { kind: string }) => (
  <svg class="line-sample" width="22" height="8" aria-hidden="true"><line x1="0" x2="22" y1="4" y2="4" stroke="currentColor" stroke-width="1.5" stroke-dasharray={dashes[kind]} /></svg>
);

function Drawing({ model, layout, zoom, entity, pattern }: { model: ModelView; layout: Layout; zoom: number; entity: ModelEntity | undefined; pattern: ModelPattern | undefined }) {
  const used = new Set(pattern ? keysOf(model, pattern.index) : []);
  const longest = Math.max(2, ...model.entities.flatMap((one) => Object.keys(one.keys)).map((name) => name.length));
  const named = Math.min(82, Math.ceil(longest * letter)); // the width of the keys' names
  return (
    <div class="drawing" tabIndex={0} role="group" aria-label="Picture of the model">
      <svg width={layout.width * zoom} height={layout.height * zoom} viewBox={`0 0 ${layout.width} ${layout.height}`}>
        <defs>
          <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="arrow" d="M0 0 8 4 0 8z" /></marker>
        </defs>
        {layout.edges.map((edge) => {
          const near = entity && (edge.from === entity.name || edge.to === entity.name);
          return (
            <g key={`${edge.from} ${edge.to} ${edge.kind}`} class={`edge ${near ? "near" : ""}`}>
              <path d={curve(edge.points)} stroke-dasharray={dashes[edge.kind]} marker-end="url(#arrow)" />
              <title>{`${edge.from} → ${edge.to}: ${edge.kind} ${edge.labels.join(", ")}`}</title>
            </g>
          );
        })}
        {layout.nodes.map((node) => {
          const one = model.entities.find((other) => other.name === node.name)!;
          const findings = open(model.findings.filter((finding) => finding.entity === one.name));
          const dim = pattern && !pattern.returns.includes(one.name);
          const select = () => setQuery({ entity: entity === one ? null : one.name, pattern: null });
          return (
            <g key={node.name} class={`node ${entity === one ? "selected" : ""} ${dim ? "dim" : ""}`} transform={`translate(${node.x} ${node.y})`} style={{ color: colourOf(model, one.name) }}
              role="button" tabindex={0} aria-pressed={entity === one}
              onClick={select} onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), select())}>
              <rect class="box" width={node.width} height={node.height} rx="6" />
              <rect class="stripe" width="4" height={node.height} rx="2" />
              <text class="name" x="14" y="20">{cut(one.name, node.width - 70)}</text>
              {findings.length > 0 && (
                <g class={findings.some((finding) => finding.severity === "error") ? "mark bad" : "mark warn"} transform={`translate(${node.width - 34} 8)`}>
                  <rect width="26" height="16" rx="4" /><text x="13" y="12">{findings.length}</text><title>{plural(findings.length, "finding")}</title>
                </g>
              )}
              {keyRows(model, one).map((row, i) => (
                <g key={row.name} class={`key ${used.has(row.name) && !dim ? "used" : ""}`} transform={`translate(14 ${38 + 16 * i})`}>
                  <text class="key-name">{cut(row.name, named)}</text>
                  <text x={named + 8}>{cut(row.templates.join(" or "), node.width - named - 30)}</text>
                  <title>{`${row.name}: ${row.templates.join("\nor ")}`}</title>
                </g>
              ))}
            </g>
          );
        })}
      </svg>
    </div>
  );
}

function curve(points: { x: number; y: number }[]) {
  const [first, ...rest] = points;
  if (!first) return "";
  let path = `M${first.x} ${first.y}`;
  for (let i = 0; i < rest.length - 1; i++) {
    const [a, b] = [rest[i]!, rest[i + 1]!];
    const end = i === rest.length - 2 ? b : { x: (a.x + b.x) / 2, y: (a.y + b.y) / 2 };
    path += `Q${a.x} ${a.y} ${end.x} ${end.y}`;
  }
  return rest.length === 1 ? `${path}L${rest[0]!.x} ${rest[0]!.y}` : path;
}

function Indexes({ model, pattern }: { model: ModelView; pattern: ModelPattern | undefined }) {
  const places = [{ name: null as string | null, description: "" }, ...model.table.indexes];
  return (
    <>
      <p class="hint">Choose an entity to see its attributes, or a pattern to see the entities that it returns and the keys that it reads.</p>
      {places.map((place) => {
        const patterns = model.patterns.filter((one) => one.index === place.name);
        const findings = model.findings.filter((one) => place.name && one.subject === place.name);
        return (
          <section class="card index-card" key={place.name ?? ""} aria-label={place.name ?? "The table"}>
            <header><h2>{place.name ?? model.table.name}</h2><code class="muted clip">{keysOf(model, place.name).join(", ")}</code></header>
            {place.description && <p class="hint">{place.description}</p>}
            {!patterns.length && <p class="hint">No pattern reads {place.name ? "this index" : "the table itself"}.</p>}
            <ul class="pattern-list">
              {patterns.map((one) => {
                const about = open(model.findings.filter((finding) => finding.pattern === one.name));
                return (
                  <li key={one.name}>
                    <button type="button" aria-pressed={pattern === one} onClick={() => setQuery({ pattern: pattern === one ? null : one.name, entity: null })}>
                      <span class="strong clip">{one.name}</span>
                      <span class="dots" aria-hidden="true">{one.returns.map((name) => <i key={name} style={{ background: colourOf(model, name) }} title={name} />)}</span>
                      {about.length > 0 && <Badge tone={about.some((finding) => finding.severity === "error") ? "bad" : "warn"}>{about.length}</Badge>}
                    </button>
                    {pattern === one && <PatternDetails model={model} pattern={one} />}
                  </li>
                );
              })}
            </ul>
            <FindingList findings={findings} />
          </section>
        );
      })}
    </>
  );
}

function PatternDetails({ model, pattern }: { model: ModelView; pattern: ModelPattern }) {
  return (
    <div class="stack pattern-details">
      {pattern.description && <p>{pattern.description}</p>}
      <dl class="facts">
        {pattern.path && <><dt>Route</dt><dd><code>{pattern.method} {pattern.path}</code></dd></>}
        <dt>Reads</dt><dd><code>{pattern.condition}</code></dd>
        {pattern.filter && <><dt>Filter</dt><dd><code>{pattern.filter}</code></dd></>}
        <dt>Returns</dt><dd>{pattern.returnedRecords.join(", ")}, {pattern.single ? "one" : pattern.order}</dd>
        <dt>For</dt><dd>{pattern.access}</dd>
        <dt>One page</dt><dd>{pattern.cost}</dd>
      </dl>
      <FindingList findings={model.findings.filter((one) => one.pattern === pattern.name)} />
      {pattern.path && <div class="row"><Button icon="play" onClick={() => setQuery({ tab: "run", op: `pattern:${pattern.name}`, pattern: null })}>Run it</Button></div>}
    </div>
  );
}

function EntityDetails({ model, entity }: { model: ModelView; entity: ModelEntity }) {
  const uniques = model.relations.filter((one) => one.kind === "unique" && one.from === entity.name);
  return (
    <section class="card" aria-label={entity.name}>
      <header><h2 style={{ color: colourOf(model, entity.name) }}>{entity.name}</h2><Button kind="quiet" icon="close" label="Close" onClick={() => setQuery({ entity: null })} /></header>
      {entity.description && <p class="muted">{entity.description}</p>}
      <FindingList findings={model.findings.filter((one) => one.entity === entity.name)} />
      {entity.records.map((record) => (
        <div class="stack tight-stack" key={record.name}>
          {entity.records.length > 1 && <h3>Row {record.name} ({record.type})</h3>}
          <dl class="facts">{Object.entries(record.keys).map(([name, templates]) => <Key key={name} name={name} templates={templates} />)}</dl>
        </div>
      ))}
      <div class="table-box" tabIndex={0} role="group" aria-label="Attributes">
        <table class="plain compact">
          <thead><tr><th>Attribute</th><th>Type</th><th>Rules</th></tr></thead>
          <tbody>
            {entity.attributes.map((one) => (
              <tr key={one.name} title={one.description}>
                <td><code>{one.name}</code>{one.required && <span class="bad-text" title="required"> *</span>}</td>
                <td>{one.type}</td>
                <td>{one.detail || one.flags.join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {uniques.length > 0 && <p>Unique: {uniques.map((one) => one.label).join("; ")}</p>}
      {entity.parents.length > 0 && <p>Belongs to {entity.parents.map((one, i) => <span key={one.relation}>{i > 0 && ", "}<button type="button" class="link" onClick={() => setQuery({ entity: one.entity })}>{one.entity}</button> by {one.by.join(", ")}</span>)}</p>}
      {entity.routes.length > 0 && (
        <div class="row">
          {entity.routes.map((route) => <Button key={route.operation} onClick={() => setQuery({ tab: "run", op: `entity:${entity.name}.${route.operation}`, entity: null })} title={`${route.method} ${route.path}`}>{route.operation}</Button>)}
        </div>
      )}
    </section>
  );
}
const Key = ({ name, templates }: { name: string; templates: string[] }) => <><dt><code>{name}</code></dt><dd>{templates.map((one, i) => <div key={i}><code>{one}</code></div>)}</dd></>;

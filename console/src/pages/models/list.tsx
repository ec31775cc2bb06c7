import { models } from "../../api/models";
import { Badge, Empty, LinkButton, Notice, Page, Spinner } from "../../components/ui";
import { plural } from "../../lib/format";
import { tableUrl } from "../../router";
import { useLoad, useTitle } from "../../state";

export const modelUrl = (name: string, query = "") => `/models/${encodeURIComponent(name)}${query}`;

export function FindingCounts({ findings }: { findings: { error: number; warning: number; accepted: number } }) {
  const { error, warning, accepted } = findings;
  return (
    <span class="row">
      {error > 0 && <Badge tone="bad">{plural(error, "error")}</Badge>}
      {warning > 0 && <Badge tone="warn">{plural(warning, "warning")}</Badge>}
      {error + warning === 0 && <Badge tone="good">sound</Badge>}
      {accepted > 0 && <Badge title="Findings that the model accepts, with a reason">{accepted} accepted</Badge>}
    </span>
  );
}

export function ModelsPage() {
  useTitle("Models");
  const { data, error } = useLoad((stop) => models.list(stop), []);
  return (
    <Page title="Models" actions={<LinkButton icon="edit" href="/new-model">Write a model</LinkButton>}>
      {error && <Notice tone="bad">{error}</Notice>}
      {!data && !error && <Spinner />}
      {data && !data.models.length && (
        <Empty icon="model" title="No model is served here" actions={<LinkButton kind="primary" icon="edit" href="/new-model">Write a model</LinkButton>}>
          <p>A model describes a single-table design: its entities, their keys, and the access patterns. The server checks it, and serves it as a REST API.</p>
          <p class="hint">Start with <code>stator up --models FILE</code>, or with <code>--demo</code> to have five examples.</p>
        </Empty>
      )}
      <div class="cards model-cards">
        {data?.models.map((model) => (
          <section class="card" key={model.name} aria-labelledby={`model-${model.name}`}>
            <header>
              <h2 id={`model-${model.name}`}><a href={modelUrl(model.name)}>{model.title}</a></h2>
              <FindingCounts findings={model.findings} />
            </header>
            {model.description && <p class="muted">{model.description}</p>}
            <p>{plural(model.entities, "entity", "entities")}, {plural(model.patterns, "pattern")}, {plural(model.actions, "action")}, in the table <a href={tableUrl(model.table, "/items")}>{model.table}</a></p>
            <div class="row">
              <LinkButton icon="model" href={modelUrl(model.name)}>Picture</LinkButton>
              <LinkButton icon="play" href={modelUrl(model.name, "?tab=run")}>Run</LinkButton>
              <LinkButton icon="tree" href={tableUrl(model.table, "/partitions")}>Partitions</LinkButton>
              <a class="button" href={`${model.prefix}/`} target="_blank" rel="noopener">Try the API</a>
            </div>
          </section>
        ))}
      </div>
    </Page>
  );
}

import { models } from "../../api/models";
import { LinkButton, Notice, Page, Spinner, Tabs } from "../../components/ui";
import { query, setQuery, tableUrl } from "../../router";
import { useLoad, useTitle } from "../../state";
import { Consistency } from "./consistency";
import { Document } from "./document";
import { FindingList } from "./findings";
import { FindingCounts } from "./list";
import { Picture } from "./picture";
import { Run } from "./run";
import { Writing } from "./write";

type Tab = "picture" | "run" | "findings" | "write" | "document" | "consistency";
const tabs: readonly { value: Tab; text: string }[] = [
  { value: "picture", text: "Picture" },
  { value: "run", text: "Run" },
  { value: "findings", text: "Findings" },
  { value: "write", text: "Edit" },
  { value: "document", text: "Document" },
  { value: "consistency", text: "Consistency" },
];

export function ModelPage({ model: name }: { model: string }) {
  useTitle(`${name} · Models`);
  const { data, error } = useLoad((stop) => models.get(name, stop), [name]);
  const tab = (query.value.get("tab") ?? "picture") as Tab;
  const findings = data?.findings ?? [];
  const counts = {
    error: findings.filter((one) => !one.accepted && one.severity === "error").length,
    warning: findings.filter((one) => !one.accepted && one.severity === "warning").length,
    accepted: findings.filter((one) => one.accepted).length,
  };
  return (
    <Page title={data?.model.title ?? name} crumbs={<a href="/models">Models</a>}
      actions={data && <><FindingCounts findings={counts} /><LinkButton icon="table" href={tableUrl(data.model.table.name, "/items")}>{data.model.table.name}</LinkButton><a class="button" href={`${data.prefix}/`} target="_blank" rel="noopener">Try the API</a></>}
      tabs={<Tabs label="Parts of the model" tabs={tabs} value={tab} onValue={(value) => setQuery({ tab: value, side: null, entity: null, pattern: null })} />}>
      {error && <Notice tone="bad">{error}</Notice>}
      {!data && !error && <Spinner />}
      {data && tab === "picture" && <>{data.model.description && <p class="muted">{data.model.description}</p>}<Picture model={data.model} /></>}
      {data && tab === "run" && <Run model={data.model} />}
      {data && tab === "findings" && (findings.length ? <FindingList findings={findings} /> : <Notice tone="good">The design is sound: the checker finds nothing.</Notice>)}
      {data && tab === "write" && <Writing source={data.source} served={name} builtin={data.builtin} />}
      {data?.document && tab === "document" && <Document markdown={data.document} name={name} />}
      {data && tab === "consistency" && <Consistency name={name} table={data.model.table.name} />}
    </Page>
  );
}

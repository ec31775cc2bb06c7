import { useState } from "preact/hooks";
import { Button, Code, Field, Select, Tabs, Text } from "../../components/ui";
import { awsCli, cloudFormation } from "../../lib/code";
import { info } from "../../state";
import { type CreateTable, type IndexDesign, type KeyDesign, keyTypes } from "./design";

// Where clients of the DynamoDB API connect, as the server says.
export function endpoint() {
  const { endpoint: elsewhere, api } = info.value ?? { endpoint: null, api: null };
  if (elsewhere || !api) return elsewhere ?? "ENDPOINT";
  return `${api.secure ? "https" : "http"}://${hostOf(api.host)}:${api.port}`;
}
const hostOf = (host: string) => (!host ? location.hostname : host.includes(":") ? `[${host}]` : host);

export function KeyField({ label, value, onValue, error, optional }: { label: string; value: KeyDesign; onValue: (key: KeyDesign) => void; error?: string | undefined; optional?: boolean }) {
  return (
    <Field label={label} error={error ?? null}>{(id) => (
      <span class="pair">
        <Text id={id} class="mono" value={value.name} placeholder={optional ? "none" : ""} onValue={(name) => onValue({ ...value, name })} />
        <Select aria-label={`Type of the ${label.toLowerCase()}`} value={value.type} options={keyTypes} onValue={(type) => onValue({ ...value, type })} />
      </span>
    )}</Field>
  );
}

export function IndexFields({ value, onValue, onRemove, error, local }: { value: IndexDesign; onValue: (index: IndexDesign) => void; onRemove?: () => void; error?: string | undefined; local: boolean }) {
  return (
    <fieldset class="card tint">
      <legend class="sr">Index {value.name}</legend>
      <div class="form">
        <Field label="Index" error={error ?? null}>{(id) => <Text id={id} class="mono" value={value.name} onValue={(name) => onValue({ ...value, name })} />}</Field>
        {local && <Field label="Kind">{(id) => <Select id={id} value={value.kind} options={[{ value: "global", text: "Global" }, { value: "local", text: "Local: same partition key" }]} onValue={(kind) => onValue({ ...value, kind })} />}</Field>}
        {value.kind === "global" && <KeyField label="Partition key" value={value.pk} onValue={(pk) => onValue({ ...value, pk })} />}
        <KeyField label="Sort key" optional={value.kind === "global"} value={value.sk} onValue={(sk) => onValue({ ...value, sk })} />
        <Field label="Projection">{(id) => <Select id={id} value={value.projection} options={[{ value: "ALL", text: "All attributes" }, { value: "KEYS_ONLY", text: "Keys only" }, { value: "INCLUDE", text: "Keys and some" }]} onValue={(projection) => onValue({ ...value, projection })} />}</Field>
        {value.projection === "INCLUDE" && <Field label="Attributes, with commas">{(id) => <Text id={id} class="mono" value={value.include} onValue={(include) => onValue({ ...value, include })} />}</Field>}
      </div>
      {onRemove && <div><Button icon="trash" kind="quiet" onClick={onRemove}>Remove this index</Button></div>}
    </fieldset>
  );
}

// The design as others would write it.
export function AsCode({ request, ttl }: { request: CreateTable; ttl: string }) {
  const [tab, setTab] = useState<"cli" | "cloudformation" | "json">("cli");
  const cli = () => {
    const create = awsCli("CreateTable", request as never, endpoint());
    if (!ttl) return create;
    const TimeToLiveSpecification = { Enabled: true, AttributeName: ttl };
    return `${create}\n\n${awsCli("UpdateTimeToLive", { TableName: request.TableName, TimeToLiveSpecification }, endpoint())}`;
  };
  const text = tab === "cli" ? cli() : tab === "cloudformation" ? cloudFormation(request as never, ttl) : JSON.stringify(request, null, 2);
  return (
    <div class="stack">
      <Tabs label="The same as" value={tab} onValue={setTab} tabs={[{ value: "cli", text: "AWS CLI" }, { value: "cloudformation", text: "CloudFormation" }, { value: "json", text: "Request" }]} />
      <Code label={tab === "cli" ? "AWS CLI" : tab === "cloudformation" ? "CloudFormation" : "request"} text={text} />
    </div>
  );
}

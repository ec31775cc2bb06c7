// The query builder: what is browsed, by which key, with which filters.
import { useState } from "preact/hooks";
import type { TableDescription, Type } from "../../api/types";
import { Dialog } from "../../components/dialog";
import { Badge, Button, Check, Code, Field, Select, Tabs, Text } from "../../components/ui";
import { awsCli, cpp, javaScript, python } from "../../lib/code";
import { build, type Filter, filterOperators, indexesOf, keyOperators, operatorText, type Search, takesValue, targetOf } from "../../lib/expressions";
import { bytes, count, units } from "../../lib/format";
import { typeNames, types } from "../../lib/values";
import { info } from "../../state";
import { endpoint } from "../tables/parts";

interface Props {
  table: TableDescription;
  search: Search;
  onSearch: (search: Search) => void;
  onRun: () => void;
  running: boolean;
  onStop: () => void;
  columns: string[];
  more: preact.ComponentChildren;
}
const filterTypes: Type[] = ["S", "N", "B", "BOOL", "NULL", "L", "M", "SS", "NS", "BS"];

export function SearchBar({ table, search, onSearch, onRun, running, onStop, columns, more }: Props) {
  const [coding, setCoding] = useState(false);
  const target = targetOf(table, search.index);
  const change = (part: Partial<Search>) => onSearch({ ...search, ...part });
  const setFilter = (i: number, part: Partial<Filter>) => {
    const next = { ...search.filters[i]!, ...part };
    if (!filterOperators(next.type).includes(next.op)) next.op = filterOperators(next.type)[0]!;
    change({ filters: search.filters.with(i, next) });
  };
  const operators = target.sk ? keyOperators(target.sk.type) : [];
  const indexText = (name: string, keys: { AttributeName: string }[]) => ({ value: name, text: `${name || "Table"} (${keys.map((one) => one.AttributeName).join(", ")})` });
  return (
    <details class="search-box" open={innerWidth > 820}>
    <summary>Query: {search.index || "table"}{search.pk ? `, ${target.pk.name} = ${search.pk.slice(0, 40)}` : ""}</summary>
    <form class="search" aria-label="Query builder" onSubmit={(event) => { event.preventDefault(); onRun(); }}
      onKeyDown={(event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) { event.preventDefault(); onRun(); } }}>
      <datalist id="attribute-names">{columns.map((name) => <option key={name} value={name} />)}</datalist>
      <div class="search-keys">
        <Field label="Browse">{(id) => <Select id={id} value={search.index} options={[indexText("", table.KeySchema), ...indexesOf(table).map((one) => indexText(one.IndexName, one.KeySchema))]}
          onValue={(index) => change({ index, op: "=", pk: "", sk: "", sk2: "" })} />}</Field>
        <Field label={`${target.pk.name} =`}>{(id) => <Text id={id} class="mono" value={search.pk} placeholder="any: scans everything" onValue={(pk) => change({ pk })} />}</Field>
        {target.sk && (
          <Field label={target.sk.name}>{(id) => (
            <span class="sort-key">
              <Select aria-label={`Operator for ${target.sk!.name}`} value={operators.includes(search.op) ? search.op : "="} disabled={!search.pk} options={operators.map((value) => ({ value, text: operatorText[value] ?? value }))} onValue={(op) => change({ op })} />
              <Text id={id} class="mono" disabled={!search.pk} value={search.sk} placeholder={search.pk ? "any" : "needs a partition key"} onValue={(sk) => change({ sk })} />
              {search.op === "between" && <Text aria-label={`Upper bound for ${target.sk!.name}`} class="mono" disabled={!search.pk} value={search.sk2} onValue={(sk2) => change({ sk2 })} />}
            </span>
          )}</Field>
        )}
        <div class="search-run">
          {/* Two buttons, not one that changes: a click on Stop must not submit. */}
          {running ? <Button key="stop" icon="stop" onClick={onStop}>Stop</Button> : <Button key="run" type="submit" kind="primary" icon="play">Run</Button>}
          <Button icon="code" label="As request, command and code" onClick={() => setCoding(true)} />
          {more}
        </div>
      </div>
      {search.filters.map((filter, i) => (
        <div class="filter" key={i}>
          <span class="muted filter-word">{i ? "and" : "where"}</span>
          <Text aria-label="Attribute" class="mono" list="attribute-names" placeholder="attribute" value={filter.name} onValue={(name) => setFilter(i, { name })} />
          <Select aria-label="Type of the value" value={filter.type} options={filterTypes.map((value) => ({ value, text: typeNames[value] }))} onValue={(type) => setFilter(i, { type, value: type === "BOOL" ? "true" : filter.value })} />
          <Select aria-label="Operator" value={filter.op} options={filterOperators(filter.type).map((value) => ({ value, text: operatorText[value] ?? value }))} onValue={(op) => setFilter(i, { op, value: op === "type is" ? "S" : filter.value })} />
          {!takesValue(filter.op) || (filter.type === "NULL" && filter.op !== "type is") ? <span /> : filter.op === "type is" ? (
            <Select aria-label="Type" value={filter.value as Type} options={types.map((value) => ({ value, text: typeNames[value] }))} onValue={(value) => setFilter(i, { value })} />
          ) : filter.type === "BOOL" ? (
            <Select aria-label="Value" value={filter.value} options={["true", "false"]} onValue={(value) => setFilter(i, { value })} />
          ) : (
            <span class="filter-values">
              <Text aria-label="Value" class="mono" value={filter.value} placeholder={filter.op === "in" ? "with commas" : "value"} onValue={(value) => setFilter(i, { value })} />
              {filter.op === "between" && <Text aria-label="Upper bound" class="mono" value={filter.value2 ?? ""} onValue={(value2) => setFilter(i, { value2 })} />}
            </span>
          )}
          <Button kind="quiet" icon="close" label="Remove the filter" onClick={() => change({ filters: search.filters.filter((_, other) => other !== i) })} />
        </div>
      ))}
      <div class="search-more">
        <Button kind="quiet" icon="plus" onClick={() => change({ filters: [...search.filters, { name: "", op: "=", type: "S", value: "" }] })}>Filter</Button>
        <Text aria-label="Attributes to read" class="mono projection" list="attribute-names" placeholder="attributes: all" value={search.select} onValue={(select) => change({ select })} />
        <Check checked={search.desc} disabled={!search.pk} onValue={(desc) => change({ desc })}>Descending</Check>
        {target.kind !== "global" && <Check checked={search.consistent} onValue={(consistent) => change({ consistent })}>Consistent</Check>}
        <Cost table={table} search={search} />
      </div>
      {coding && <AsCode table={table} search={search} onClose={() => setCoding(false)} />}
    </form>
    </details>
  );
}

// Whether it is a Query or a Scan, and what that costs.
function Cost({ table, search }: { table: TableDescription; search: Search }) {
  const { operation, request } = build(table, search);
  const target = targetOf(table, search.index);
  const whole = target.index?.IndexSizeBytes ?? table.TableSizeBytes ?? 0;
  const items = target.index?.ItemCount ?? table.ItemCount ?? 0;
  const filtered = request.FilterExpression !== undefined;
  const where = target.index ? target.index.IndexName : "the table";
  if (operation === "Query") {
    return <span class="cost"><Badge tone="good">Query</Badge><span class="muted">reads one partition of {where}{filtered ? "; the filter is applied after reading, and what it drops is paid, too" : ""}</span></span>;
  }
  const all = Math.ceil(whole / 4096) / (request.ConsistentRead ? 1 : 2);
  const large = whole > 1_000_000;
  return (
    <span class="cost" title="A scan reads every item. Give a partition key to query."><Badge tone={large ? "warn" : "plain"}>Scan</Badge>
      <span class={large && filtered ? "warn-text" : "muted"}>{filtered ? "reads all" : "as far as you scroll, at most"} {count(items)} items of {where}: {bytes(whole)}, {units(all)} read units</span>
    </span>
  );
}

function AsCode({ table, search, onClose }: { table: TableDescription; search: Search; onClose: () => void }) {
  const { operation, request } = build(table, search);
  return <RequestAsCode operation={operation} request={request as never} onClose={onClose} />;
}

export function RequestAsCode({ operation, request, onClose }: { operation: string; request: Record<string, unknown>; onClose: () => void }) {
  const [tab, setTab] = useState<"request" | "cli" | "js" | "python" | "cpp">("request");
  const region = info.value?.region || "us-east-1";
  const text = {
    request: () => JSON.stringify(request, null, 2), cli: () => awsCli(operation, request, endpoint()), js: () => javaScript(operation, request, endpoint(), region),
    python: () => python(operation, request, endpoint(), region), cpp: () => cpp(operation, request, endpoint(), region),
  }[tab]();
  return (
    <Dialog title={`${operation} as request and code`} onClose={onClose}>
      <Tabs label="Language" value={tab} onValue={setTab} tabs={[{ value: "request", text: "Request" }, { value: "cli", text: "AWS CLI" }, { value: "js", text: "JavaScript" }, { value: "python", text: "Python" }, { value: "cpp", text: "C++" }]} />
      <Code label={tab} text={text} />
    </Dialog>
  );
}

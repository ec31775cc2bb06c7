// What the model of a table says about one item: its entity, its parents and children, and where indexes show it.
import { call } from "../../api/client";
import type { Identified, Item, ModelSummary, PageOfItems, TableDescription } from "../../api/types";
import { Safe } from "../../components/value";
import { colourOf, identify, modelOf } from "../../lib/entities";
import { inside, keyOf, same } from "../../lib/values";
import { query, tableUrl } from "../../router";
import { useLoad } from "../../state";

interface Relations {
  model: ModelSummary;
  self: Identified;
  children: { item: Item; entity: string | null }[];
}
async function relationsOf(table: TableDescription, item: Item, stop: AbortSignal): Promise<Relations | null> {
  const model = await modelOf(table.TableName);
  if (!model) return null;
  const [self] = await identify(model, [item], stop);
  if (!self) return null;
  const keys = table.KeySchema.map((key) => key.AttributeName);
  const key = keyOf(item, keys);
  // Children are often in the item's partition, in the table or in an index.
  const near: PageOfItems = await call("Query", { TableName: table.TableName, KeyConditionExpression: "#p = :p", ExpressionAttributeNames: { "#p": keys[0] }, ExpressionAttributeValues: { ":p": item[keys[0]!] }, Limit: 200 }, stop);
  const around = near.Items ?? [];
  const seen = await identify(model, around, stop);
  const children = around.flatMap((one, i) => (seen[i]?.parents.some((parent) => same(parent.key, key)) ? [{ item: one, entity: seen[i]!.entity }] : []));
  return { model, self, children };
}

export function RelationsOf({ table, item }: { table: TableDescription; item: Item }) {
  const keys = table.KeySchema.map((key) => key.AttributeName);
  const loaded = useLoad((stop) => relationsOf(table, item, stop), [table.TableName, keyOf(item, keys)]);
  if (!loaded.data) return null;
  const { self, children } = loaded.data;
  const trail = query.value.get("trail");
  const to = (parameters: Record<string, string>) => tableUrl(table.TableName, `/partitions?${new URLSearchParams({ ...parameters, ...(trail ? { trail } : {}) })}`);
  const toItem = (key: Item) => to({ pk: String(inside(key[keys[0]!]!)), item: JSON.stringify(keyOf(key, keys)) });
  // In the same partition, the sort key says enough.
  const label = (key: Item) => keys.filter((one, i) => i > 0 || keys.length === 1 || !same(key[one], item[one])).map((one) => String(inside(key[one]!))).join(" · ").slice(0, 160);
  return (
    <section class="relations" aria-label="What the model says">
      {self.entity && <div><span class="muted">Entity</span><span><span class={`entity ${colourOf(self.entity)}`}>{self.entity}</span>{self.path && <> <code class="muted">{self.path}</code></>}</span></div>}
      {self.parents.length > 0 && <div><span class="muted">Parents</span><span class="links">{self.parents.map((one, i) => <a key={i} href={toItem(one.key)}><span class={`entity ${colourOf(one.entity)}`}>{one.entity}</span> <code><Safe text={label(one.key)} /></code></a>)}</span></div>}
      {children.length > 0 && <div><span class="muted">Children</span><span class="links">{children.slice(0, 12).map((one, i) => <a key={i} href={toItem(one.item)}>{one.entity && <span class={`entity ${colourOf(one.entity)}`}>{one.entity}</span>} <code><Safe text={label(one.item)} /></code></a>)}{children.length > 12 && <span class="muted">and {children.length - 12} more</span>}</span></div>}
      {self.indexRows.length > 0 && <div><span class="muted">Indexes</span><span class="links">{self.indexRows.map((one, i) => <a key={i} href={to({ index: one.index, pk: one.partition })}><b>{one.index}</b> <code><Safe text={`${one.partition}${one.sort === null ? "" : ` · ${one.sort}`}`.slice(0, 140)} /></code></a>)}</span></div>}
    </section>
  );
}

// Which entity an item is: by the table's model where there is one, else by an attribute that names it, else by its sort key.
import { consoleApi } from "../api/client";
import type { Identified, Item, ModelSummary } from "../api/types";
import { info, infoKnown } from "../state";

const usual = ["EntityType", "entityType", "entity_type", "_type", "type", "Type", "__typename", "_et", "entity", "Entity", "kind", "objectType"];

// The attribute that most items have and that has few values.
export function typeAttribute(items: Item[]): string | null {
  const some = items.slice(0, 500);
  for (const name of usual) {
    const values = some.filter((item) => Object.hasOwn(item, name) && "S" in item[name]!).map((item) => (item[name] as { S: string }).S);
    if (values.length >= some.length * 0.6 && new Set(values).size <= Math.max(3, some.length / 2) && values.every((text) => text.length <= 80)) return name;
  }
  return null;
}
export function entityOf(item: Item, attribute: string | null, sortKey: string | null): string {
  const value = attribute && Object.hasOwn(item, attribute) ? item[attribute]! : null;
  if (value && "S" in value) return value.S;
  const sort = sortKey && Object.hasOwn(item, sortKey) ? item[sortKey]! : null;
  if (sort && "S" in sort && /^[A-Za-z][\w.@-]*(#|$)/.test(sort.S)) return sort.S.split("#")[0]!.slice(0, 40);
  return "item";
}
// The same name has the same colour everywhere; names that are seen first get colours of their own.
const colours = new Map<string, number>();
export function colourOf(entity: string): string {
  const old = colours.get(entity);
  if (old !== undefined) return `e${old}`;
  let hash = 7;
  for (const letter of entity.toLowerCase()) hash = (hash * 31 + letter.codePointAt(0)!) >>> 0;
  let colour = hash % 8;
  const taken = new Set(colours.values());
  for (let i = 0; i < 8 && taken.has(colour) && taken.size < 8; i++) colour = (colour + 1) % 8;
  if (colours.size < 1000) colours.set(entity, colour);
  return `e${colour}`;
}

let models: Promise<ModelSummary[]> | null = null;
export async function modelOf(table: string): Promise<ModelSummary | null> {
  await infoKnown;
  if (!info.value?.features.models) return null;
  models ??= consoleApi.models().then((answer) => answer.models, () => []);
  return (await models).find((one) => one.table === table) ?? null;
}
// What the model says of items; nothing where it says nothing.
export async function identify(model: ModelSummary, items: Item[], stop?: AbortSignal): Promise<(Identified | null)[]> {
  const found: (Identified | null)[] = [];
  for (let i = 0; i < items.length; i += 100) {
    const part = items.slice(i, i + 100);
    try {
      found.push(...(await consoleApi.identify(model.name, part, stop)).items);
    } catch {
      found.push(...part.map(() => null));
    }
  }
  return found;
}

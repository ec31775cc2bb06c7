// What can be run of a model: its patterns, its actions, and what can be done with its entities.
import type { ModelView, Parameter } from "../../api/models";

export interface Operation {
  id: string; // pattern:books, action:lend, entity:BOOK.create
  group: string;
  name: string;
  description: string;
  method: string;
  path: string;
  parameters: Parameter[];
  body: string | null; // what to begin with; null: it takes none
  contentType: string;
  access: string;
  steps: string[];
}

const inPath = (path: string) => [...path.split("?")[0]!.matchAll(/\{([^}]+)\}/g)].map((found) => found[1]!);
const sampleOf = (type: string, values?: string[]): unknown => {
  if (values?.length) return values[0];
  if (/^(number|integer)/.test(type)) return 1;
  if (type.startsWith("boolean")) return false;
  if (/^(list|set)/.test(type)) return [];
  if (type.startsWith("map")) return {};
  return "";
};
const bodyOf = (members: { name: string; type: string; values?: string[] }[]) => JSON.stringify(Object.fromEntries(members.map((one) => [one.name, sampleOf(one.type, one.values)])), null, 2);

export function operationsOf(model: ModelView): Operation[] {
  const found: Operation[] = [];
  for (const pattern of model.patterns) {
    if (!pattern.path) continue;
    const paging: Parameter[] = pattern.single ? [] : ["limit", "nextToken"].map((name) => ({ name, in: "query", type: name === "limit" ? "integer" : "string", required: false, description: "" }));
    const order: Parameter[] = pattern.order === "asked" ? [{ name: "order", in: "query", type: "enum", values: ["asc", "desc"], required: false, description: "" }] : [];
    found.push({
      id: `pattern:${pattern.name}`, group: "Patterns", name: pattern.name, description: pattern.description, method: pattern.method, path: pattern.path.split("?")[0]!,
      parameters: [...pattern.parameters, ...order, ...paging], body: null, contentType: "application/json", access: pattern.access, steps: [],
    });
  }
  for (const action of model.actions) {
    const members = action.inputs.filter((one) => one.in === "body");
    const file = action.accepts.find((type) => type !== "none");
    const takesBody = action.method !== "GET" && action.method !== "DELETE" && !action.accepts.includes("none");
    found.push({
      id: `action:${action.name}`, group: "Actions", name: action.name, description: action.description, method: action.method, path: action.path.split("?")[0]!,
      parameters: action.inputs.filter((one) => one.in !== "body"), body: takesBody ? (file ? "" : bodyOf(members.filter((one) => one.required))) : null,
      contentType: file ?? "application/json", access: action.access, steps: action.steps,
    });
  }
  for (const entity of model.entities) {
    for (const route of entity.routes) {
      const named = inPath(route.path);
      const creates = route.operation === "create" || route.operation === "put";
      const takesBody = creates || route.operation === "update";
      const writable = entity.attributes.filter((one) => one.writable && !named.includes(one.name) && one.name !== entity.owner);
      found.push({
        id: `entity:${entity.name}.${route.operation}`, group: entity.name, name: route.operation, description: `${route.operation} ${entity.name}`, method: route.method, path: route.path,
        parameters: named.map((name) => ({ name, in: "path", type: entity.attributes.find((one) => one.name === name)?.type ?? "string", required: true, description: "" })),
        body: takesBody ? bodyOf(writable.filter((one) => !creates || one.required).slice(0, creates ? undefined : 1)) : null,
        contentType: "application/json", access: "", steps: [],
      });
    }
  }
  return found;
}

// The path with what was typed in the place of its names; null when one is missing.
export function filled(path: string, values: Record<string, string>): string | null {
  let missing = false;
  const text = path.replace(/\{([^}]+)\}/g, (_, name: string) => {
    if (!values[name]) missing = true;
    return encodeURIComponent(values[name] ?? "");
  });
  return missing ? null : text;
}

import type { Item } from "../../api/types";
import { Cell, Safe, TypeMark } from "../../components/value";
import { same, typeOf } from "../../lib/values";

export interface Change {
  name: string;
  before: Item[string] | undefined;
  after: Item[string] | undefined;
}
export function changesOf(before: Item, after: Item): Change[] {
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
  const of = (item: Item, name: string) => (Object.hasOwn(item, name) ? item[name] : undefined);
  return names.filter((name) => !same(of(before, name), of(after, name))).map((name) => ({ name, before: of(before, name), after: of(after, name) }));
}
// What changes, attribute by attribute.
export function Diff({ before, after }: { before: Item; after: Item }) {
  const changes = changesOf(before, after);
  if (!changes.length) return <p class="muted">Nothing changes.</p>;
  return (
    <div class="table-box" tabIndex={0} role="region" aria-label="Changes">
      <table class="plain diff">
        <thead><tr><th>Attribute</th><th>Before</th><th>After</th></tr></thead>
        <tbody>{changes.map((one) => (
          <tr key={one.name}>
            <td class="tight"><code><Safe text={one.name} /></code></td>
            <td class={one.before ? "old" : ""}>{one.before ? <span class="row nowrap"><TypeMark type={typeOf(one.before)} /><Cell value={one.before} /></span> : <span class="muted">not there</span>}</td>
            <td class={one.after ? "new" : ""}>{one.after ? <span class="row nowrap"><TypeMark type={typeOf(one.after)} /><Cell value={one.after} /></span> : <span class="muted">removed</span>}</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

// One row of a result, its attributes below each other.
import type { Item } from "../api/types";
import { typeOf } from "../lib/values";
import { Dialog } from "./dialog";
import { Safe, TypeMark, Whole } from "./value";

export const Attributes = ({ item, first = [], mark }: { item: Item; first?: string[]; mark?: (name: string) => preact.ComponentChildren }) => (
  <div class="table-box" tabIndex={0} role="region" aria-label="Attributes">
    <table class="plain attributes">
      <thead><tr><th>Attribute</th><th class="tight">Type</th><th>Value</th></tr></thead>
      <tbody>{[...first, ...Object.keys(item).filter((one) => !first.includes(one)).sort()].map((one) => (
        <tr key={one}><th scope="row"><code><Safe text={one} /></code>{mark?.(one)}</th><td class="tight"><TypeMark type={typeOf(item[one]!)} /></td><td><Whole value={item[one]!} /></td></tr>
      ))}</tbody>
    </table>
  </div>
);
export const ResultItem = ({ item, onClose }: { item: Item; onClose: () => void }) => <Dialog title="Item" size="side" onClose={onClose}><Attributes item={item} /></Dialog>;

import { useState } from "preact/hooks";
import { Dialog } from "../../components/dialog";
import { Button, Text } from "../../components/ui";
import { Safe, TypeMark } from "../../components/value";
import type { ColumnFacts } from "./rows";

export interface ColumnChoice {
  hidden: string[];
  pinned: string[];
  widths: Record<string, number>;
}
export function ColumnsDialog({ facts, total, fixed, choice, onChoice, onClose }: { facts: ColumnFacts[]; total: number; fixed: string[]; choice: ColumnChoice; onChoice: (choice: ColumnChoice) => void; onClose: () => void }) {
  const [find, setFind] = useState("");
  const shown = facts.filter((one) => one.name.toLowerCase().includes(find.toLowerCase()));
  const flip = (list: string[], name: string) => (list.includes(name) ? list.filter((one) => one !== name) : [...list, name]);
  return (
    <Dialog title="Columns" onClose={onClose} actions={<>
      <Button onClick={() => onChoice({ ...choice, hidden: facts.map((one) => one.name).filter((one) => !fixed.includes(one)) })}>Hide all but keys</Button>
      <Button onClick={() => onChoice({ hidden: [], pinned: [], widths: {} })}>Reset</Button><Button kind="primary" onClick={onClose}>Done</Button>
    </>}>
      <Text value={find} onValue={setFind} placeholder="Find a column" aria-label="Find a column" data-first />
      <p class="hint">Of the {total} items that are loaded; the most frequent attributes come first.{facts.length > 80 && " The grid has the first 80 that are not hidden."}</p>
      <ul class="list columns">
        {shown.slice(0, 300).map((one) => {
          const hidden = choice.hidden.includes(one.name);
          return (
            <li key={one.name}>
              <label class="check grow"><input type="checkbox" checked={!hidden} onChange={() => onChoice({ ...choice, hidden: flip(choice.hidden, one.name) })} /><code class="clip"><Safe text={one.name} /></code></label>
              <span class="row nowrap">{[...one.types].map((type) => <TypeMark type={type} key={type} />)}</span>
              <span class="bar" title={`${one.count} of ${total}`}><span style={{ width: `${(one.count / Math.max(1, total)) * 100}%` }} /></span>
              <Button kind="quiet" icon="pin" label={`Pin ${one.name}`} aria-pressed={choice.pinned.includes(one.name)} onClick={() => onChoice({ ...choice, pinned: flip(choice.pinned, one.name) })} />
            </li>
          );
        })}
      </ul>
      {!shown.length && <p class="muted">No column has this name.</p>}
    </Dialog>
  );
}

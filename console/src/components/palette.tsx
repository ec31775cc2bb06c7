// Ctrl-K: goes anywhere and does anything by its name.
import { signal } from "@preact/signals";
import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import { go, tableUrl } from "../router";
import { tableNames } from "../state";
import { Icon, type IconName } from "./icons";

export interface Command {
  text: string;
  icon: IconName;
  hint?: string;
  run: () => void;
}
export const paletteOpen = signal(false);
const offered = signal<Map<object, Command[]>>(new Map());

// Commands of a page, for as long as it is shown.
export function useCommands(commands: Command[], of: unknown[]) {
  useEffect(() => {
    const owner = {};
    offered.value = new Map(offered.peek()).set(owner, commands);
    return () => {
      const next = new Map(offered.peek());
      next.delete(owner);
      offered.value = next;
    };
  }, of);
}

// All letters in their order; the fewer gaps and the nearer to a start of a word, the better.
function score(text: string, wanted: string): number {
  const lower = text.toLowerCase();
  const whole = lower.indexOf(wanted);
  if (whole >= 0) return 1000 - whole - text.length / 100;
  let at = -1;
  let points = 0;
  for (const letter of wanted) {
    const next = lower.indexOf(letter, at + 1);
    if (next < 0) return -1;
    points += next === at + 1 ? 5 : /[\s\-_./#]/.test(lower[next - 1] ?? " ") ? 3 : 0;
    at = next;
  }
  return points - text.length / 100;
}

export function Palette({ commands }: { commands: Command[] }) {
  return paletteOpen.value ? <OpenPalette commands={commands} /> : null;
}
function OpenPalette({ commands }: { commands: Command[] }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [text, setText] = useState("");
  const [at, setAt] = useState(0);
  const list = useId();
  const close = () => (paletteOpen.value = false);
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const element = dialog.current!;
    element.showModal();
    return () => {
      element.close();
      if (before?.isConnected) before.focus();
    };
  }, []);
  const found = useMemo(() => {
    const all = [...[...offered.value.values()].flat(), ...commands,
      ...(tableNames.value ?? []).flatMap((name): Command[] => [
        { text: name, icon: "table", hint: "items", run: () => go(tableUrl(name, "/items")) },
        { text: `${name}: settings`, icon: "table", hint: "table", run: () => go(tableUrl(name)) },
        { text: `${name}: partitions`, icon: "tree", hint: "single-table view", run: () => go(tableUrl(name, "/partitions")) },
      ])];
    const wanted = text.trim().toLowerCase();
    if (!wanted) return all.slice(0, 50);
    return all.map((command) => ({ command, points: score(command.text, wanted) })).filter((one) => one.points >= 0)
      .sort((a, b) => b.points - a.points).slice(0, 50).map((one) => one.command);
  }, [text, offered.value, tableNames.value]);
  const chosen = Math.min(at, found.length - 1);
  const run = (command: Command | undefined) => {
    if (!command) return;
    close();
    setTimeout(command.run);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step) {
      event.preventDefault();
      const next = (chosen + step + found.length) % Math.max(1, found.length);
      setAt(next);
      document.getElementById(`${list}-${next}`)?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Enter") {
      event.preventDefault();
      run(found[chosen]);
    }
  };
  return (
    <dialog ref={dialog} class="dialog palette" aria-label="Command palette" onCancel={(event) => { event.preventDefault(); close(); }}
      onMouseDown={(event) => event.target === dialog.current && close()}>
      <div class="dialog-box">
        <div class="palette-input">
          <Icon name="search" />
          <input type="text" role="combobox" aria-expanded="true" aria-controls={list} aria-label="Command or table" placeholder="Go to a table, or do something…"
            aria-activedescendant={found.length ? `${list}-${chosen}` : undefined} value={text} autocomplete="off" spellcheck={false}
            onInput={(event) => { setText(event.currentTarget.value); setAt(0); }} onKeyDown={onKeyDown} />
          <kbd>Esc</kbd>
        </div>
        <div class="palette-list" id={list} role="listbox" aria-label="Commands" tabIndex={-1}>
          {found.map((command, i) => (
            <div role="option" id={`${list}-${i}`} key={i} aria-selected={i === chosen} onMouseMove={() => setAt(i)} onClick={() => run(command)}>
              <Icon name={command.icon} /><span>{command.text}</span>{command.hint && <small>{command.hint}</small>}
            </div>
          ))}
          {!found.length && <div role="option" aria-selected="false" aria-disabled="true" class="muted">Nothing has this name.</div>}
        </div>
      </div>
    </dialog>
  );
}

// Dialogs are the browser's own: it keeps the focus inside, makes the rest inert, and closes on Escape.
import type { ComponentChildren } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { messageOf } from "../api/client";
import { Button, Notice, Text } from "./ui";

export function Dialog({ title, onClose, children, actions, size = "medium" }: { title: string; onClose: () => void; children: ComponentChildren; actions?: ComponentChildren; size?: "small" | "medium" | "large" | "side" }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const element = dialog.current!;
    element.showModal();
    (element.querySelector<HTMLElement>("[data-first]") ?? (element.firstElementChild as HTMLElement)).focus();
    return () => {
      element.close(); // what is behind a dialog takes no focus
      if (before?.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog ref={dialog} class={`dialog ${size}`} aria-labelledby={id}
      onCancel={(event) => { event.preventDefault(); onClose(); }}
      onMouseDown={(event) => event.target === dialog.current && onClose()}>
      <div class="dialog-box" tabIndex={-1}>
        <header><h2 id={id}>{title}</h2><Button kind="quiet" icon="close" label="Close" onClick={onClose} /></header>
        <div class="dialog-body">{children}</div>
        {actions && <footer>{actions}</footer>}
      </div>
    </dialog>
  );
}

// Asks before something that cannot be taken back.  `typed`: what has to be typed to go on.
export function Confirm({ title, children, action, typed, danger = true, onClose, run }: { title: string; children?: ComponentChildren; action: string; typed?: string; danger?: boolean; onClose: () => void; run: () => Promise<unknown> }) {
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const id = useId();
  const ready = !busy && (!typed || text === typed);
  const go = async () => {
    if (!ready) return;
    setBusy(true);
    try {
      await run();
      onClose();
    } catch (problem) {
      setError(messageOf(problem));
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} size="small" onClose={onClose}
      actions={<><Button onClick={onClose}>Cancel</Button><Button kind={danger ? "danger" : "primary"} disabled={!ready} onClick={go} {...(typed ? {} : { "data-first": true })}>{busy ? "Working…" : action}</Button></>}>
      {children}
      {typed && (
        <div class="field wide">
          <label for={id}>Type <code>{typed}</code> to go on</label>
          <Text id={id} value={text} onValue={setText} data-first onKeyDown={(event: KeyboardEvent) => event.key === "Enter" && void go()} />
        </div>
      )}
      {error && <Notice tone="bad">{error}</Notice>}
    </Dialog>
  );
}

import { signal } from "@preact/signals";
import { Icon } from "./icons";

interface Toast {
  id: number;
  text: string;
  tone: "good" | "bad";
  undo?: { text: string; run: () => void };
}
const toasts = signal<Toast[]>([]);
let last = 0;

export function toast(text: string, tone: "good" | "bad" = "good", undo?: Toast["undo"]) {
  const id = ++last;
  toasts.value = [...toasts.value.slice(-3), { id, text, tone, ...(undo ? { undo } : {}) }];
  setTimeout(() => dismiss(id), tone === "bad" ? 10_000 : 4_000);
}
const dismiss = (id: number) => (toasts.value = toasts.value.filter((one) => one.id !== id));

export const Toasts = () => (
  <div class="toasts" role="status" aria-live="polite">
    {toasts.value.map((one) => (
      <div class={`toast ${one.tone}`} key={one.id}>
        <Icon name={one.tone === "good" ? "check" : "warn"} />
        <span>{one.text}</span>
        {one.undo && <button type="button" onClick={() => { dismiss(one.id); one.undo!.run(); }}>{one.undo.text}</button>}
        <button type="button" aria-label="Dismiss" onClick={() => dismiss(one.id)}><Icon name="close" size={12} /></button>
      </div>
    ))}
  </div>
);

// Small parts that every page is made of.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Icon, type IconName } from "./icons";
import { toast } from "./toast";

type ButtonProps = Omit<JSX.IntrinsicElements["button"], "icon" | "size"> & {
  icon?: IconName;
  kind?: "plain" | "primary" | "danger" | "quiet";
  label?: string; // for a button that is only an icon
};
export function Button({ icon, kind = "plain", label, children, class: extra, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest} class={`button ${kind} ${children ? "" : "bare"} ${extra ?? ""}`} aria-label={label} title={rest.title ?? label}>
      {icon && <Icon name={icon} />}
      {children}
    </button>
  );
}
export function LinkButton({ icon, kind = "plain", href, children }: { icon?: IconName; kind?: string; href: string; children?: ComponentChildren }) {
  return (
    <a class={`button ${kind}`} href={href}>
      {icon && <Icon name={icon} />}
      {children}
    </a>
  );
}

export function Field({ label, hint, error, children, wide }: { label: string; hint?: ComponentChildren; error?: string | null; children: (id: string) => ComponentChildren; wide?: boolean }) {
  const id = useId();
  return (
    <div class={`field ${wide ? "wide" : ""}`}>
      <label for={id}>{label}</label>
      {children(id)}
      {error ? <p class="field-error" role="alert">{error}</p> : hint ? <p class="hint">{hint}</p> : null}
    </div>
  );
}

type TextProps = Omit<JSX.IntrinsicElements["input"], "onInput" | "value" | "ref"> & { value: string; onValue: (value: string) => void };
export const Text = ({ onValue, ...rest }: TextProps) => (
  <input type="text" autocomplete="off" spellcheck={false} {...rest} onInput={(event) => onValue(event.currentTarget.value)} />
);
type SelectProps<T extends string> = Omit<JSX.IntrinsicElements["select"], "onChange" | "value"> & {
  value: T;
  options: readonly (T | { value: T; text: string; disabled?: boolean })[];
  onValue: (value: T) => void;
};
export function Select<T extends string>({ value, options, onValue, ...rest }: SelectProps<T>) {
  return (
    <span class="select">
      <select {...rest} value={value} onChange={(event) => onValue(event.currentTarget.value as T)}>
        {options.map((one) => {
          const option = typeof one === "string" ? { value: one, text: one, disabled: false } : one;
          return <option key={option.value} value={option.value} disabled={option.disabled} selected={option.value === value}>{option.text}</option>;
        })}
      </select>
      <Icon name="down" size={12} />
    </span>
  );
}
export function Check({ checked, onValue, children, disabled }: { checked: boolean; onValue: (on: boolean) => void; children: ComponentChildren; disabled?: boolean }) {
  return (
    <label class="check">
      <input type="checkbox" checked={checked} disabled={disabled ?? false} onChange={(event) => onValue(event.currentTarget.checked)} />
      <span>{children}</span>
    </label>
  );
}

export function Tabs<T extends string>({ tabs, value, onValue, label }: { tabs: readonly { value: T; text: ComponentChildren }[]; value: T; onValue: (value: T) => void; label: string }) {
  const list = useRef<HTMLDivElement>(null);
  const move = (event: KeyboardEvent, at: number) => {
    const step = event.key === "ArrowRight" ? 1 : event.key === "ArrowLeft" ? -1 : 0;
    if (!step) return;
    event.preventDefault();
    const next = (at + step + tabs.length) % tabs.length;
    onValue(tabs[next]!.value);
    (list.current!.children[next] as HTMLElement).focus();
  };
  return (
    <div class="tabs" role="tablist" aria-label={label} ref={list}>
      {tabs.map((tab, i) => (
        <button type="button" role="tab" key={tab.value} aria-selected={tab.value === value} tabIndex={tab.value === value ? 0 : -1}
          onClick={() => onValue(tab.value)} onKeyDown={(event) => move(event, i)}>
          {tab.text}
        </button>
      ))}
    </div>
  );
}

export const Badge = ({ children, tone = "plain", title }: { children: ComponentChildren; tone?: "plain" | "good" | "warn" | "bad" | "accent"; title?: string }) => (
  <span class={`badge ${tone}`} title={title}>{children}</span>
);
export const Spinner = ({ text = "Loading" }: { text?: string }) => (
  <span class="spinner" role="status"><span class="spin" aria-hidden="true" />{text}</span>
);
export const Notice = ({ tone = "info", children }: { tone?: "info" | "warn" | "bad" | "good"; children: ComponentChildren }) => (
  <div class={`notice ${tone}`} role={tone === "bad" ? "alert" : undefined}>
    <Icon name={tone === "info" ? "info" : tone === "good" ? "check" : "warn"} />
    <div>{children}</div>
  </div>
);
export function Empty({ icon, title, children, actions }: { icon: IconName; title: string; children?: ComponentChildren; actions?: ComponentChildren }) {
  return (
    <div class="empty">
      <Icon name={icon} size={28} />
      <h2>{title}</h2>
      {children && <div class="empty-text">{children}</div>}
      {actions && <div class="actions">{actions}</div>}
    </div>
  );
}

export async function copyText(text: string, what = "Copied") {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    (document.querySelector("dialog[open]") ?? document.body).append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
  toast(what);
}
export const CopyButton = ({ text, label = "Copy" }: { text: string | (() => string); label?: string }) => (
  <Button kind="quiet" icon="copy" label={label} onClick={() => void copyText(typeof text === "string" ? text : text())} />
);
export function download(name: string, content: BlobPart | BlobPart[], type = "application/json") {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob(Array.isArray(content) ? content : [content], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

// A text to read and copy.
export const Code = ({ text, label }: { text: string; label: string }) => (
  <div class="code">
    <CopyButton text={text} label={`Copy ${label}`} />
    <pre tabIndex={0} role="region" aria-label={label}>{text}</pre>
  </div>
);

export interface MenuEntry {
  text: string;
  icon?: IconName;
  danger?: boolean;
  disabled?: boolean;
  run: () => void;
}
export function Menu({ label, icon = "more", text, kind = "quiet", entries }: { label: string; icon?: IconName; text?: string; kind?: "plain" | "quiet"; entries: (MenuEntry | null)[] }) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLSpanElement>(null);
  const list = useRef<HTMLDivElement>(null);
  const [place, setPlace] = useState({ top: 0, left: 0 });
  useEffect(() => {
    if (!open) return;
    list.current!.showPopover(); // above everything, and cut off by nothing
    const box = root.current!.getBoundingClientRect();
    const menu = list.current!.getBoundingClientRect();
    setPlace({
      top: box.bottom + menu.height + 8 > innerHeight ? Math.max(8, box.top - menu.height - 4) : box.bottom + 4,
      left: Math.max(8, Math.min(box.left, innerWidth - menu.width - 8)),
    });
    list.current!.querySelector<HTMLElement>("button:not(:disabled)")?.focus();
    const away = (event: Event) => root.current?.contains(event.target as Node) || setOpen(false);
    addEventListener("pointerdown", away);
    addEventListener("blur", away);
    return () => {
      removeEventListener("pointerdown", away);
      removeEventListener("blur", away);
    };
  }, [open]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    const buttons = [...list.current!.querySelectorAll<HTMLElement>("button:not(:disabled)")];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    if (event.key === "Escape" || event.key === "Tab") {
      setOpen(false);
      if (event.key === "Escape") {
        event.preventDefault();
        event.stopPropagation();
        root.current!.querySelector("button")!.focus();
      }
    } else if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      event.preventDefault();
      event.stopPropagation();
      buttons[(at + (event.key === "ArrowDown" ? 1 : -1) + buttons.length) % buttons.length]?.focus();
    }
  };
  return (
    <span class="menu-root" ref={root} onKeyDown={onKeyDown}>
      <Button kind={kind} icon={icon} aria-haspopup="menu" aria-expanded={open} onClick={() => setOpen(!open)} {...(text ? {} : { label })}>{text}</Button>
      {open && (
        <div class="menu" role="menu" popover="manual" aria-label={label} ref={list} style={{ top: `${place.top}px`, left: `${place.left}px` }}>
          {entries.map((entry, i) =>
            entry ? (
              <button type="button" role="menuitem" key={entry.text} class={entry.danger ? "danger" : ""} disabled={entry.disabled}
                onClick={() => {
                  setOpen(false);
                  entry.run();
                }}>
                {entry.icon ? <Icon name={entry.icon} /> : <span class="icon" />}
                {entry.text}
              </button>
            ) : <hr key={i} />,
          )}
        </div>
      )}
    </span>
  );
}

export function Page({ title, crumbs, actions, children, tabs, fill }: { title: ComponentChildren; crumbs?: ComponentChildren; actions?: ComponentChildren; tabs?: ComponentChildren; children: ComponentChildren; fill?: boolean }) {
  return (
    <div class={`page ${fill ? "fill" : ""}`}>
      <header class="page-head">
        <div class="page-title">
          {crumbs && <nav class="crumbs" aria-label="Breadcrumbs">{crumbs}</nav>}
          <h1>{title}</h1>
        </div>
        {actions && <div class="actions">{actions}</div>}
      </header>
      {tabs}
      <div class="page-body">{children}</div>
    </div>
  );
}

import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { connected, session, signInNeeded } from "./api/client";
import { Dialog } from "./components/dialog";
import { Icon } from "./components/icons";
import { type Command, Palette, paletteOpen } from "./components/palette";
import { Toasts } from "./components/toast";
import { Badge, Button, Text } from "./components/ui";
import { SignIn } from "./pages/signin";
import { go, path, tableUrl } from "./router";
import { Routed, sections } from "./routes";
import { accessKey, info, readOnly, start, tableNames, type Theme, theme } from "./state";

const drawerOpen = signal(false);
const helpOpen = signal(false);
const themes: { value: Theme; text: string; icon: "system" | "sun" | "moon" }[] = [
  { value: "system", text: "As the system", icon: "system" },
  { value: "light", text: "Light", icon: "sun" },
  { value: "dark", text: "Dark", icon: "moon" },
];
async function signOut() {
  await session.close();
  accessKey.value = null;
  await start();
}

export function App() {
  useShortcuts();
  const commands = useMemo((): Command[] => [
    ...sections.filter((one) => one.shown?.() ?? true).map((one): Command => ({ text: one.text, icon: one.icon, hint: one.keys, run: () => go(one.href) })),
    { text: "Create a table", icon: "plus", run: () => go("/new-table") },
    ...themes.map((one): Command => ({ text: `Theme: ${one.text.toLowerCase()}`, icon: one.icon, run: () => (theme.value = one.value) })),
    { text: "Keyboard shortcuts", icon: "info", hint: "?", run: () => (helpOpen.value = true) },
    ...(accessKey.value ? [{ text: "Sign out", icon: "out", run: () => void signOut() } satisfies Command] : []),
  ], [info.value, accessKey.value]);
  if (signInNeeded.value) return <><Banner /><SignIn /><Toasts /></>;
  return (
    <div class={`shell ${drawerOpen.value ? "drawer-open" : ""}`}>
      <a class="skip" href="#content" onClick={(event) => { event.preventDefault(); document.getElementById("content")?.focus(); }}>Skip to the content</a>
      <header class="topbar">
        <Button kind="quiet" icon="menu" label="Menu" aria-expanded={drawerOpen.value} onClick={() => (drawerOpen.value = !drawerOpen.value)} />
        <a class="brand" href="/tables">Stator</a>
        <Button kind="quiet" icon="search" label="Command palette" onClick={() => (paletteOpen.value = true)} />
      </header>
      {drawerOpen.value && <button type="button" class="scrim" aria-label="Close the menu" onClick={() => (drawerOpen.value = false)} />}
      <Sidebar />
      <main id="content" tabIndex={-1}>
        <Banner />
        <Routed />
      </main>
      <Palette commands={commands} />
      {helpOpen.value && <Help onClose={() => (helpOpen.value = false)} />}
      <Toasts />
    </div>
  );
}

const Banner = () =>
  connected.value ? null : (
    <div class="banner" role="alert"><span class="spin" aria-hidden="true" />The server does not answer. What is shown may be old. The console asks again until it is back.</div>
  );

function Sidebar() {
  const [find, setFind] = useState("");
  const at = path.value;
  const names = tableNames.value;
  const shown = names?.filter((name) => name.toLowerCase().includes(find.toLowerCase())) ?? [];
  useEffect(() => {
    drawerOpen.value = false;
  }, [at]);
  return (
    <aside class="sidebar" aria-label="Navigation">
      <div class="sidebar-head">
        <a class="brand" href="/tables"><span class="logo" aria-hidden="true" />Stator</a>
        {readOnly() && <Badge tone="warn" title="Writes are refused">read-only</Badge>}
      </div>
      <button type="button" class="palette-button" onClick={() => (paletteOpen.value = true)}>
        <Icon name="search" /><span>Go to…</span><kbd>{/Mac|iPhone|iPad/.test(navigator.platform) ? "⌘" : "Ctrl"} K</kbd>
      </button>
      <nav aria-label="Pages">
        {sections.filter((one) => one.shown?.() ?? true).map((one) => (
          <a key={one.href} class="nav-link" href={one.href} aria-current={at === one.href || (one.href === "/tables" && at === "/") || (one.href !== "/tables" && at.startsWith(`${one.href}/`)) ? "page" : undefined}>
            <Icon name={one.icon} />{one.text}
          </a>
        ))}
      </nav>
      <div class="sidebar-tables">
        <h2>Tables{names ? <span class="count">{names.length}</span> : null}</h2>
        {(names?.length ?? 0) > 8 && <Text value={find} onValue={setFind} placeholder="Find a table" aria-label="Find a table" class="small" />}
        <nav aria-label="Tables" class="scroll">
          {shown.slice(0, 300).map((name) => (
            <a key={name} class="nav-link table-link" href={tableUrl(name, "/items")} title={name}
              aria-current={at === tableUrl(name) || at.startsWith(tableUrl(name, "/")) ? "page" : undefined}>{name}</a>
          ))}
          {shown.length > 300 && <p class="hint">{shown.length - 300} more: type a part of the name.</p>}
          {names && !names.length && <p class="hint">There is no table yet.</p>}
        </nav>
      </div>
      <footer class="sidebar-foot">
        <div class="segmented" role="group" aria-label="Theme">
          {themes.map((one) => (
            <button type="button" key={one.value} aria-pressed={theme.value === one.value} aria-label={`Theme: ${one.text}`} title={one.text} onClick={() => (theme.value = one.value)}><Icon name={one.icon} size={14} /></button>
          ))}
        </div>
        <span class="where" title={info.value?.endpoint ?? "The database of this server"}>
          {info.value?.endpoint ? info.value.endpoint.replace(/^https?:\/\//, "") : info.value?.version ? `v${info.value.version}` : ""}
        </span>
        {accessKey.value && <Button kind="quiet" icon="out" label={`Sign out ${accessKey.value}`} onClick={() => void signOut()} />}
        <Button kind="quiet" icon="info" label="Keyboard shortcuts" onClick={() => (helpOpen.value = true)} />
      </footer>
    </aside>
  );
}

// g and a letter go to a page; / finds; ? helps; Ctrl-K does everything.
function useShortcuts() {
  useEffect(() => {
    let before = "";
    const onKeyDown = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
        event.preventDefault();
        paletteOpen.value = !paletteOpen.value;
        return;
      }
      const target = event.composedPath()[0] as HTMLElement;
      const typing = target.closest?.("input, textarea, select, [contenteditable=true], dialog[open]");
      if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "?") helpOpen.value = true;
      else if (event.key === "/") {
        const find = document.querySelector<HTMLElement>("main [data-find]");
        if (find) {
          event.preventDefault();
          find.focus();
        }
      } else if (before === "g") {
        const section = sections.find((one) => one.keys === `g ${event.key}` && (one.shown?.() ?? true));
        if (section) go(section.href);
      }
      before = event.key;
    };
    addEventListener("keydown", onKeyDown);
    return () => removeEventListener("keydown", onKeyDown);
  }, []);
}

function Help({ onClose }: { onClose: () => void }) {
  const keys: [string, string][] = [
    ["Ctrl K", "command palette: go to any table, do anything"],
    ["g t, g p, g m, g s, g l", "tables, PartiQL, models, streams, live"],
    ["/", "find on this page"],
    ["↑ ↓ PgUp PgDn Home End", "move in a table"],
    ["Enter", "open the row"],
    ["Space, Shift Space", "select the row, or all rows up to it"],
    ["Ctrl Enter", "run the query, save the item"],
    ["Esc", "close"],
  ];
  return (
    <Dialog title="Keyboard shortcuts" size="small" onClose={onClose}>
      <dl class="keys">{keys.map(([key, text]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{text}</dd></div>)}</dl>
    </Dialog>
  );
}

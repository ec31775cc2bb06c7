// The URL is the state of the page: what is looked at is in its path, how it is looked at in its query.
import { computed, signal } from "@preact/signals";

const here = () => location.pathname + location.search;
export const url = signal(here());
export const path = computed(() => url.value.split("?")[0]!);
export const query = computed(() => new URLSearchParams(url.value.split("?")[1] ?? ""));

addEventListener("popstate", () => (url.value = here()));

export function go(to: string, options: { replace?: boolean } = {}) {
  if (to === here()) return;
  if (options.replace) history.replaceState(null, "", to);
  else history.pushState(null, "", to);
  url.value = here();
}

// The current path with other values in its query; null and "" take a name out.
export function withQuery(changes: Record<string, string | null | undefined>) {
  const next = new URLSearchParams(query.peek());
  for (const [name, value] of Object.entries(changes)) {
    if (value) next.set(name, value);
    else next.delete(name);
  }
  const text = next.toString();
  return path.peek() + (text ? `?${text}` : "");
}
export const setQuery = (changes: Record<string, string | null | undefined>, options: { replace?: boolean } = {}) => go(withQuery(changes), options);

// `/tables/:table/items` against the path: the parameters, or null.
export function match(pattern: string, text: string): Record<string, string> | null {
  const want = pattern.split("/");
  const have = text.replace(/(.)\/$/, "$1").split("/");
  if (want.length !== have.length) return null;
  const found: Record<string, string> = {};
  for (const [i, part] of want.entries()) {
    const value = have[i]!;
    if (part.startsWith(":")) {
      try {
        found[part.slice(1)] = decodeURIComponent(value);
      } catch {
        return null;
      }
      if (!value) return null;
    } else if (part !== value) return null;
  }
  return found;
}

export const tableUrl = (table: string, rest = "") => `/tables/${encodeURIComponent(table)}${rest}`;

// Links inside the page do not load it again.
addEventListener("click", (event) => {
  if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  const link = (event.target as Element | null)?.closest?.("a[href]");
  if (!(link instanceof HTMLAnchorElement) || link.target || link.hasAttribute("download") || link.origin !== location.origin) return;
  if (/^\/(api|assets|session|console|health|metrics|systems)(\/|$)/.test(link.pathname)) return;
  event.preventDefault();
  go(link.pathname + link.search);
});

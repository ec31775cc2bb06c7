// Every page and its path.  Pages are loaded when they are opened first.
import type { ComponentType } from "preact";
import { useEffect, useState } from "preact/hooks";
import type { IconName } from "./components/icons";
import { Empty, Notice, Spinner } from "./components/ui";
import { match, path } from "./router";
import { info } from "./state";

type Parameters = Record<string, string>;
type PageOf = ComponentType<any>;
interface Route {
  path: string;
  load: () => Promise<PageOf>;
}

export const routes: Route[] = [
  { path: "/", load: () => import("./pages/tables/list").then((m) => m.TablesPage) },
  { path: "/tables", load: () => import("./pages/tables/list").then((m) => m.TablesPage) },
  { path: "/new-table", load: () => import("./pages/tables/create").then((m) => m.CreateTablePage) },
  { path: "/tables/:table", load: () => import("./pages/tables/settings").then((m) => m.TableSettingsPage) },
  { path: "/tables/:table/items", load: () => import("./pages/items/items").then((m) => m.ItemsPage) },
  { path: "/tables/:table/item", load: () => import("./pages/items/item").then((m) => m.ItemPage) },
  { path: "/tables/:table/tree", load: () => import("./pages/items/tree").then((m) => m.TreePage) },
  { path: "/tables/:table/import", load: () => import("./pages/items/import").then((m) => m.ImportPage) },
  { path: "/tables/:table/partitions", load: () => import("./pages/partitions/partitions").then((m) => m.PartitionsPage) },
  { path: "/partiql", load: () => import("./pages/partiql/partiql").then((m) => m.PartiqlPage) },
  { path: "/models", load: () => import("./pages/models/list").then((m) => m.ModelsPage) },
  { path: "/models/:model", load: () => import("./pages/models/model").then((m) => m.ModelPage) },
  { path: "/new-model", load: () => import("./pages/models/write").then((m) => m.NewModelPage) },
  { path: "/live", load: () => import("./pages/live/live").then((m) => m.LivePage) },
  { path: "/streams", load: () => import("./pages/streams/streams").then((m) => m.StreamsPage) },
  { path: "/streams/:table", load: () => import("./pages/streams/streams").then((m) => m.StreamPage) },
];

// The entries of the sidebar above the tables.  `shown`: whether the server has what the page shows.
export const sections: { text: string; href: string; icon: IconName; keys: string; shown?: () => boolean }[] = [
  { text: "Tables", href: "/tables", icon: "table", keys: "g t" },
  { text: "PartiQL", href: "/partiql", icon: "code", keys: "g p" },
  { text: "Models", href: "/models", icon: "model", keys: "g m", shown: () => info.value?.features.models ?? false },
  { text: "Streams", href: "/streams", icon: "stream", keys: "g s", shown: () => routes.some((r) => r.path === "/streams") },
  { text: "Live", href: "/live", icon: "live", keys: "g l", shown: () => info.value?.features.live ?? false },
];

const loaded = new Map<Route, PageOf>();

export function Routed() {
  const at = path.value;
  const [, again] = useState(0);
  const [failed, setFailed] = useState<string | null>(null);
  let parameters: Parameters | null = null;
  const route = routes.find((one) => (parameters = match(one.path, at)));
  const page = route && loaded.get(route);
  useEffect(() => {
    setFailed(null);
    if (!route || page) return;
    route.load().then(
      (component) => {
        loaded.set(route, component);
        again((n) => n + 1);
      },
      () => setFailed("This part of the page cannot be loaded. Load the page again: the server may have been replaced by another version."),
    );
  }, [route]);
  if (!route) return <Empty icon="search" title="There is no such page" actions={<a class="button primary" href="/tables">All tables</a>}>Nothing is at <code>{at}</code>.</Empty>;
  if (failed) return <Notice tone="bad">{failed}</Notice>;
  if (!page) return <div class="page"><Spinner /></div>;
  const Component = page;
  // Another table is another page, and not the same one with other rows.
  return <Component key={at} {...parameters!} />;
}

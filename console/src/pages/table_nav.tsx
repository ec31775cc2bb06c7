// What all pages of one table have in common: the way back, and the views of the table.
import type { ComponentChildren } from "preact";
import { Page } from "../components/ui";
import { path, tableUrl } from "../router";

const views = [["Items", "/items"], ["Partitions", "/partitions"], ["Tree", "/tree"], ["Import", "/import"], ["Settings", ""]] as const;

export function TablePage({ table, actions, children, fill }: { table: string; actions?: ComponentChildren; children: ComponentChildren; fill?: boolean }) {
  return (
    <Page title={table} crumbs={<span><a href="/tables">Tables</a></span>} actions={actions} fill={fill ?? false} tabs={
      <nav class="tabs" aria-label={`Views of ${table}`}>
        {views.map(([text, rest]) => {
          const href = tableUrl(table, rest);
          return <a key={rest} href={href} aria-current={path.value === href ? "page" : undefined}>{text}</a>;
        })}
      </nav>
    }>
      {children}
    </Page>
  );
}

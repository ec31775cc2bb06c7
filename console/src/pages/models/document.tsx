// The generated document: the part of Markdown that the server writes, as elements.  Nothing in it becomes HTML.
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import { Button, copyText, download } from "../../components/ui";

export function Document({ markdown, name = "model" }: { markdown: string; name?: string }) {
  const blocks = useMemo(() => blocksOf(markdown), [markdown]);
  return (
    <div class="stack">
      <div class="row"><Button icon="copy" onClick={() => void copyText(markdown)}>Copy as Markdown</Button><Button icon="download" onClick={() => download(`${name}.md`, markdown, "text/markdown")}>Download</Button></div>
      <article class="document">{blocks}</article>
    </div>
  );
}

function blocksOf(markdown: string): ComponentChildren[] {
  const lines = markdown.split("\n");
  const blocks: ComponentChildren[] = [];
  let at = 0;
  const take = (pattern: RegExp) => {
    const taken: string[] = [];
    while (at < lines.length && pattern.test(lines[at]!)) taken.push(lines[at++]!);
    return taken;
  };
  while (at < lines.length) {
    const line = lines[at]!;
    const heading = /^(#{1,4}) (.*)$/.exec(line);
    if (heading) {
      // The page has its own first heading.
      const Level = `h${Math.min(4, heading[1]!.length + 1)}` as "h2";
      blocks.push(<Level key={at}>{inline(heading[2]!)}</Level>);
      at++;
    } else if (line.startsWith("```")) {
      const start = ++at;
      while (at < lines.length && !lines[at]!.startsWith("```")) at++;
      blocks.push(<pre key={start} tabIndex={0}>{lines.slice(start, at).join("\n")}</pre>);
      at++;
    } else if (line.startsWith("|")) {
      const rows = take(/^\|/).filter((row) => !/^\|[\s:|-]+\|$/.test(row)).map(cellsOf);
      const [head = [], ...body] = rows;
      blocks.push(
        <div class="table-box" key={at} tabIndex={0} role="group" aria-label={`Table of ${head[0] ?? "the document"}`}>
          <table class="plain compact">
            <thead><tr>{head.map((cell, i) => <th key={i}>{inline(cell)}</th>)}</tr></thead>
            <tbody>{body.map((row, r) => <tr key={r}>{row.map((cell, i) => <td key={i}>{inline(cell)}</td>)}</tr>)}</tbody>
          </table>
        </div>,
      );
    } else if (/^- /.test(line)) {
      blocks.push(<ul key={at}>{take(/^- |^ {2}\S/).map((one, i) => <li key={i}>{inline(one.replace(/^- /, ""))}</li>)}</ul>);
    } else if (/^\d+\. /.test(line)) {
      blocks.push(<ol key={at}>{take(/^\d+\. /).map((one, i) => <li key={i}>{inline(one.replace(/^\d+\. /, ""))}</li>)}</ol>);
    } else if (line.trim()) {
      blocks.push(<p key={at}>{inline(take(/^(?![#|]|- |\d+\. |```)\s*\S/).join(" "))}</p>);
    } else at++;
  }
  return blocks;
}

// "| a | b \| c |" has two cells.
const cellsOf = (row: string) => row.replace(/^\|\s?|\s?\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
function inline(text: string): ComponentChildren {
  return text.split(/(`+[^`]*`+|\*\*[^*]+\*\*)/).map((part, i) => {
    if (part.startsWith("`") && part.length > 1) return <code key={i}>{part.replace(/^`+\s?|\s?`+$/g, "")}</code>;
    if (part.startsWith("**") && part.length > 4) return <strong key={i}>{part.slice(2, -2)}</strong>;
    return part.replace(/\\([\\`*_{}[\]<>#|-])/g, "$1");
  });
}

import type { Finding } from "../../api/models";
import { Badge, Button } from "../../components/ui";

export function FindingList({ findings, onLine }: { findings: Finding[]; onLine?: (line: number) => void }) {
  if (!findings.length) return null;
  const sorted = [...findings].sort((a, b) => rank(a) - rank(b) || a.line - b.line);
  return (
    <ul class="findings">
      {sorted.map((one, i) => (
        <li key={i} class={one.accepted ? "accepted" : one.severity}>
          <div class="row">
            <Badge tone={one.accepted ? "plain" : one.severity === "error" ? "bad" : "warn"}>{one.accepted ? "accepted" : one.severity}</Badge>
            <code>{one.rule}</code>
            {one.subject && <span class="muted">{one.subject}</span>}
            {one.line > 0 && (onLine ? <Button kind="quiet" onClick={() => onLine(one.line)}>line {one.line}</Button> : <span class="muted">line {one.line}</span>)}
          </div>
          <p>{one.message}</p>
          {one.witness && <p class="hint">For example: <code>{one.witness}</code></p>}
          {one.fix && <p class="hint">{one.fix}</p>}
          {one.because && <p class="hint">Accepted: {one.because}</p>}
        </li>
      ))}
    </ul>
  );
}
const rank = (one: Finding) => (one.accepted ? 2 : one.severity === "error" ? 0 : 1);

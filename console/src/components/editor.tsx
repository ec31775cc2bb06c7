import { useEffect, useRef, useState } from "preact/hooks";
import type { CompletionSource, Diagnostic, Handle } from "./codemirror";

interface Props {
  value: string;
  onValue?: (text: string) => void;
  onRun?: () => void;
  label: string;
  language: "json" | "partiql" | "yaml";
  readOnly?: boolean;
  complete?: CompletionSource;
  diagnostics?: Diagnostic[];
  line?: number | undefined; // to go to
  height?: string;
}
// A text editor.  Until its code is there, and where it cannot be loaded, it is a plain field.
export function Editor({ value, onValue, onRun, label, language, readOnly = false, complete, diagnostics, line, height = "280px" }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const handle = useRef<Handle | null>(null);
  const latest = useRef({ onValue, onRun, complete, value });
  latest.current = { onValue, onRun, complete, value };
  const [ready, setReady] = useState(false);
  // Texts that came from the editor.  When one arrives as the value, the editor may be further already: it is left alone.
  const told = useRef({ all: new Set<string>(), last: "" });
  useEffect(() => {
    let gone = false;
    void import("./codemirror").then(({ createEditor }) => {
      if (gone || !host.current) return;
      handle.current = createEditor({
        parent: host.current, text: latest.current.value, label, language, readOnly,
        onText: (text) => {
          told.current.all.add(text);
          told.current.last = text;
          latest.current.onValue?.(text);
        },
        onRun: () => latest.current.onRun?.(),
        ...(complete ? { complete: (context) => latest.current.complete!(context) } : {}),
      });
      setReady(true);
    }, () => {});
    return () => {
      gone = true;
      handle.current?.destroy();
      handle.current = null;
    };
  }, [language, readOnly]);
  useEffect(() => {
    if (!told.current.all.has(value)) handle.current?.set(value);
    else if (value === told.current.last) told.current.all = new Set([value]);
  }, [value, ready]);
  useEffect(() => {
    if (diagnostics) handle.current?.show(diagnostics);
  }, [diagnostics, ready]);
  useEffect(() => {
    if (line) handle.current?.goTo(line);
  }, [line, ready]);
  return (
    <div class="editor" style={{ height }}>
      {!ready && <textarea aria-label={label} value={value} readOnly={readOnly} spellcheck={false} onInput={(event) => onValue?.(event.currentTarget.value)} />}
      <div class="editor-host" ref={host} data-ready={ready} hidden={!ready} />
    </div>
  );
}

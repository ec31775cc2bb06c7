// The editor, loaded when a page needs it.  It lives in a shadow root, where its styles are sheets made by script: the page's policy
// allows no style elements.
import { autocompletion, closeBrackets, closeBracketsKeymap, type CompletionSource, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { json } from "@codemirror/lang-json";
import { keywordCompletionSource, SQLDialect, sql } from "@codemirror/lang-sql";
import { yaml } from "@codemirror/lang-yaml";
import { bracketMatching, defaultHighlightStyle, foldGutter, foldKeymap, HighlightStyle, indentOnInput, indentUnit, syntaxHighlighting } from "@codemirror/language";
import { type Diagnostic, lintGutter, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
import { Compartment, EditorState } from "@codemirror/state";
import { EditorView, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export type { CompletionSource, Diagnostic };
export interface EditorOptions {
  parent: HTMLElement;
  text: string;
  label: string;
  language: "json" | "partiql" | "yaml";
  readOnly: boolean;
  onText: (text: string) => void;
  onRun: () => void;
  complete?: CompletionSource;
}
export interface Handle {
  set: (text: string) => void;
  insert: (text: string) => void;
  focus: () => void;
  goTo: (line: number) => void;
  show: (diagnostics: Diagnostic[]) => void;
  destroy: () => void;
}

const partiql = SQLDialect.define({
  keywords: "select insert update delete from where value into set remove and or not in is missing null between exists order by asc desc returning all old new modified true false begins_with contains attribute_type size list_append set_add set_delete",
  types: "", doubleDotQuotedStrings: false, identifierQuotes: '"', caseInsensitiveIdentifiers: false,
} as Parameters<typeof SQLDialect.define>[0]);

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--e0)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--e5)" },
  { tag: [tags.number], color: "var(--e2)" },
  { tag: [tags.bool, tags.null, tags.atom], color: "var(--e3)" },
  { tag: [tags.keyword, tags.operatorKeyword], color: "var(--accent)", fontWeight: "600" },
  { tag: [tags.comment], color: "var(--muted)" },
  { tag: [tags.punctuation, tags.separator, tags.brace, tags.squareBracket], color: "var(--muted)" },
]);
const look = EditorView.theme({
  "&": { height: "100%", fontSize: "12px", color: "var(--text)", backgroundColor: "var(--raised)" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "18px" },
  ".cm-content": { caretColor: "var(--text)", padding: "8px 0" },
  ".cm-gutters": { backgroundColor: "var(--panel)", color: "var(--muted)", border: "0", borderRight: "1px solid var(--line)" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "color-mix(in srgb, var(--hover), transparent 75%)" },
  "&.cm-focused": { outline: "none" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, ::selection": { backgroundColor: "light-dark(#cfd9ff, #36447d)" },
  ".cm-tooltip, .cm-panels": { backgroundColor: "var(--raised)", color: "var(--text)", border: "1px solid var(--line)", borderRadius: "6px" },
  ".cm-tooltip-autocomplete > ul": { fontFamily: "var(--mono)", fontSize: "12px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-fill)", color: "var(--on-accent)" },
  ".cm-completionDetail": { color: "inherit", opacity: "0.75" },
  ".cm-specialChar": { color: "var(--bad)" },
  ".cm-foldPlaceholder": { backgroundColor: "var(--hover)", color: "var(--muted)", border: "0" },
});

export function createEditor(options: EditorOptions): Handle {
  const root = options.parent.shadowRoot ?? options.parent.attachShadow({ mode: "open" });
  const place = document.createElement("div");
  place.style.height = "100%";
  root.append(place);
  const language = options.language === "json" ? json() : options.language === "yaml" ? yaml() : sql({ dialect: partiql });
  const writable = new Compartment();
  const complete = options.complete;
  const view = new EditorView({
    root, parent: place,
    state: EditorState.create({
      doc: options.text,
      extensions: [
        lineNumbers(), foldGutter(), highlightSpecialChars(), history(), indentOnInput(), indentUnit.of("  "), bracketMatching(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches(),
        search({ top: true }), lintGutter(), language, syntaxHighlighting(colours), syntaxHighlighting(defaultHighlightStyle, { fallback: true }), look, EditorView.lineWrapping,
        autocompletion(complete ? { override: options.language === "partiql" ? [complete, keywordCompletionSource(partiql, true)] : [complete] } : {}),
        keymap.of([
          { key: "Mod-Enter", run: () => (options.onRun(), true) },
          { key: "Escape", run: (one) => (one.contentDOM.blur(), true) }, // so that Tab leads on
          ...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, ...foldKeymap, ...defaultKeymap, indentWithTab,
        ]),
        // The browser would give text that replaces other text the style of that text, which the page's policy forbids.
        EditorView.domEventHandlers({
          beforeinput(event, one) {
            const { from, to, empty } = one.state.selection.main;
            const text = event.data;
            if (event.inputType !== "insertText" || !text || empty || one.composing) return false;
            const insert = () => one.state.update(one.state.replaceSelection(text), { userEvent: "input.type", scrollIntoView: true });
            if (!one.state.facet(EditorView.inputHandler).some((handle) => handle(one, from, to, text, insert))) one.dispatch(insert());
            event.preventDefault();
            return true;
          },
        }),
        EditorView.contentAttributes.of({ "aria-label": options.label, tabindex: "0" }),
        writable.of([EditorState.readOnly.of(options.readOnly)]),
        EditorView.updateListener.of((update) => update.docChanged && options.onText(update.state.doc.toString())),
      ],
    }),
  });
  return {
    set: (text) => text !== view.state.doc.toString() && view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } }),
    insert: (text) => view.dispatch(view.state.replaceSelection(text)),
    focus: () => view.focus(),
    goTo: (line) => {
      const at = view.state.doc.line(Math.max(1, Math.min(line, view.state.doc.lines))).from;
      view.dispatch({ selection: { anchor: at }, effects: EditorView.scrollIntoView(at, { y: "center" }) });
      view.focus();
    },
    show: (diagnostics) => view.dispatch(setDiagnostics(view.state, diagnostics)),
    destroy: () => {
      view.destroy();
      place.remove();
    },
  };
}

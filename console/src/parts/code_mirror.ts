/** CodeMirror in a shadow root: its styles are adopted sheets there, which a strict policy for styles permits. */

import { type Completion, type CompletionContext, autocompletion, closeBrackets, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
import { javascript, javascriptLanguage } from "@codemirror/lang-javascript";
import { HighlightStyle, bracketMatching, indentOnInput, syntaxHighlighting } from "@codemirror/language";
import { EditorState } from "@codemirror/state";
import { EditorView, drawSelection, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

export interface EditorHandle {
  value: () => string;
  setValue: (text: string) => void;
  destroy: () => void;
}

interface EditorOptions {
  label: string;
  value: string;
  language: "javascript" | "json";
  names: () => readonly { label: string; detail: string }[];
  onInput: (text: string) => void;
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.keyword, tags.controlKeyword, tags.operatorKeyword], color: "var(--halt)" },
  { tag: [tags.string, tags.special(tags.string), tags.regexp], color: "var(--allow)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--ask)" },
  { tag: [tags.propertyName, tags.function(tags.variableName)], color: "var(--info)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
]);

const THEME = EditorView.theme({
  "&": { color: "var(--text)", backgroundColor: "var(--surface)", fontSize: "13px" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.6", minHeight: "11rem", maxHeight: "26rem" },
  ".cm-content": { padding: "0.5rem 0", caretColor: "var(--text)" },
  ".cm-cursor": { borderLeftColor: "var(--text)" },
  ".cm-gutters": { backgroundColor: "var(--sunken)", color: "var(--muted)", border: "none" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-tooltip": { backgroundColor: "var(--surface)", border: "1px solid var(--line)", borderRadius: "6px" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent-soft)", color: "var(--text)" },
});

export function createEditor(place: HTMLElement, options: EditorOptions): EditorHandle {
  const root = place.shadowRoot ?? place.attachShadow({ mode: "open" });
  const complete = (context: CompletionContext): { from: number; options: Completion[] } | null => {
    const word = context.matchBefore(/[\w$]+/);
    if (!word && !context.explicit) return null;
    const known = options.names().map(({ label, detail }) => ({ label, detail, type: "variable" }));
    return { from: word?.from ?? context.pos, options: known };
  };
  let silent = false;
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: options.value,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        closeBrackets(),
        highlightActiveLine(),
        autocompletion({ tooltipClass: () => "completions" }),
        javascript(),
        javascriptLanguage.data.of({ autocomplete: complete }),
        syntaxHighlighting(COLOURS),
        THEME,
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({ "aria-label": options.label }),
        // Escape leaves the editor to the Tab key, so the keyboard is never caught in it.
        keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap, indentWithTab]),
        EditorView.updateListener.of((update) => {
          if (update.docChanged && !silent) options.onInput(update.state.doc.toString());
        }),
      ],
    }),
  });
  return {
    value: () => view.state.doc.toString(),
    setValue(text) {
      if (text === view.state.doc.toString()) return;
      silent = true;
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: text } });
      silent = false;
    },
    destroy: () => view.destroy(),
  };
}

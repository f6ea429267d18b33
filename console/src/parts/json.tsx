/** JSON with its keys, texts and other values in colours. */

import type { JSX } from "preact";

const TOKEN = /("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MOST_COLOURED = 60_000; // characters; a longer text is shown without colours

export function toText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value, null, 2) ?? "");
}

export function Json({ value, label }: { value: unknown; label: string }): JSX.Element {
  const text = JSON.stringify(value, null, 2) ?? "null";
  return (
    <pre class="code json" tabIndex={0} role="region" aria-label={label}>
      {text.length > MOST_COLOURED ? text : coloured(text)}
    </pre>
  );
}

function coloured(text: string): (string | JSX.Element)[] {
  const parts: (string | JSX.Element)[] = [];
  let end = 0;
  for (const found of text.matchAll(TOKEN)) {
    parts.push(text.slice(end, found.index));
    const kind = found[1] ? (found[2] ? "key" : "string") : "other";
    parts.push(
      <span key={found.index} class={kind}>
        {found[1] ?? found[0]}
      </span>,
    );
    if (found[2]) parts.push(found[2]);
    end = found.index + found[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

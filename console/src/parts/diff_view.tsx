import type { JSX } from "preact";
import { diffLines, foldEqual } from "./diff";

export function DiffView({ before, after, label }: { before: string; after: string; label: string }): JSX.Element {
  const lines = foldEqual(diffLines(before, after));
  return (
    <div class="diff" role="region" aria-label={label} tabIndex={0}>
      {lines.map((line, index) =>
        "hidden" in line ? (
          <div key={index} class="gap" data-sign="⋯">
            {line.hidden === 1 ? "1 equal line" : `${line.hidden} equal lines`}
          </div>
        ) : (
          <div key={index} data-sign={line.sign === " " ? "" : line.sign}>
            {line.sign !== " " && <span class="visually-hidden">{line.sign === "+" ? "added: " : "removed: "}</span>}
            {line.text || "\u200b"}
          </div>
        ),
      )}
    </div>
  );
}

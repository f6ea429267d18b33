import type { JSX } from "preact";

export function Verdict({ word, big }: { word: string; big?: boolean }): JSX.Element {
  return (
    <span class={big ? "verdict big" : "verdict"} data-verdict={word}>
      {word}
    </span>
  );
}

export function Tags({ tags }: { tags: readonly string[] }): JSX.Element {
  return (
    <>
      {tags.map((tag) => (
        <span key={tag} class="tag">
          {tag}
        </span>
      ))}
    </>
  );
}

const AFTER: Record<string, string> = { "tool.after": "after", "tool.failed": "failed" };

/** What a decision is about: the tool, and whether it has run; or the event. */
export function ToolName({ row }: { row: { tool?: string; event: string } }): JSX.Element {
  return (
    <>
      {row.tool ?? row.event}
      {row.tool && AFTER[row.event] && <small>{AFTER[row.event]}</small>}
    </>
  );
}

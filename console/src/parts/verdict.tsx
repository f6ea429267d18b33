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

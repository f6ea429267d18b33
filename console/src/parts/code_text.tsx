import type { JSX } from "preact";

/** A text of the hub, with what stands between backticks as code. */
export function CodeText({ text }: { text: string }): JSX.Element {
  return <>{text.split("`").map((part, index) => (index % 2 ? <code key={index}>{part}</code> : part))}</>;
}

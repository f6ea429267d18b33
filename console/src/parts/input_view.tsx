import type { JSX } from "preact";
import { Json } from "./json";

/** Texts of an input one under the other, easier to read than JSON. */
export function InputView({ input }: { input: unknown }): JSX.Element {
  if (typeof input === "string") return <Text label="Input" text={input} />;
  const entries = typeof input === "object" && input !== null && !Array.isArray(input) ? Object.entries(input) : [];
  if (!entries.length || !entries.every(([, value]) => ["string", "number", "boolean"].includes(typeof value))) {
    return <Json value={input} label="Input" />;
  }
  return (
    <dl class="input-list">
      {entries.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <Text label={name} text={String(value)} />
          </dd>
        </div>
      ))}
    </dl>
  );
}

/** A long one scrolls, so the keyboard has to reach it. */
function Text({ label, text }: { label: string; text: string }): JSX.Element {
  return (
    <pre class="code" tabIndex={0} role="region" aria-label={label}>
      {text}
    </pre>
  );
}

/** Every hook of the event: those that took part, then those whose condition did not hold. */

import type { JSX } from "preact";
import type { Explained, TraceEntry } from "../../api/decisions";
import { toText } from "../../parts/json";
import { Place } from "../../parts/place";
import { formatMilliseconds } from "../../parts/time";
import { Verdict } from "../../parts/verdict";

export function HookTrace({ explained }: { explained: Explained }): JSX.Element {
  const { trace } = explained.decision;
  const applied = trace.filter((each) => each.applied);
  const others = trace.filter((each) => !each.applied);
  return (
    <>
      {explained.uncertain && (
        <p class="notice">Its facts were shortened or masked when they were recorded, so this may differ from what hooks saw.</p>
      )}
      {!trace.length && !explained.missing.length && <p class="muted">No hook listens to this event.</p>}
      {applied.length > 0 && (
        <ol class="trace">
          {applied.map((each, index) => (
            <TraceLine key={index} entry={each} decided={each.hook === explained.decision.by} />
          ))}
        </ol>
      )}
      {explained.missing.map((each) => (
        <p key={each.hook} class="muted">
          <code>{each.hook}</code> took part, but its text is not kept.
        </p>
      ))}
      {others.length > 0 && (
        <details class="trace-others" open={others.length <= 12}>
          <summary>
            {others.length === 1 ? "1 hook that did not run" : `${others.length} hooks that did not run`}, and the part that did not hold
          </summary>
          <ol class="trace">
            {others.map((each, index) => (
              <TraceLine key={index} entry={each} decided={false} />
            ))}
          </ol>
        </details>
      )}
    </>
  );
}

function TraceLine({ entry, decided }: { entry: TraceEntry; decided: boolean }): JSX.Element {
  const verdict = entry.outcome?.["verdict"];
  return (
    <li class="trace-line" data-applied={entry.applied} data-decided={decided}>
      <div class="trace-head">
        <code class="trace-hook">{entry.hook}</code>
        <Place file={entry.file} line={entry.line} />
        {entry.applied && <Verdict word={entry.error ? "failed" : typeof verdict === "string" ? verdict : "ran"} />}
        {decided && <span class="tag">decided</span>}
        {entry.applied && entry.ms > 0 && <span class="muted trace-took">{formatMilliseconds(entry.ms)}</span>}
      </div>
      <p class="trace-why">{entry.why}</p>
      {entry.error && (
        <p class="notice" data-level="warning">
          {entry.error}
        </p>
      )}
      <Changes outcome={entry.outcome} />
    </li>
  );
}

const TOLD_ELSEWHERE = ["verdict", "reason", "notes", "changes"];

function Changes({ outcome }: { outcome: TraceEntry["outcome"] }): JSX.Element | null {
  const changes = Object.entries((outcome?.["changes"] ?? {}) as Record<string, unknown>);
  const rest = Object.entries(outcome ?? {}).filter(([name]) => !TOLD_ELSEWHERE.includes(name));
  if (!changes.length && !rest.length) return null;
  return (
    <dl class="changes">
      {[...changes, ...rest].map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{toText(value)}</dd>
        </div>
      ))}
    </dl>
  );
}

import type { JSX } from "preact";
import { listDecisions, verdictWord } from "../../api/decisions";
import { connections } from "../../live/bus";
import { When, useLoad } from "../../parts/load";
import { Empty } from "../../parts/page";
import { formatShort } from "../../parts/time";
import { ToolName, Verdict } from "../../parts/verdict";

const SHOWN = 200;

/** What a session of another host did: its decisions, oldest first. */
export function SessionDecisions({ session }: { session: string }): JSX.Element {
  const page = useLoad(session, (signal) => listDecisions({ session }, { limit: SHOWN, signal }), connections.value);
  return (
    <When loaded={page}>
      {({ items, next }) =>
        items.length ? (
          <>
            {next !== null && (
              <p class="notice">
                <span>The last {SHOWN} decisions.</span>
                <a href={`/?session=${encodeURIComponent(session)}`}>See all</a>
              </p>
            )}
            <ol class="list timeline">
              {[...items].reverse().map((row) => (
                <li key={row.id}>
                  <a class="timeline-row" href={`/decisions/${encodeURIComponent(row.id)}`}>
                    <span class="muted">{formatShort(row.at)}</span>
                    <Verdict word={verdictWord(row)} />
                    <strong>
                      <ToolName row={row} />
                    </strong>
                    <code class="ellipsis">{row.what}</code>
                  </a>
                </li>
              ))}
            </ol>
          </>
        ) : (
          <Empty title="No decision of this session is recorded." />
        )
      }
    </When>
  );
}

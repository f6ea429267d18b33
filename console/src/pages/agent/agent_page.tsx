/** A browser agent, open: its frame, with the chat beside it. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { may } from "../../account";
import { type Agent, showAgent } from "../../api/agents";
import { type SessionRow, listSessions, showSession } from "../../api/sessions";
import { Icon } from "../../parts/icons";
import { When, useLoad } from "../../parts/load";
import { Empty, Page } from "../../parts/page";
import { Ago } from "../../parts/time";
import { attempt } from "../../parts/toast";
import { FrameArea, type PageState } from "../../sandbox/frame_area";
import { openAgent } from "../agents/agents_page";
import { SessionChat } from "../session/session_chat";
import { SessionActions } from "../session/session_page";

export function AgentPage({ id, session }: { id: string; session?: string }): JSX.Element {
  const agent = useLoad(id, (signal) => showAgent(id, signal));
  return <When loaded={agent}>{(data) => (session ? <OpenAgent agent={data} id={session} /> : <ClosedAgent agent={data} />)}</When>;
}

function ClosedAgent({ agent }: { agent: Agent }): JSX.Element {
  const sessions = useLoad(agent.id, async (signal) => {
    const page = await listSessions(signal);
    return page.items.filter((each) => each.agent === agent.id);
  });
  return (
    <Page
      title={agent.name}
      narrow
      crumbs={<a href="/agents">Agents</a>}
      lead={agent.prompt}
      actions={
        may("editor") && (
          <button type="button" class="primary" onClick={() => void attempt(() => openAgent(agent))}>
            <Icon name="plus" />
            New session
          </button>
        )
      }
    >
      <section class="file-hooks">
        <h2>Sessions</h2>
        <When loaded={sessions}>
          {(items) =>
            items.length ? (
              <ul class="list">
                {items.map((each) => (
                  <li key={each.id} class="agent-session">
                    <a href={`/agents/${encodeURIComponent(agent.id)}/sessions/${encodeURIComponent(each.id)}`} class="mono">
                      {each.id}
                    </a>
                    <span class="muted">
                      {each.turns ?? 0} turns, used <Ago at={each.last_used} />
                    </span>
                  </li>
                ))}
              </ul>
            ) : (
              <Empty title="No session yet." />
            )
          }
        </When>
      </section>
    </Page>
  );
}

const STATES: Record<PageState, string> = {
  attaching: "Connecting…",
  attached: "This page runs it",
  elsewhere: "Another tab runs it",
  hangs: "Its page hangs and is replaced",
  gone: "It goes on at the hub",
};

function OpenAgent({ agent, id }: { agent: Agent; id: string }): JSX.Element {
  const session = useLoad(id, (signal) => showSession(id, signal));
  const [state, setState] = useState<PageState>("attaching");
  const [takeOver, setTakeOver] = useState(0);
  return (
    <Page
      title={agent.name}
      class="agent-page"
      crumbs={
        <>
          <a href="/agents">Agents</a>
          <span aria-hidden="true">›</span>
          <a href={`/agents/${encodeURIComponent(agent.id)}`}>{agent.name}</a>
        </>
      }
      actions={session.data && <SessionActions session={session.data} reload={session.reload} />}
    >
      <When loaded={session}>
        {(data: SessionRow) => (
          <div class="agent-columns">
            <section class="agent-frame" aria-label={`The page of ${agent.name}`}>
              <header>
                <strong>{agent.name}</strong>
                <span class="muted" role="status">
                  {STATES[state]}
                </span>
                {state === "elsewhere" && (
                  <button type="button" class="small" onClick={() => setTakeOver(takeOver + 1)}>
                    Take over
                  </button>
                )}
              </header>
              <FrameArea agent={agent} session={data.id} onState={setState} takeOver={takeOver} />
            </section>
            <SessionChat session={data} />
          </div>
        )}
      </When>
    </Page>
  );
}

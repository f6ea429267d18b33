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
import { agentPath } from "../../router";
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
                    <a href={agentPath(agent.id, each.id)} class="mono">
                      {each.id}
                    </a>
                    <span class="muted">
                      {each.turns ?? 0} turns, used <Ago at={each.last_used} />
                    </span>
                  </li>
                ))}
              </ul>
            ) : (
              <Empty title="No session yet." icon="sessions">
                <p>A new session opens the agent's page with a chat beside it.</p>
              </Empty>
            )
          }
        </When>
      </section>
    </Page>
  );
}

interface StateText {
  text: string;
  look: "allow" | "ask" | "silent";
  /** Instead of the agent's page, if there is none. */
  note?: string;
}

const STATES: Record<PageState, StateText> = {
  attaching: { text: "Connecting…", look: "silent" },
  attached: { text: "This page runs it", look: "allow" },
  unseparated: { text: "This page runs it, scripts of hooks run on the hub", look: "ask" },
  unprotected: {
    text: "It goes on at the hub",
    look: "ask",
    note: "This browser has no Trusted Types, so it could not keep the agent's code in its frame. Scripts of hooks run on the hub, and the chat works.",
  },
  elsewhere: { text: "Another tab runs it", look: "ask", note: "One page at a time shows the agent's document and runs its scripts." },
  hangs: { text: "Its page hangs and is replaced", look: "ask" },
  gone: {
    text: "It goes on at the hub",
    look: "ask",
    note: "This page is not connected. The agent goes on at the hub with all its hooks, and its document comes back with the connection.",
  },
};
const NOT_EDITOR = "Only editors run an agent's page. You can read the chat.";
const ONE_PROCESS = "This browser runs the agent's page and the frame of its hooks in one process, where a loop in one would stop the other.";

function OpenAgent({ agent, id }: { agent: Agent; id: string }): JSX.Element {
  const session = useLoad(id, (signal) => showSession(id, signal));
  const [state, setState] = useState<PageState>("attaching");
  const [takeOver, setTakeOver] = useState(0);
  const shown = STATES[state];
  const note = may("editor") ? shown.note : NOT_EDITOR;
  return (
    <Page
      title={agent.name}
      class="agent-page"
      crumbs={
        <>
          <a href="/agents">Agents</a>
          <span aria-hidden="true">›</span>
          <a href={agentPath(agent.id)}>{agent.name}</a>
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
                <span class="verdict" data-verdict={shown.look} role="status" title={state === "unseparated" ? ONE_PROCESS : undefined}>
                  {shown.text}
                </span>
                {state === "elsewhere" && (
                  <button type="button" class="small" onClick={() => setTakeOver(takeOver + 1)}>
                    Take over
                  </button>
                )}
              </header>
              <FrameArea agent={agent} session={data.id} onState={setState} takeOver={takeOver} />
              {note && (
                <div class="frame-note">
                  <Icon name="agents" />
                  <p>{note}</p>
                </div>
              )}
            </section>
            <SessionChat session={data} />
          </div>
        )}
      </When>
    </Page>
  );
}

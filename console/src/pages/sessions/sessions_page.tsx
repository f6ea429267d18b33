/** Every session, ours and those of other hosts. */

import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { may } from "../../account";
import { listAgents } from "../../api/agents";
import { type SessionRow, deleteSession, isHere, listSessions } from "../../api/sessions";
import { connections, join, onEvent, onSnapshot } from "../../live/bus";
import { Confirm } from "../../parts/dialog";
import { Icon } from "../../parts/icons";
import { When, useLoad } from "../../parts/load";
import { Empty, Page } from "../../parts/page";
import { Ago } from "../../parts/time";
import { attempt } from "../../parts/toast";
import { agentPath } from "../../router";
import { ImportDialog } from "./import_dialog";

export function SessionsPage(): JSX.Element {
  const sessions = useLoad("sessions", listSessions, connections.value);
  const agents = useLoad("agents", listAgents, connections.value);
  const names = new Map(agents.data?.items.map((agent) => [agent.id, agent.name]));
  const [importing, setImporting] = useState(false);
  const [deleting, setDeleting] = useState<SessionRow | null>(null);
  useEffect(() => {
    const ends = [
      join("live"),
      onSnapshot((room) => room === "live" && sessions.reload()),
      onEvent(({ type }) => (type === "session_started" || type === "session_ended") && sessions.reload()),
    ];
    return () => ends.forEach((end) => end());
  }, []);
  return (
    <Page
      title="Sessions"
      lead="Those of this hub, and those that hosts elsewhere report."
      actions={
        may("editor") && (
          <button type="button" onClick={() => setImporting(true)}>
            <Icon name="upload" />
            Import
          </button>
        )
      }
    >
      <When loaded={sessions}>
        {({ items }) =>
          items.length ? (
            <SessionTable sessions={items} names={names} onDelete={setDeleting} />
          ) : (
            <Empty title="No session yet." icon="sessions">
              <p>
                Start one from <a href="/agents">Agents</a>, or run <code>hookline run</code>.
              </p>
            </Empty>
          )
        }
      </When>
      {importing && <ImportDialog onClose={() => setImporting(false)} />}
      {deleting && (
        <Confirm
          title="Delete this session?"
          text="Its hooks on session.end run, then everything of it goes: messages, files, storage. What was recorded about its decisions stays."
          action="Delete"
          onClose={() => setDeleting(null)}
          onConfirm={() => void attempt(() => deleteSession(deleting.id)).then(sessions.reload)}
        />
      )}
    </Page>
  );
}

interface SessionTableProps {
  sessions: readonly SessionRow[];
  /** Of browser agents, by id. */
  names: ReadonlyMap<string, string>;
  onDelete: (session: SessionRow) => void;
}

function SessionTable({ sessions, names, onDelete }: SessionTableProps): JSX.Element {
  return (
    <div class="grid-table" tabIndex={0} role="region" aria-label="Sessions">
      <table class="stack-table">
        <thead>
          <tr>
            <th scope="col">Session</th>
            <th scope="col">Host</th>
            <th scope="col">Workspace</th>
            <th scope="col" class="number">
              Calls
            </th>
            <th scope="col">Last used</th>
            <th scope="col">State</th>
            <th scope="col">
              <span class="visually-hidden">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {sessions.map((session) => (
            <tr key={session.id}>
              <th scope="row">
                <SessionLink session={session} name={names.get(session.agent ?? "")} />
                <div class="muted host-detail mono">{session.id.slice(0, 24)}</div>
              </th>
              <td data-label="Host">{session.host}</td>
              <td data-label="Workspace" class="mono host-workspace">
                {session.workspace}
              </td>
              <td data-label="Calls" class="number">
                {session.tool_calls ?? session.decisions}
              </td>
              <td data-label="Last used">
                <Ago at={session.last_used} />
              </td>
              <td data-label="State">
                <span class="verdict" data-verdict={session.state === "working" ? "allow" : "silent"}>
                  {session.state}
                </span>
              </td>
              <td>
                {may("editor") && isHere(session) && (
                  <div class="actions">
                    <button type="button" class="small danger" onClick={() => onDelete(session)} aria-label={`Delete the session ${session.id}`}>
                      Delete
                    </button>
                  </div>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A browser agent's session opens with the agent's page. */
function SessionLink({ session, name }: { session: SessionRow; name: string | undefined }): JSX.Element {
  if (name !== undefined && session.agent) return <a href={agentPath(session.agent, session.id)}>{name}</a>;
  return <a href={`/sessions/${encodeURIComponent(session.id)}`}>{session.agent || session.host}</a>;
}

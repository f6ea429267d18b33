/** The agents of this hub: those made here, and those of its workspaces. */

import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { may } from "../../account";
import { type Agent, listAgents, removeAgent } from "../../api/agents";
import { type HookRow, listHooks } from "../../api/rules";
import { listWorkspaces, startSession } from "../../api/sessions";
import { connections } from "../../live/bus";
import { Confirm } from "../../parts/dialog";
import { Icon } from "../../parts/icons";
import { When, useLoad } from "../../parts/load";
import { Empty, Page } from "../../parts/page";
import { attempt } from "../../parts/toast";
import { Tags } from "../../parts/verdict";
import { agentPath, go } from "../../router";
import { AgentDialog } from "./agent_dialog";

export function AgentsPage(): JSX.Element {
  const agents = useLoad("agents", listAgents, connections.value);
  const hooks = useLoad("hooks", listHooks, connections.value);
  const [editing, setEditing] = useState<Agent | "new" | null>(null);
  const [leaving, setLeaving] = useState<Agent | null>(null);
  return (
    <Page
      title="Agents"
      lead="Agents run on the hub. The page of a browser agent shows it and runs its scripts; closing it changes nothing."
      actions={
        may("editor") && (
          <button type="button" class="primary" onClick={() => setEditing("new")}>
            <Icon name="plus" />
            New agent
          </button>
        )
      }
    >
      <When loaded={agents}>
        {({ items }) =>
          items.length ? (
            <ul class="agent-list">
              {items.map((agent) => (
                <AgentCard
                  key={agent.id}
                  agent={agent}
                  hooks={hooks.data?.items.filter((hook) => isFor(hook, agent))}
                  onEdit={() => setEditing(agent)}
                  onRemove={() => setLeaving(agent)}
                />
              ))}
            </ul>
          ) : (
            <Empty title="No agent yet." icon="agents">
              <p>Give one a name and a prompt. It gets a page that it can draw in, and rules of its own.</p>
            </Empty>
          )
        }
      </When>
      <Workspaces />
      {editing && (
        <AgentDialog
          {...(editing === "new" ? {} : { agent: editing })}
          onDone={() => {
            setEditing(null);
            agents.reload();
          }}
        />
      )}
      {leaving && (
        <Confirm
          title={`Delete ${leaving.name}?`}
          text="Its sessions and its directory stay."
          action="Delete"
          onClose={() => setLeaving(null)}
          onConfirm={() => void attempt(() => removeAgent(leaving.id)).then(agents.reload)}
        />
      )}
    </Page>
  );
}

export async function openAgent(agent: Agent): Promise<void> {
  const session = await startSession({ agent: agent.id });
  go(agentPath(agent.id, session.id));
}

async function openWorkspace(workspace: string): Promise<void> {
  const session = await startSession({ workspace });
  go(`/sessions/${encodeURIComponent(session.id)}`);
}

function Workspaces(): JSX.Element {
  const workspaces = useLoad("workspaces", listWorkspaces);
  return (
    <section class="file-hooks">
      <header>
        <h2>Workspaces</h2>
        <span class="muted">directories in which this hub runs hookline's own agent</span>
      </header>
      <When loaded={workspaces}>
        {({ items }) =>
          items.length ? (
            <ul class="list">
              {items.map(({ path }) => (
                <li key={path} class="agent-session">
                  <code>{path}</code>
                  {may("editor") && (
                    <button type="button" class="small" onClick={() => void attempt(() => openWorkspace(path))} aria-label={`New session in ${path}`}>
                      New session
                    </button>
                  )}
                </li>
              ))}
            </ul>
          ) : (
            <p class="muted">
              None. Start the hub with <code>--workspace DIR</code>.
            </p>
          )
        }
      </When>
    </section>
  );
}

const isFor = (hook: HookRow, agent: Agent): boolean => hook.in.some((place) => place.agent === agent.id);

/** How many hooks decide about the agent, how often they did, and their tags. */
function AgentHooks({ hooks }: { hooks: readonly HookRow[] }): JSX.Element {
  const fires = hooks.reduce((sum, hook) => sum + hook.fires, 0);
  const tags = [...new Set(hooks.flatMap((hook) => hook.tags))].sort();
  return (
    <p class="agent-line agent-hooks">
      <span class="muted">
        {hooks.length === 1 ? "1 hook" : `${hooks.length} hooks`}, {fires === 0 ? "none fired yet" : fires === 1 ? "fired once" : `fired ${fires} times`}
      </span>
      <Tags tags={tags} />
    </p>
  );
}

interface AgentCardProps {
  agent: Agent;
  /** Those in force for it; undefined until they are loaded. */
  hooks: readonly HookRow[] | undefined;
  onEdit: () => void;
  onRemove: () => void;
}

function AgentCard({ agent, hooks, onEdit, onRemove }: AgentCardProps): JSX.Element {
  return (
    <li class="card agent-card">
      <header>
        <h2>
          <a href={agentPath(agent.id)}>{agent.name}</a>
        </h2>
      </header>
      {agent.prompt && <p class="agent-prompt muted">{agent.prompt}</p>}
      <p class="agent-line">
        {agent.model && <code>{agent.model}</code>}
        <Tags tags={agent.tools} />
      </p>
      {hooks && <AgentHooks hooks={hooks} />}
      <div class="actions">
        {may("editor") && (
          <button type="button" class="primary small" onClick={() => void attempt(() => openAgent(agent))} aria-label={`New session with ${agent.name}`}>
            New session
          </button>
        )}
        <a class="button small" href={`/hooks?set=${encodeURIComponent(`agent:${agent.id}`)}`} aria-label={`Rules of ${agent.name}`}>
          Rules
        </a>
        {may("editor") && (
          <>
            <button type="button" class="small" onClick={onEdit} aria-label={`Change ${agent.name}`}>
              Change
            </button>
            <button type="button" class="small danger" onClick={onRemove} aria-label={`Delete ${agent.name}`}>
              Delete
            </button>
          </>
        )}
      </div>
    </li>
  );
}

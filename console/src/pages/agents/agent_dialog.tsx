/** Make or change a browser agent. */

import type { JSX } from "preact";
import { useId, useState } from "preact/hooks";
import { type Agent, type AgentForm, addAgent, changeAgent } from "../../api/agents";
import { describeError } from "../../api/client";
import { Dialog } from "../../parts/dialog";

const words = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

export function AgentDialog({ agent, onDone }: { agent?: Agent; onDone: (saved: Agent | null) => void }): JSX.Element {
  const [name, setName] = useState(agent?.name ?? "");
  const [prompt, setPrompt] = useState(agent?.prompt ?? "");
  const [model, setModel] = useState(agent?.model ?? "");
  const [tools, setTools] = useState((agent?.tools ?? []).join(" "));
  const [network, setNetwork] = useState((agent?.network ?? []).join(" "));
  const [failure, setFailure] = useState("");
  const id = useId();
  const save = async (): Promise<void> => {
    const form: AgentForm = { name: name.trim(), prompt, model: model.trim(), tools: words(tools), network: words(network) };
    try {
      onDone(await (agent ? changeAgent(agent.id, form) : addAgent(form)));
    } catch (error) {
      setFailure(describeError(error));
    }
  };
  return (
    <Dialog title={agent ? `Change ${agent.name}` : "New agent"} onClose={() => onDone(null)}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <div class="field">
          <label for={`${id}-name`}>Name</label>
          <input id={`${id}-name`} required value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </div>
        <div class="field">
          <label for={`${id}-prompt`}>Prompt</label>
          <textarea id={`${id}-prompt`} rows={4} value={prompt} onInput={(event) => setPrompt(event.currentTarget.value)} />
        </div>
        <div class="field">
          <label for={`${id}-model`}>Model</label>
          <input id={`${id}-model`} value={model} placeholder="anthropic:claude-sonnet-4-5" onInput={(event) => setModel(event.currentTarget.value)} />
          <span class="hint">Empty: the hub's own choice. The key stays on the hub.</span>
        </div>
        <div class="field">
          <label for={`${id}-tools`}>Tools</label>
          <input id={`${id}-tools`} value={tools} placeholder="dom runjs fetch storage" onInput={(event) => setTools(event.currentTarget.value)} />
          <span class="hint">Empty: all of them. Hooks decide about each call.</span>
        </div>
        <div class="field">
          <label for={`${id}-network`}>Network</label>
          <input id={`${id}-network`} value={network} placeholder="https://api.example.com" onInput={(event) => setNetwork(event.currentTarget.value)} />
          <span class="hint">Origins that its page may fetch from.</span>
        </div>
        {failure && (
          <p class="notice" data-level="error" role="alert">
            {failure}
          </p>
        )}
        <div class="actions">
          <button type="button" onClick={() => onDone(null)}>
            Cancel
          </button>
          <button type="submit" class="primary">
            Save
          </button>
        </div>
      </form>
    </Dialog>
  );
}

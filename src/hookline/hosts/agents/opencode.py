"""opencode, whose hooks are plugins, not programs. hookline's plugin passes each hook on and applies the reply.

The plugin sends one JSON object, and gets one:

```
{"event": "tool.execute.before", "directory": …, "input": …, "output": …}
→ {"deny": reason, "args": {…}, "prompt": …, "result": …, "context": …, "message": …}
```

`input` and `output` are the two arguments of opencode's hook; for a bus event, `input` is its properties. The reply
contains only the keys that apply, and `{}` changes nothing:

- `deny`: throw an error with this text; in `experimental.session.compacting` too.
- `args`: the complete new `output.args`.
- `prompt`: the complete new prompt. It goes into the first text part; the other text parts become empty.
- `result`: the complete new `output.output`.
- `context`: text for the agent. Before and after a tool, it is appended to the call's result; in `chat.message`, to the
  last text part; in `experimental.session.compacting`, it is pushed to `output.context`.
- `message`: text for the user.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Final

from hookline.hosts.agents.agent import (
    FAKE_API_KEY,
    HEADLESS_PROMPT,
    SAMPLE_COMMAND,
    SAMPLE_ID,
    HeadlessRun,
    ParsedPayload,
    Proof,
    Reply,
)
from hookline.hosts.agents.agent_event import agent_event
from hookline.hosts.agents.entries import DesiredFile, HookCommand, OwnFile
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.agents.merged_decision import MergedDecision, json_line, value_text
from hookline.hosts.agents.payload import (
    Facts,
    first_mapping,
    first_text,
    known_facts,
    mapping_list,
    shell_result_facts,
    tool_facts,
)
from hookline.hosts.agents.plugin_agent import PluginAgent
from hookline.lazy_dataclasses import dataclass

_PLUGIN_SOURCE: Final = Path(__file__).with_name("opencode_plugin.js")
_CHANGE_KEYS: Final = {"tool.before": "args", "prompt.submit": "prompt", "tool.after": "result"}


@dataclass(frozen=True)
class Opencode(PluginAgent):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        hook_input, output = first_mapping(payload, "input"), first_mapping(payload, "output")
        base = known_facts(
            session=known_facts(
                id=first_text(hook_input, "sessionID") or first_text(first_mapping(hook_input, "info"), "id")
            ),
            cwd=first_text(payload, "directory"),
            workspace=first_text(payload, "worktree", "directory"),
            agent=known_facts(name=first_text(hook_input, "agent")),
        )
        if event == "prompt.submit":
            message = first_mapping(output, "message")
            model = known_facts(model=first_text(first_mapping(message, "model"), "modelID"))
            base = {**base, "session": {**first_mapping(base, "session"), **model}}
            texts = [first_text(part, "text") for part in mapping_list(output, "parts") if part.get("type") == "text"]
            return [{**base, "prompt": "\n".join(texts)}]
        if event == "stop":
            return [{**base, "stop": {"reason": "end_turn"}}]
        if event in ("tool.before", "tool.after", "approval.request"):
            return [{**base, "tool": tool} for tool in self._tool_facts(event, hook_input, output)]
        return [base]

    def _tool_facts(self, event: str, hook_input: Mapping[str, Any], output: Mapping[str, Any]) -> list[Facts]:
        if event == "approval.request":
            name, id = first_text(hook_input, "permission"), first_text(first_mapping(hook_input, "tool"), "callID")
            return tool_facts(self.vocabulary_name, name, id, first_mapping(hook_input, "metadata"))
        name, id = first_text(hook_input, "tool"), first_text(hook_input, "callID")
        input = (hook_input if event == "tool.after" else output).get("args", {})
        result = _tool_result_facts(output) if event == "tool.after" else {}
        return [{**tool, **result} for tool in tool_facts(self.vocabulary_name, name, id, input)]

    def called_input(self, payload: Mapping[str, Any]) -> Any:
        return first_mapping(payload, "output").get("args")

    def empty_reply(self) -> Reply:
        return Reply("{}")

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        output: dict[str, Any] = {"deny": answer.reason} if answer.is_denied else {}
        if answer.is_changed:
            value = answer.new if answer.event == "tool.before" else value_text(answer.new)
            output[_CHANGE_KEYS[answer.event]] = value
        if answer.context:
            output["context"] = answer.context
        if answer.message:
            output["message"] = answer.message
        return Reply(json_line(output) or "{}")

    def home_directories(self, machine: Machine) -> tuple[Path, ...]:
        return (machine.config / self.name,)

    def desired_files(self, machine: Machine, scope: InstallScope, command: HookCommand) -> tuple[DesiredFile, ...]:
        path = self.settings_path(machine, scope, "plugin/hookline.js", f".{self.name}/plugin/hookline.js")
        text = self.plugin_text(_PLUGIN_SOURCE, machine, scope, command)
        return (OwnFile(path, text, signature=self.signature),)

    def sample_call(self, directory: str) -> tuple[str, dict[str, Any]]:
        return "tool.execute.before", {
            "event": "tool.execute.before",
            "directory": directory,
            "worktree": directory,
            "input": {"tool": "bash", "sessionID": SAMPLE_ID, "callID": SAMPLE_ID},
            "output": {"args": {"command": SAMPLE_COMMAND, "description": "a test by hookline doctor"}},
        }

    def headless_run(self, url: str, home: Path) -> HeadlessRun:
        """Works with opencode 1.18.33 and Kilo 7.7.7, whose variables differ in the prefix only."""
        prefix = self.name.upper()
        provider = {
            "npm": "@ai-sdk/openai-compatible",
            "options": {"baseURL": f"{url}/v1", "apiKey": FAKE_API_KEY},
            "models": {"scripted": {"name": "scripted"}},
        }
        settings = {
            "model": "loopback/scripted",
            "provider": {"loopback": provider},
            "share": "disabled",
            "snapshot": False,
        }
        environment = {
            f"{prefix}_CONFIG_CONTENT": json.dumps(settings),
            f"{prefix}_DISABLE_MODELS_FETCH": "1",
            f"{prefix}_DISABLE_AUTOUPDATE": "1",
            "NPM_CONFIG_OFFLINE": "true",  # otherwise it waits at its start for a package that no plugin here needs
        }
        return HeadlessRun(("run", HEADLESS_PROMPT), environment)


def _tool_result_facts(output: Mapping[str, Any]) -> Facts:
    code = first_mapping(output, "metadata").get("exit")
    return shell_result_facts(code if type(code) is int else 0, output.get("output"))


PLUGIN_EVENTS: Final = (
    agent_event("session.created", "session.start", "user"),
    agent_event("chat.message", "prompt.submit", "deny change context user"),
    agent_event("tool.execute.before", "tool.before", "deny change context user"),
    agent_event("permission.asked", "approval.request", "user"),
    agent_event("tool.execute.after", "tool.after", "change context user"),
    agent_event("experimental.session.compacting", "history.compact", "deny context user"),
    agent_event("session.idle", "stop", "user"),
    agent_event("session.deleted", "session.end"),
)

AGENT = Opencode(
    name="opencode",
    title="opencode",
    proof=Proof.RUN,
    versions=("1.18.33",),
    events=PLUGIN_EVENTS,
    timeout=timedelta(minutes=10),  # opencode itself has no limit
    programs=("opencode",),
    homes=(),
)

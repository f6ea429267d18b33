"""opencode, which runs no programs as hooks but plugins. Ours passes each hook on and does what it is answered.

The plugin sends one JSON object, and gets one:

```
{"event": "tool.execute.before", "directory": …, "input": …, "output": …}
→ {"deny": reason, "args": {…}, "prompt": …, "result": …, "status": …, "context": …, "message": …}
```

`input` and `output` are the hook's own two arguments; of a bus event `input` is its properties. Each key of the
answer is there only where it is meant, and `{}` changes nothing:

- `deny`: throw an error with this text; in `experimental.session.compacting` too.
- `args`: the whole new `output.args`, to be put in place of all of them.
- `prompt`: the whole new text of the prompt: in the first text part; the other text parts become empty.
- `result`: the whole new `output.output`.
- `status`: of `permission.ask`, `"allow"` or `"deny"` for `output.status`.
- `context`: text for the agent. Before a tool it is kept and appended to that call's result, after a tool it is
  appended to the result, in `chat.message` to the last text part, in `experimental.session.compacting` it is pushed
  to `output.context`.
- `message`: text for the user.

opencode: a plugin that passes each of its hooks on to our launcher and does what it is answered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from hookline.hooks.outcome import Verdict
from hookline.hosts.agents.adapter import Adapter, agent_event
from hookline.hosts.agents.agent import AgentEvent, ParsedPayload, Reply
from hookline.hosts.agents.merged_decision import MergedDecision, join_texts, json_line, value_text
from hookline.hosts.agents.payload import (
    Facts,
    first_mapping,
    first_text,
    known_facts,
    mapping_list,
    shell_result_facts,
    tool_facts,
)
from hookline.hosts.agents.timeouts import agent_timeout
from hookline.hosts.install.entries import HookCommand, OwnFile
from hookline.hosts.install.machine import InstallScope, Machine

_PLUGIN_SOURCE: Final = Path(__file__).with_name("opencode_plugin.js")


def plugin_files(
    machine: Machine, scope: InstallScope, calling: HookCommand, events: Sequence[AgentEvent]
) -> tuple[OwnFile, ...]:
    directory = machine.config / "opencode" if scope is InstallScope.USER else machine.project / ".opencode"
    return (OwnFile(directory / "plugin" / "hookline.js", _plugin_text(machine, scope, calling, events)),)


def _plugin_text(machine: Machine, scope: InstallScope, calling: HookCommand, events: Sequence[AgentEvent]) -> str:
    launcher, home = machine.launcher, machine.home
    if scope is InstallScope.PROJECT and launcher.is_relative_to(home):
        program = f"join(homedir(), {json.dumps(str(launcher.relative_to(home)))})"
    else:
        program = json.dumps(str(launcher))
    longest = max(agent_timeout("opencode", each.name) for each in events)
    text = _PLUGIN_SOURCE.read_text("utf-8").replace('"THE ENTRY"', json.dumps("project" if calling.is_shared else ""))
    text = text.replace('"THE MISSING"', json.dumps(calling.missing.value))
    text = text.replace('"THE LAUNCHER"', program).replace('"THE EVENTS"', json.dumps([each.name for each in events]))
    return text.replace('"THE TIMEOUT"', str(round(longest.total_seconds() * 1000)))


@dataclass(frozen=True)
class OpencodeAdapter(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        given, output = first_mapping(payload, "input"), first_mapping(payload, "output")
        base = known_facts(
            session=known_facts(id=first_text(given, "sessionID") or first_text(first_mapping(given, "info"), "id")),
            cwd=first_text(payload, "directory"),
            workspace=first_text(payload, "worktree", "directory"),
            agent=known_facts(name=first_text(given, "agent")),
        )
        if event == "prompt.submit":
            said = [first_text(part, "text") for part in mapping_list(output, "parts") if part.get("type") == "text"]
            return [{**base, "prompt": "\n".join(said)}]
        if event == "stop":
            return [{**base, "stop": {"reason": "end_turn"}}]
        if event in ("tool.before", "tool.after", "approval.request"):
            return [
                {**base, **_approval_facts(event, given), "tool": tool}
                for tool in self._tool_facts(event, given, output)
            ]
        return [base]

    def _tool_facts(self, event: str, given: Mapping[str, Any], output: Mapping[str, Any]) -> list[Facts]:
        if event == "approval.request":
            name = first_text(given, "tool", "permission", "type")
            input = first_mapping(given, "metadata")
        else:
            name = first_text(given, "tool")
            held = given if event == "tool.after" else output
            input = held.get("args", {})
        ran = _tool_result_facts(output) if event == "tool.after" else {}
        return [{**tool, **ran} for tool in tool_facts(self.vocabulary_name, name, first_text(given, "callID"), input)]

    def empty_reply(self) -> Reply:
        return Reply("{}")

    def render(self, parsed: ParsedPayload, answer: MergedDecision) -> Reply:
        said: dict[str, Any] = {}
        if answer.event == "approval.request":
            said = {} if answer.verdict is Verdict.SILENT else {"status": answer.verdict.word}
            answer = replace(answer, message=join_texts((answer.reason if answer.is_denied else "", answer.message)))
        elif answer.is_denied:
            said["deny"] = answer.reason
        if answer.is_changed:
            value = answer.new if answer.event == "tool.before" else value_text(answer.new)
            said[_CHANGE_KEYS[answer.event]] = value
        if answer.context:
            said["context"] = answer.context
        if answer.message:
            said["message"] = answer.message
        return Reply(json_line(said) or "{}")


def _tool_result_facts(output: Mapping[str, Any]) -> Facts:
    code = first_mapping(output, "metadata").get("exit")
    return shell_result_facts(code if type(code) is int else 0, output.get("output"))


_CHANGE_KEYS = {"tool.before": "args", "prompt.submit": "prompt", "tool.after": "result"}


def _approval_facts(event: str, given: Mapping[str, Any]) -> Facts:
    return {"approval": known_facts(message=first_text(given, "title"))} if event == "approval.request" else {}


AGENT = OpencodeAdapter(
    name="opencode",
    title="opencode",
    verified=True,
    events=(
        agent_event("session.created", "session.start", "user"),
        agent_event("chat.message", "prompt.submit", "deny change context user"),
        agent_event("tool.execute.before", "tool.before", "deny change context user"),
        agent_event("permission.ask", "approval.request", "deny allow user"),
        agent_event("tool.execute.after", "tool.after", "change context user"),
        agent_event("experimental.session.compacting", "history.compact", "deny context user"),
        agent_event("session.idle", "stop", "user"),
        agent_event("session.deleted", "session.end"),
    ),
)

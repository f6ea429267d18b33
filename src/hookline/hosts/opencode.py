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
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hookline.hooks.outcome import Verdict
from hookline.hosts.adapter import Adapter, heard
from hookline.hosts.agent import AgentEvent, Reply
from hookline.hosts.answer import Answer, joined, line, text_of
from hookline.hosts.payload import Facts, items, mapping, shell_ended, text, told, tools


@dataclass(frozen=True)
class Opencode(Adapter):
    def facts(self, name: str, event: str, payload: Mapping[str, Any]) -> list[Facts]:
        given, output = mapping(payload, "input"), mapping(payload, "output")
        base = told(
            session=told(id=text(given, "sessionID") or text(mapping(given, "info"), "id")),
            cwd=text(payload, "directory"),
            workspace=text(payload, "worktree", "directory"),
            agent=told(name=text(given, "agent")),
        )
        if event == "prompt.submit":
            said = [text(part, "text") for part in items(output, "parts") if part.get("type") == "text"]
            return [{**base, "prompt": "\n".join(said)}]
        if event == "stop":
            return [{**base, "stop": {"reason": "end_turn"}}]
        if event in ("tool.before", "tool.after", "approval.request"):
            return [{**base, **_beside(event, given), "tool": tool} for tool in self._tools(event, given, output)]
        return [base]

    def _tools(self, event: str, given: Mapping[str, Any], output: Mapping[str, Any]) -> list[Facts]:
        if event == "approval.request":
            name = text(given, "tool", "permission", "type")
            input = mapping(given, "metadata")
        else:
            name = text(given, "tool")
            held = given if event == "tool.after" else output
            input = held.get("args", {})
        ran = _ran(output) if event == "tool.after" else {}
        return [{**tool, **ran} for tool in tools(self.tongue, name, text(given, "callID"), input)]

    def quiet(self, name: str) -> Reply:
        return Reply("{}")

    def render(self, name: str, known: AgentEvent, payload: Mapping[str, Any], answer: Answer) -> Reply:
        said: dict[str, Any] = {}
        if known.event == "approval.request":
            said = {} if answer.verdict is Verdict.SILENT else {"status": answer.verdict.word}
            answer = replace(answer, message=joined((answer.reason if answer.denied else "", answer.message)))
        elif answer.denied:
            said["deny"] = answer.reason
        if answer.changed:
            value = answer.new if known.event == "tool.before" else text_of(answer.new)
            said[_NEW[known.event]] = value
        if answer.context:
            said["context"] = answer.context
        if answer.message:
            said["message"] = answer.message
        return Reply(line(said) or "{}")


def _ran(output: Mapping[str, Any]) -> Facts:
    code = mapping(output, "metadata").get("exit")
    return shell_ended(code if type(code) is int else 0, output.get("output"))


_NEW = {"tool.before": "args", "prompt.submit": "prompt", "tool.after": "result"}


def _beside(event: str, given: Mapping[str, Any]) -> Facts:
    return {"approval": told(message=text(given, "title"))} if event == "approval.request" else {}


AGENT = Opencode(
    name="opencode",
    title="opencode",
    verified=True,
    events=(
        heard("session.created", "session.start", "user"),
        heard("chat.message", "prompt.submit", "deny change context user"),
        heard("tool.execute.before", "tool.before", "deny change context user"),
        heard("permission.ask", "approval.request", "deny allow user"),
        heard("tool.execute.after", "tool.after", "change context user"),
        heard("experimental.session.compacting", "history.compact", "deny context user"),
        heard("session.idle", "stop", "user"),
        heard("session.deleted", "session.end"),
    ),
)

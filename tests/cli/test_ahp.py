"""`hookline ahp` over real pipes."""

from __future__ import annotations

import json
import sys

import pytest

pytestmark = pytest.mark.slow

EVENT = {"id": "e", "source": "urn:x", "type": "tool.before", "tool": {"name": "Bash", "input": {"command": "rm x"}}}
INTERCEPT = {
    "jsonrpc": "2.0",
    "id": "e",
    "method": "hooks/intercept",
    "params": {"protocolVersion": "draft", "event": EVENT, "capabilities": {"effects": ["deny"]}},
}
OBSERVE = {
    "jsonrpc": "2.0",
    "method": "hooks/observe",
    "params": {"protocolVersion": "draft", "event": {"id": "f", "type": "session.end", "session": {"id": "s"}}},
}


def test_each_line_is_answered_and_stdout_has_nothing_else(project, process):
    (project / "hookline.yaml").write_text(
        "hooks: [{id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}]\n"
    )
    process("trust", "--yes")
    lines = [json.dumps(INTERCEPT), json.dumps(OBSERVE), "garbage", ""]
    ended = process("ahp", input="\n".join(lines))
    assert ended.returncode == 0
    denied, unreadable = map(json.loads, ended.stdout.splitlines())
    assert denied["result"]["effects"] == [{"type": "deny", "reason": "Never. (hook no-rm, hookline.yaml:1)"}]
    assert unreadable["error"]["code"] == -32700


def test_a_hook_that_asks_hookline_again_is_denied_at_once(project, process):
    backend = json.dumps([sys.executable, "-m", "hookline", "ahp"])
    (project / "hookline.yaml").write_text(
        f"hooks: [{{id: self, on: tool.before, then: {{ahp: {backend}}}, timeout: 60s, on_error: closed}}]\n"
    )
    process("trust", "--yes")
    ended = process("ahp", input=json.dumps(INTERCEPT) + "\n")
    (effect,) = json.loads(ended.stdout)["result"]["effects"]
    assert (effect["type"], "asks hookline ahp again" in effect["reason"]) == ("deny", True)

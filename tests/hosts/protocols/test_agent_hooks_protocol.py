"""hookline as a backend of the Agent Hooks Protocol. The messages have the shapes of the working draft's own fixtures."""

from __future__ import annotations

import asyncio
import json
import os
from http import HTTPStatus
from typing import Any

import pytest

from bridge_sandbox import BridgeSandbox
from hookline.hosts.bridge.hook_cache import LoadOnce
from hookline.hosts.protocols.agent_hooks_protocol import AgentHooksBackend, ahp_routes
from hookline.hosts.protocols.local_decider import LocalDecider

HOOKS = """
hooks:
  - {id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}
  - {id: ask-push, on: tool.before, when: {runs: {program: git, subcommand: push}}, then: {ask: Really?}}
  - {id: to-https, on: tool.before, when: {tool: fetch}, then: {set: {input.url: 'https://x.test'}}}
  - {id: fine, on: tool.before, when: {tool: read_file}, then: {allow: Reading is fine.}}
  - {id: tip, on: tool.before, when: {tool: write_file}, then: {tell: Use tabs.}}
  - {id: over, on: tool.before, when: {tool: search}, then: {halt: Budget reached.}}
  - {id: no-key, on: tool.after, when: {result: KEY}, then: {replace: {in: result, pattern: KEY, with: '***'}}}
  - {id: no-secret-prompt, on: prompt.submit, when: {prompt: secret}, then: {deny: No secrets.}}
  - {id: test-first, on: stop, then: {deny: Run the tests.}}
"""
ALL = {
    "effects": ["deny", "allow", "ask", "modify", "message", "flow", "inject"],
    "modify": {each: {"replace": True, "merge": False} for each in ("input", "output", "prompt")},
    "flow": {"operations": ["stop", "continue"]},
    "inject": {"context": {"append": True, "deliverAt": ["next_turn"]}},
}
DENY = {"effects": ["deny"]}


class Harness:
    def __init__(self, desk: BridgeSandbox) -> None:
        desk.write_hooks(HOOKS)
        environment = {os.fsencode(name): os.fsencode(value) for name, value in desk.environment.items()}
        self.desk = desk
        self.now = 0.0
        decider = LocalDecider(LoadOnce(), environment)
        self.backend = AgentHooksBackend(decider.decide, desk.project, clock=lambda: self.now)
        self._count = 0

    def send(self, message: dict[str, Any] | bytes) -> Any:
        data = message if isinstance(message, bytes) else json.dumps(message).encode()
        return asyncio.run(self.backend.answer(data))

    def intercept(
        self, type: str, capabilities: dict[str, Any] = ALL, version: str = "draft", **event: Any
    ) -> dict[str, Any]:
        self._count += 1
        id = f"evt_{self._count}"
        common = {"id": id, "source": "urn:test:harness", "type": type, "time": "2026-08-24T08:51:14Z"}
        params = {"protocolVersion": version, "event": {**common, **event}, "capabilities": capabilities}
        answer = self.send({"jsonrpc": "2.0", "id": id, "method": "hooks/intercept", "params": params})
        assert answer["id"] == id
        found: dict[str, Any] = answer
        return found

    def effects(self, type: str, capabilities: dict[str, Any] = ALL, **event: Any) -> list[dict[str, Any]]:
        result = self.intercept(type, capabilities, **event)["result"]
        assert result["protocolVersion"] == event.get("version", "draft")
        used = [each["type"] for each in result["effects"]]
        assert set(used) <= set(capabilities["effects"])
        found: list[dict[str, Any]] = result["effects"]
        return found


@pytest.fixture
def harness(desk: BridgeSandbox) -> Harness:
    return Harness(desk)


def tool(name: str, **input: Any) -> dict[str, Any]:
    return {"tool": {"name": name, "input": input, "origin": "native"}, "call": {"id": "call_1"}, "path": "native"}


def message(role: str, text: str) -> dict[str, Any]:
    part = {"id": "p", "kind": "text", "mediaType": "text/plain", "selection": "body", "text": text}
    return {"id": "m", "role": role, "parts": [part]}


def test_a_denied_call(harness: Harness) -> None:
    reason = "Never. (hook no-rm, hookline.yaml:3)"
    assert harness.effects("tool.before", DENY, **tool("Bash", command="rm -rf /")) == [
        {"type": "deny", "reason": reason}
    ]


def test_the_first_draft_has_the_call_s_id_inside_of_the_tool(harness: Harness) -> None:
    call = {"callId": "c", "name": "Bash", "kind": "shell", "input": {"command": "rm x"}}
    result = harness.intercept("tool.before", DENY, version="0.1", tool=call)["result"]
    assert (result["protocolVersion"], result["effects"][0]["type"]) == ("0.1", "deny")


def test_a_call_that_no_hook_objects_to_has_no_effects(harness: Harness) -> None:
    assert harness.effects("tool.before", ALL, **tool("Bash", command="ls")) == []


def test_the_kind_that_the_harness_declares_counts(harness: Harness) -> None:
    odd = {"tool": {"name": "Zap", "kind": "shell", "input": {"command": "rm x"}}}
    assert harness.effects("tool.before", DENY, **odd)[0]["type"] == "deny"


def test_ask_and_allow_are_effects_where_they_are_advertised(harness: Harness) -> None:
    push = tool("Bash", command="git push")
    assert harness.effects("tool.before", ALL, **push) == [{"type": "ask"}]
    denied = harness.effects("tool.before", DENY, **push)
    assert denied[0]["type"] == "deny"
    assert "Really?" in denied[0]["reason"]
    assert harness.effects("tool.before", ALL, **tool("read_file", path="x")) == [{"type": "allow"}]
    assert harness.effects("tool.before", DENY, **tool("read_file", path="x")) == []


def test_a_changed_input_is_modified_or_denied(harness: Harness) -> None:
    call = tool("fetch", url="http://y")
    changed = {"type": "modify", "target": "input", "operation": "replace", "value": {"url": "https://x.test"}}
    assert harness.effects("tool.before", ALL, **call) == [changed]
    only_merge = {**ALL, "modify": {"input": {"replace": False, "merge": True}}}
    for capabilities in (DENY, only_merge):
        denied = harness.effects("tool.before", capabilities, **call)
        assert denied[0]["type"] == "deny"
        assert "https://x.test" in denied[0]["reason"]


def test_context_is_injected_when_the_harness_can_deliver_it(harness: Harness) -> None:
    (effect,) = harness.effects("tool.before", ALL, **tool("write_file", path="a", content="b"))
    assert (effect["type"], effect["deliverAt"]) == ("inject", "next_turn")
    assert effect["value"][0]["parts"][0]["text"] == "Use tabs."


@pytest.mark.parametrize(
    "call", [tool("Bash", command="rm x"), tool("Bash", command="git push"), tool("fetch", url="y")]
)
@pytest.mark.parametrize("effects", [[], ["message"], ["allow", "inject"]])
def test_a_deny_that_a_harness_does_not_offer_is_an_error(
    harness: Harness, call: dict[str, Any], effects: list[str]
) -> None:
    """No effects would let the tool run; an error leaves it to the failure policy."""
    assert harness.intercept("tool.before", {"effects": effects}, **call)["error"]["code"] == -32004


def test_a_denied_prompt_that_cannot_be_denied_is_an_error(harness: Harness) -> None:
    items = [message("user", "a secret")]
    assert harness.intercept("turn.start", {"effects": ["message"]}, items=items)["error"]["code"] == -32004
    stop = {"effects": ["flow"], "flow": {"operations": ["stop"]}}
    assert harness.intercept("tool.before", stop, **tool("search", query="x"))["result"]["effects"][0]["type"] == "flow"


def test_a_halt_stops_the_harness(harness: Harness) -> None:
    reason = "Budget reached. (hook over, hookline.yaml:8)"
    assert harness.effects("tool.before", ALL, **tool("search", query="x")) == [
        {"type": "deny", "reason": reason},
        {"type": "flow", "operation": "stop", "reason": reason},
    ]


def test_a_changed_result(harness: Harness) -> None:
    after = {**tool("Bash", command="env"), "outcome": "ok", "execution": {"status": "executed"}}
    (effect,) = harness.effects("tool.after", ALL, **after, items=[message("tool", "my KEY here")])
    assert (effect["target"], effect["operation"]) == ("output", "replace")
    assert effect["value"][0]["role"] == "tool"
    assert effect["value"][0]["parts"][0]["text"] == "my *** here"


def test_a_denied_prompt(harness: Harness) -> None:
    turn = {"turn": {"id": "t"}, "trigger": "user", "items": [message("user", "a secret")]}
    assert harness.effects("turn.start", ALL, **turn)[0]["type"] == "deny"


def test_a_denied_stop_continues_the_turn(harness: Harness) -> None:
    finish = {"turn": {"id": "t"}, "outcome": "completed", "continuationCount": 0, "items": []}
    assert harness.effects("turn.finish.before", ALL, **finish) == [
        {"type": "flow", "operation": "continue", "instruction": "Run the tests."}
    ]


def test_the_session_s_directory_has_the_hooks(harness: Harness, tmp_path: Any) -> None:
    call = tool("Bash", command="rm x")
    elsewhere = {"session": {"id": "s", "cwd": str(tmp_path)}}
    assert harness.effects("tool.before", DENY, **call, **elsewhere) == []
    gone = {"session": {"id": "s", "cwd": "/nowhere/at/all", "workspaceRoots": [str(harness.desk.project)]}}
    assert harness.effects("tool.before", DENY, **call, **gone)[0]["type"] == "deny"


def test_an_answer_is_not_given_again_after_a_minute(harness: Harness) -> None:
    """A harness sends a request again only before its deadline. Later, other hooks may be in force."""
    harness.desk.write_hooks("hooks: []")
    event = {"id": "e", "type": "tool.before", **tool("Bash", command="rm x")}
    params = {"protocolVersion": "draft", "event": event, "capabilities": DENY}
    request = {"jsonrpc": "2.0", "id": "e", "method": "hooks/intercept", "params": params}
    assert harness.send(request)["result"]["effects"] == []
    harness.desk.write_hooks(HOOKS)
    harness.now += 59
    assert harness.send(request)["result"]["effects"] == []
    harness.now += 2
    assert harness.send(request)["result"]["effects"][0]["type"] == "deny"


def test_a_request_that_is_sent_again_gets_the_same_answer(harness: Harness) -> None:
    call = {"id": "evt_9", "source": "urn:x", "type": "tool.before", **tool("Bash", command="rm x")}
    params = {"protocolVersion": "draft", "event": call, "capabilities": DENY}
    request = {"jsonrpc": "2.0", "id": "evt_9", "method": "hooks/intercept", "params": params}
    assert harness.send(request) == harness.send(request)


def test_another_request_with_a_used_id_is_decided(harness: Harness) -> None:
    """Harnesses of one backend may count their events alike."""

    def effects(command: str) -> Any:
        call = {"id": "1", "type": "tool.before", **tool("Bash", command=command)}
        params = {"protocolVersion": "draft", "event": call, "capabilities": DENY}
        answer = harness.send({"jsonrpc": "2.0", "id": "1", "method": "hooks/intercept", "params": params})
        return answer["result"]["effects"]

    assert effects("ls") == []
    assert effects("rm x")[0]["type"] == "deny"
    assert effects("ls") == []


def test_an_observed_event_gets_no_answer(harness: Harness) -> None:
    params = {"protocolVersion": "draft", "event": {"id": "e", "type": "session.end", "session": {"id": "s"}}}
    assert harness.send({"jsonrpc": "2.0", "method": "hooks/observe", "params": params}) is None
    unknown = {"protocolVersion": "draft", "event": {"id": "e", "type": "turn.progress"}}
    assert harness.send({"jsonrpc": "2.0", "method": "hooks/observe", "params": unknown}) is None


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"params": {"protocolVersion": "2027-01-01"}}, -32001),
        ({"params": {"protocolVersion": "draft", "event": {"id": "e", "type": "turn.progress"}, "capabilities": DENY}}, -32002),
        ({"params": {"protocolVersion": "draft", "event": {"id": "other", "type": "tool.before"}}}, -32602),
        ({"params": {"protocolVersion": "draft", "event": {"id": "e", "type": "tool.before"}}}, -32602),
        ({"params": {"protocolVersion": "draft", "event": {"id": "e", "type": "tool.before", "tool": {"name": "x", "input": "{}"}}, "capabilities": DENY}}, -32602),
        ({"params": []}, -32602),
        ({"method": "hooks/other", "params": {"protocolVersion": "draft"}}, -32601),
        ({"jsonrpc": "1.0"}, -32600),
        ({"id": True}, -32600),
    ],
)  # fmt: skip
def test_what_cannot_be_answered_is_an_error_and_never_no_effect(
    harness: Harness, change: dict[str, Any], code: int
) -> None:
    request = {"jsonrpc": "2.0", "id": "e", "method": "hooks/intercept", "params": {}, **change}
    answer = harness.send(request)
    assert "result" not in answer
    assert answer["error"]["code"] == code


@pytest.mark.parametrize("data", [b"", b"[]", b"nonsense", b'{"jsonrpc": "2.0", "jsonrpc": "2.0"}'])
def test_what_is_not_a_message_is_a_parse_error(harness: Harness, data: bytes) -> None:
    assert harness.send(data)["error"]["code"] == -32700


def test_the_manifest_offers_only_what_the_schema_allows(harness: Harness) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "hooks/capabilities", "params": {"protocolVersion": "draft"}}
    manifest = harness.send(request)["result"]["manifest"]
    for event in manifest["events"]:
        can = event.get("capabilities", {"effects": []})
        for option in ("modify", "flow", "inject"):
            assert (option in can["effects"]) == (option in can)
        assert ("intercept" in event["modes"]) == ("capabilities" in event)


def test_over_http_a_notification_is_accepted_without_a_body(harness: Harness) -> None:
    route = ahp_routes(harness.backend)["POST", "/ahp"]
    params = {"protocolVersion": "draft", "event": {"id": "e", "type": "session.end"}}
    body = json.dumps({"jsonrpc": "2.0", "method": "hooks/observe", "params": params}).encode()

    async def post(data: bytes) -> Any:
        return await route(data)

    assert asyncio.run(post(body)).status is HTTPStatus.ACCEPTED
    assert asyncio.run(post(b"x")).body["error"]["code"] == -32700


def test_a_harness_may_ask_what_to_subscribe_to(harness: Harness) -> None:
    request = {"jsonrpc": "2.0", "id": 1, "method": "hooks/configuration", "params": {"protocolVersion": "draft"}}
    first, second = harness.send(request)["result"]["configuration"]["subscriptions"]
    assert (first["mode"], first["failurePolicy"]) == ("intercept", "fail-closed")
    assert "tool.before" in first["events"]
    assert (second["mode"], second["events"]) == ("observe", ["session.end", "model.error"])

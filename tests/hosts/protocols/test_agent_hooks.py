"""hookline's hooks as an interceptor of AGENT-HOOKS 0.1. `make test-protocols` registers it with the published SDK."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

import hookline
from hookline.hosts.protocols.agent_hooks import SPEC, HooksInterceptor

RULES = """
hooks:
  - {id: no-rm, on: tool.before, when: {runs: {program: rm}}, then: {deny: Never.}}
  - {id: ask-push, on: tool.before, when: {runs: {program: git, subcommand: push}}, then: {ask: Really?}}
  - {id: all-files, on: tool.before, when: {input: {command: '^ls$'}}, then: {set: {input.command: ls -a}}}
  - {id: tip, on: tool.before, when: {tool: read_file}, then: {tell: Use tabs.}}
  - {id: enough, on: tool.before, when: {tool: deploy}, then: {halt: Enough.}}
  - {id: no-key, on: tool.after, when: {result: KEY}, then: {replace: {in: result, pattern: KEY, with: '***'}}}
  - {id: no-secret, on: prompt.submit, when: {prompt: secret}, then: {deny: No secrets.}}
  - {id: polite, on: prompt.submit, when: {prompt: '^hi$'}, then: {set: {prompt: hello}}}
"""


@pytest.fixture
def intercept(tmp_path: Path) -> Any:
    (tmp_path / "hookline.yaml").write_text(RULES)

    def ask(point: str, **context: Any) -> dict[str, Any]:
        async def run() -> dict[str, Any]:
            async with hookline.session(tmp_path, config=tmp_path / "hookline.yaml") as session:
                given = {"spec": SPEC, "interception_point": point, "session": {"id": "s1"}, "agent": {"id": "a"}}
                return await HooksInterceptor(session).intercept({**given, **context})

        return asyncio.run(run())

    return ask


def call(command: str, name: str = "bash", **more: Any) -> dict[str, Any]:
    return {"tool_call": {"id": "c", "name": name, "args": {"command": command}}, **more}


def test_a_denied_call(intercept: Any) -> None:
    verdict = intercept("pre_tool_call", **call("rm -rf /"))
    assert (verdict["decision"], verdict["reason"]) == ("deny", "hookline:no-rm")
    assert verdict["message"].startswith("Never.")
    assert "approval" not in verdict


def test_an_ask_is_a_deny_that_a_person_can_lift(intercept: Any) -> None:
    verdict = intercept("pre_tool_call", **call("git push"))
    assert (verdict["decision"], verdict["approval"]) == ("deny", {})


def test_changed_arguments_are_a_transform_of_the_target(intercept: Any) -> None:
    verdict = intercept("pre_tool_call", **call("ls"))
    assert verdict == {
        "decision": "transform",
        "reason": "hookline:hooks",
        "transform": {"path": "$target", "value": {"command": "ls -a"}},
    }


def test_nothing_to_say_allows(intercept: Any) -> None:
    assert intercept("pre_tool_call", **call("pwd")) == {"decision": "allow"}


def test_a_note_is_a_warning_and_a_halt_a_deny(intercept: Any) -> None:
    assert intercept("pre_tool_call", **call("x", "read_file"))["warnings"][0]["message"] == "Use tabs."
    assert intercept("pre_tool_call", **call("x", "deploy"))["decision"] == "deny"


def test_a_result_is_redacted(intercept: Any) -> None:
    verdict = intercept("post_tool_call", **call("pwd", tool_result={"value": "a KEY", "is_error": False}))
    assert verdict["transform"] == {"path": "$target", "value": "a ***"}


def test_a_prompt_is_denied_or_changed(intercept: Any) -> None:
    assert intercept("input", input={"content": "my secret", "role": "user"})["decision"] == "deny"
    changed = intercept("input", input={"content": "hi", "role": "user"})
    assert changed["transform"] == {"path": "$target.content", "value": "hello"}


@pytest.mark.parametrize("point", ["agent_startup", "pre_model_call", "post_model_call", "output", "agent_shutdown"])
def test_every_point_has_an_answer(intercept: Any, point: str) -> None:
    assert intercept(point, messages=[], summary={"reason": "completed"})["decision"] == "allow"


def test_another_version_or_point_is_refused(intercept: Any) -> None:
    assert intercept("pre_tool_call", spec="agent-hooks/0.2", **call("pwd"))["reason"] == "unsupported_spec"
    assert intercept("pre_memory_call")["reason"] == "unsupported_point"


@pytest.mark.parametrize(
    ("point", "context", "says"),
    [
        ("input", {}, "input has no content"),
        ("input", {"input": "a secret"}, "input has no content"),
        ("input", {"input": {"messages": ["a secret"]}}, "input has no content"),
        ("pre_model_call", {}, "messages"),
        ("pre_model_call", {"messages": {"role": "user"}}, "messages"),
        ("post_tool_call", call("pwd"), "tool_result"),
        ("post_tool_call", call("pwd", tool_result="a KEY"), "tool_result"),
    ],
)
def test_a_context_without_what_its_point_has_is_an_exception(
    intercept: Any, point: str, context: dict[str, Any], says: str
) -> None:
    """The host denies then. Hooks would see nothing to object to."""
    with pytest.raises(TypeError, match=says):
        intercept(point, **context)


def test_a_tool_may_have_no_result(intercept: Any) -> None:
    assert intercept("post_tool_call", **call("pwd", tool_result={"is_error": False}))["decision"] == "allow"


def test_a_call_that_cannot_be_read_is_no_allow(intercept: Any) -> None:
    with pytest.raises(TypeError, match="tool_call"):
        intercept("pre_tool_call", tool_call={"name": "bash"})

"""The gate: each thing alone that is wrong with a decision, an answer or a tool keeps the tool from running."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.runtime.gate import CallNotAllowedError, ToolCall, execute, fingerprint
from hookline.runtime.storage.tables import ApprovalRow
from hookline.runtime.tools.tool_definition import Tool
from runtime.scripted_runtime import open_runtime, run_async

CALL = ToolCall("c", "bash", {"command": "touch made"})


@dataclass(frozen=True, slots=True)
class Asked:
    """All that the gate is given about one call."""

    decision: Decision
    approval: ApprovalRow | None
    tool: Tool


def _decision(verdict: Verdict, event: str = "tool.before", *, halt: bool = False, **tool: object) -> Decision:
    facts = {"tool": {"name": CALL.name, "input": CALL.input, **tool}}
    return Decision(Event(event, facts), verdict=verdict, reason="sure?", by="hook", halt=halt)


def _answer(asked: Asked, **changed: object) -> Asked:
    assert asked.approval is not None
    return replace(asked, approval=replace(asked.approval, **changed))


WRONG: dict[str, Callable[[Asked], Asked]] = {
    "it was denied": lambda asked: replace(asked, decision=_decision(Verdict.DENY)),
    "the agent was stopped": lambda asked: replace(asked, decision=_decision(Verdict.ALLOW, halt=True)),
    "another event was decided": lambda asked: replace(asked, decision=_decision(Verdict.ALLOW, "tool.after")),
    "another input was decided": lambda asked: replace(
        asked, decision=_decision(Verdict.ALLOW, input={"command": "ls"})
    ),
    "another tool was decided": lambda asked: replace(asked, decision=_decision(Verdict.ALLOW, name="read_file")),
    "no tool was decided": lambda asked: replace(asked, decision=Decision(Event("tool.before", {}))),
    "nobody was asked": lambda asked: replace(asked, approval=None),
    "nobody has answered": lambda asked: _answer(asked, answered=None),
    "a person said no": lambda asked: _answer(asked, answered=False),
    "the answer is about another call": lambda asked: _answer(asked, call="another"),
    "the answer is about another input": lambda asked: _answer(asked, input_hash=fingerprint("bash", {})),
}


@pytest.mark.parametrize("wrong", [*WRONG, ""])
def test_a_call_passes_only_if_nothing_is_wrong(tmp_path: Path, wrong: str) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path) as (runtime, _):
            session = await runtime.start()
            tool = session.main.toolbox.find("bash")
            assert tool is not None
            hash = fingerprint(CALL.name, CALL.input)
            row = ApprovalRow("a", session.id, session.id, CALL.id, "bash", CALL.input, hash, "", "", 0, 1e12, True)
            asked = WRONG.get(wrong, lambda same: same)(Asked(_decision(Verdict.ASK), row, tool))
            place = session.tool_context_of(session.main)
            if wrong:
                with pytest.raises(CallNotAllowedError):
                    await execute(CALL, asked.decision, asked.tool, place, asked.approval)
                assert await runtime.store.calls(session.id) == []
            else:
                assert (await execute(CALL, asked.decision, asked.tool, place, asked.approval)).result.ok
                [kept] = await runtime.store.calls(session.id)
                assert (kept.input_hash, kept.approval, kept.decision["verdict"]) == (hash, "a", "ask")

    run_async(work)
    assert (tmp_path / "made").exists() is not bool(wrong)


def test_another_tool_than_the_one_that_was_decided_is_not_run(tmp_path: Path) -> None:
    async def work() -> None:
        async with open_runtime(tmp_path) as (runtime, _):
            session = await runtime.start()
            tool = session.main.toolbox.find("write_file")
            assert tool is not None
            with pytest.raises(CallNotAllowedError):
                await execute(CALL, _decision(Verdict.ALLOW), tool, session.tool_context_of(session.main))

    run_async(work)


def test_the_order_of_an_inputs_keys_does_not_make_it_another_call() -> None:
    assert fingerprint("bash", {"a": 1, "b": 2}) == fingerprint("bash", {"b": 2, "a": 1})
    assert fingerprint("bash", {"a": 1}) != fingerprint("bash", {"a": "1"})

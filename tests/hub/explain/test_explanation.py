from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hookline.hooks.event import Event
from hookline.hub.explain.explanation import NotExplainable
from hookline.hub.explain.given_hooks import load_given_hooks
from hookline.hub.store.decision_table import DecisionFilter
from hookline.project import load_file
from hookline.record.recorder import Recorder
from hookline.record.segment import record_directory
from hub.hub_sandbox import Writer, async_test, open_hub

HOOKS = """hooks:
  - {id: no-rm, on: tool.before, when: {kind: shell, input: {command: '\\brm\\b'}}, then: {deny: Use the trash.}}
  - {id: third, on: tool.before, when: {kind: shell}, max_fires: 2, then: {ask: Twice only.}}
"""


def event(command: str) -> Event:
    tool = {"name": "Bash", "kind": "shell", "input": {"command": command}}
    return Event("tool.before", {"tool": tool, "host": {"name": "codex"}, "session": {"id": "s"}, "cwd": "/"})


async def record(directory: Path, *commands: str) -> None:
    (directory / "hooks.yaml").write_text(HOOKS)
    book, recorder = load_file(directory / "hooks.yaml"), Recorder(record_directory(directory))
    for command in commands:
        await recorder.decide(book, event(command))
    recorder.close()


@async_test
async def test_every_hook_is_explained_under_the_hooks_of_then(tmp_path: Path) -> None:
    await record(tmp_path, "ls")
    (tmp_path / "hooks.yaml").write_text("hooks: []")
    async with open_hub(tmp_path) as hub:
        await hub.record_intake.look_once()
        rows, _ = await hub.decisions.page(DecisionFilter(), None, 5)
        found = await hub.decisions.find(rows[0]["id"])
        assert found is not None
        explained = await hub.explainer.explain(found)
        assert (explained["under"], explained["differs"], explained["decision"]["verdict"]) == ("then", False, "ask")
        whys = {each["hook"]: each["why"] for each in explained["decision"]["trace"]}
        assert "does not match" in whys["no-rm"]


@async_test
async def test_limits_count_the_earlier_decisions_of_the_session(tmp_path: Path) -> None:
    await record(tmp_path, "ls", "pwd", "id")
    async with open_hub(tmp_path) as hub:
        await hub.record_intake.look_once()
        rows, _ = await hub.decisions.page(DecisionFilter(), None, 5)
        found = await asyncio.gather(*(hub.decisions.find(row["id"]) for row in rows))
        verdicts = [(await hub.explainer.explain(each))["decision"]["verdict"] for each in found if each is not None]
        assert verdicts == [row["verdict"] for row in rows] == ["silent", "ask", "ask"]


@async_test
async def test_a_decision_is_replayed_under_other_hooks(tmp_path: Path) -> None:
    await record(tmp_path, "ls", "rm x")
    text = '{"hooks": {"PreToolUse": [{"matcher": "bash", "action": "deny", "reason": "no"}]}}'
    async with open_hub(tmp_path) as hub:
        await hub.record_intake.look_once()
        for command, difference in (("ls", "tightened"), ("rm x", "changed")):
            row = (await hub.decisions.page(DecisionFilter(q=command), None, 1))[0][0]
            found = await hub.decisions.find(row["id"])
            assert found is not None
            assert (await hub.explainer.replay(found, load_given_hooks(text, "flo")))["difference"] == difference


@async_test
async def test_a_decision_without_facts_cannot_be_explained(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        await hub.intake.take([Writer().line(event="tool.before", verdict="deny")])
        found = await hub.decisions.find("a" * 16 + "-1")
        assert found is not None
        with pytest.raises(NotExplainable):
            await hub.explainer.explain(found)

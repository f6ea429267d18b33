"""All formats in one project at once: one list in one order, one decision, one account."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from hookline import Event
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Verdict
from hookline.project import Trust, find_sources, load_all

FILES = {
    "hookline.yaml": "standard_agents: agents\nhooks:\n"
    "  - {id: native-log, on: tool.before, when: {tool: bash}, then: {log: seen}}\n",
    "hub.json": json.dumps({"hooks": {"PreToolUse": [{"id": "flo-allow", "matcher": "^bash$", "action": "allow"}]}}),
    ".microai/settings.json": json.dumps(
        {"hooks": {"PreToolUse": [{"matcher": "Bash(git:*)", "command": "exit 1", "continueOnFailure": False}]}}
    ),
    ".ai_agents/settings.json": json.dumps(
        {"hooks": {"PreToolUse": [{"matcher": "BashExecutor", "hooks": [{"type": "command", "command": "echo seen"}]}]}}
    ),
    "digitorn.yaml": "runtime:\n  hooks:\n"
    "    - id: digitorn-gate\n      on: tool_start\n      priority: 200\n"
    "      condition: {type: tool_name, match: Bash}\n      action: {type: gate, reason: not today}\n",
    "agents/hooks.py": "from hookline.standard_agents import define_hook, define_prompt\n\n"
    "@define_hook(hook='after_system_message', id='shout')\n"
    "def shout(state, system):\n    return system.upper()\n\n"
    "define_prompt(name='main', prompt='hello', model='m', hooks=['shout'])\n",
}
DIALECTS = {"native", "flo", "microai", "ai_agents", "digitorn"}


class Project:
    def __init__(self, root: Path) -> None:
        self.root = root / "project"
        for name, text in FILES.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        (self.root / ".git").mkdir()
        home = root / "home"
        home.mkdir()
        trust = Trust(root / "state" / "trust.json")
        sources = find_sources(self.root, home)
        trust.accept(sources)
        self.book = load_all(sources, trust)

    def decide(self, event: str, **facts: object) -> Decision:
        place = {"cwd": str(self.root), "workspace": str(self.root), "session": {"id": "s"}}
        return asyncio.run(self.book.decide(Event(event, {**place, **facts}), explain=True))

    def call(self, command: str) -> Decision:
        return self.decide("tool.before", tool={"name": "bash", "input": {"command": command}})


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def test_every_file_is_found_and_read_without_a_problem(project: Project) -> None:
    assert project.book.problems == ()
    assert {hook.origin.dialect for hook in project.book.hooks} == DIALECTS | {"standard_agents"}


def test_one_account_names_every_file_and_line(project: Project) -> None:
    decision = project.call("ls")
    told = {account.hook.origin.dialect: account for account in decision.trace}
    assert told.keys() == DIALECTS
    for account in told.values():
        file = project.root / account.hook.origin.file
        assert file.is_file()
        assert 1 <= account.hook.origin.line <= len(file.read_text().splitlines())
        assert account.why


def test_a_deny_beats_an_allow_of_another_format(project: Project) -> None:
    decision = project.call("ls")
    assert (decision.verdict, decision.by, decision.reason) == (Verdict.DENY, "digitorn-gate", "not today")
    heard = {account.hook.origin.dialect: account.outcome for account in decision.trace}
    assert heard["flo"] is not None
    assert heard["flo"].verdict is Verdict.ALLOW
    assert heard["microai"] is None


def test_one_formats_blocking_program_is_not_silenced_by_anothers_allow(project: Project) -> None:
    decision = project.call("git status")
    assert decision.verdict is Verdict.DENY
    assert decision.by is not None
    assert decision.by.startswith(".microai/settings.json:PreToolUse")


def test_hooks_in_python_act_beside_the_files(project: Project) -> None:
    agent = {"id": "a", "name": "a", "prompt": "main"}
    assert project.decide("history.system", system="hello", agent=agent).event.facts["system"] == "HELLO"

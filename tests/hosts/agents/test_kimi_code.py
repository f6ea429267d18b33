"""Kimi Code, as it calls and as it obeyed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from agent_payloads import decisions, event_name, payloads
from hookline.engine.book import Book
from hookline.engine.decision import Decision
from hookline.errors import HooklineError
from hookline.hooks.outcome import Note
from hookline.hosts.agents import get_agent
from hookline.hosts.agents.entries import hook_command
from hookline.hosts.agents.machine import InstallScope
from hookline.hosts.doctor.checks import examine_agent
from install_sandbox import install, make_machine

KIMI = get_agent("kimi-code")
SENT = payloads("kimi-code")


def test_nothing_but_context_is_printed_because_kimi_reads_it_as_a_prompt() -> None:
    for file, payload in SENT.items():
        parsed = KIMI.read(event_name(file), payload)
        for _, decide in decisions(parsed.events[0]):
            reply = KIMI.reply(parsed, [decide(each) for each in parsed.events])
            assert reply.stdout in ("", "mind the tests", "and be brief")
            assert (reply.exit_code == 2) <= bool(reply.stderr.strip())


def test_text_parts_are_the_prompt() -> None:
    parsed = KIMI.read("UserPromptSubmit", SENT["UserPromptSubmit"])
    assert parsed.events[0].facts["prompt"] == "run the tool"
    assert KIMI.reply(parsed, [Decision(parsed.events[0], notes=(Note("mind the tests"),))]).stdout == "mind the tests"


def test_stop_does_not_claim_that_no_hook_made_it_continue() -> None:
    """Kimi always says so, and hookline counts itself where the agent does not tell."""
    (event,) = KIMI.read("Stop", SENT["Stop"]).events
    assert "active" not in event.facts["stop"]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("name", "mine"),  # a fifth key
        ("event", "PreTool"),
        ("command", ""),
        ("command", 5),
        ("matcher", 5),
        ("timeout", 0),
        ("timeout", 601),
        ("timeout", 1.5),
        ("timeout", "5"),
    ],
)
def test_entry_for_which_kimi_ignores_all_is_refused(tmp_path: Path, key: str, value: Any) -> None:
    """Seen in Kimi Code 2.1.0: it warns, and runs the tools without any hook."""
    machine = make_machine(tmp_path)
    entry = {"event": "Stop", "command": "true", "timeout": 600, "matcher": "(["}
    path = machine.home / ".kimi-code" / "config.toml"
    path.parent.mkdir()

    def table(values: dict[str, Any]) -> str:
        return "[[hooks]]\n" + "".join(f"{name} = {json.dumps(each)}\n" for name, each in values.items())

    wrong = table({**entry, key: value})
    path.write_text(wrong)
    with pytest.raises(HooklineError, match=r"ignores all hooks of this file because of hooks\[0\]"):
        install("kimi-code", machine)
    assert path.read_text() == wrong
    path.write_text(table(entry))
    install("kimi-code", machine)
    path.write_text(wrong + path.read_text())
    (finding,) = [each for each in examine_agent(KIMI, machine, Book(())).findings if each.about == "entry"]
    assert (finding.mark, "because of hooks[0]" in finding.message) == ("problem", True)


@pytest.mark.parametrize(("name", "damage"), [("kimi-code", "x = ["), ("hermes", "x: [")])
def test_doctor_names_a_file_that_nobody_can_read(tmp_path: Path, name: str, damage: str) -> None:
    machine = make_machine(tmp_path)
    install(name, machine)
    agent = get_agent(name)
    (want,) = agent.desired_files(machine, InstallScope.USER, hook_command(name, machine, InstallScope.USER))
    want.path.write_text(want.path.read_text() + damage)
    (finding,) = [each for each in examine_agent(agent, machine, Book(())).findings if each.about == "entry"]
    assert (finding.mark, "is not valid" in finding.message) == ("problem", True)

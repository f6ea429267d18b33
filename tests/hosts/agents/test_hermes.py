"""Hermes, as it calls and as it obeyed."""

from __future__ import annotations

import json
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from agent_payloads import payloads
from hookline.engine.decision import Decision
from hookline.hooks.outcome import Note, Verdict
from hookline.hosts.agents import get_agent
from install_sandbox import install, make_machine

HERMES = get_agent("hermes")
SENT = payloads("hermes")


@pytest.mark.parametrize(("name", "word"), [("pre_tool_call", "block"), ("pre_verify", "continue")])
def test_deny_is_an_action(name: str, word: str) -> None:
    parsed = HERMES.read(name, SENT[name])
    reply = HERMES.reply(parsed, [Decision(each, Verdict.DENY, "no") for each in parsed.events])
    assert (json.loads(reply.stdout), reply.exit_code) == ({"action": word, "message": "no"}, 0)


def test_context_joins_the_prompt() -> None:
    parsed = HERMES.read("pre_llm_call", SENT["pre_llm_call"])
    reply = HERMES.reply(parsed, [Decision(parsed.events[0], notes=(Note("mind the tests"),))])
    assert json.loads(reply.stdout) == {"context": "mind the tests"}


@pytest.mark.parametrize("exit_code", [None, 1, 2])
def test_launcher_that_fails_blocks_without_a_shell_of_hermes(tmp_path: Path, exit_code: int | None) -> None:
    """Hermes splits the command itself, and runs the tool after any exit code."""
    machine = make_machine(tmp_path)
    install("hermes", machine)
    hooks = yaml.safe_load((machine.home / ".hermes/config.yaml").read_text())["hooks"]
    if exit_code is not None:
        machine.launcher.parent.mkdir(parents=True)
        machine.launcher.write_text(f"#!/bin/sh\nexit {exit_code}\n")
        machine.launcher.chmod(0o755)
    command = shlex.split(hooks["pre_tool_call"][0]["command"])
    done = subprocess.run(command, input="{}", capture_output=True, text=True, check=False)
    reply = json.loads(done.stdout)
    assert reply["action"] == "block"
    assert "not installed any more, install it again, or remove" in reply["message"]


def test_typing_into_a_program_is_guarded_as_a_shell() -> None:
    (event,) = HERMES.read("pre_tool_call", SENT["pre_tool_call-process"]).events
    assert event.facts["tool"]["kind"] == "shell"

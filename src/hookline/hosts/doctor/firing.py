"""Whether the launcher really answers as hooks decide: it is run as the agent would run it, in a project of our own."""

from __future__ import annotations

import json
import secrets
import statistics
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from hookline.engine.account import Decision
from hookline.hooks.outcome import Verdict
from hookline.hosts.agent import CodingAgent, Reply
from hookline.hosts.doctor.sample import SAMPLES
from hookline.hosts.install.machine import Machine

_PATIENCE: Final = 30.0  # seconds
_ROUNDS: Final = 5
_OF_AGENTS: Final = ("CLAUDE", "CODEX_", "COPILOT_", "CURSOR_", "GEMINI_", "QWEN_")
HOOK: Final = """\
hooks:
  - id: hookline-doctor
    on: tool.before
    when: {{input: {{command: hookline doctor}}}}
    then: {{deny: {reason}}}
    order: -1000000
"""


@dataclass(frozen=True, slots=True)
class Fired:
    """What the launcher said, and what the agent must be told of a deny by our own hook."""

    said: Reply
    expected: Reply
    reason: str  # nobody else can know it
    milliseconds: float

    @property
    def as_expected(self) -> bool:
        """True if it denies for our reason; what the user should know besides may be said too."""
        if self.said == self.expected:
            return True
        heard = self.reason in self.said.stdout or self.reason in self.said.stderr
        return heard and self.said.exit_code == self.expected.exit_code


def fired(agent: CodingAgent, machine: Machine) -> Fired | str:
    """Why it could not be run, as text."""
    event, payload = SAMPLES[agent.name]
    reason = f"hookline doctor {secrets.token_hex(8)}"
    with tempfile.TemporaryDirectory(prefix="hookline-doctor-") as held:
        directory = str(Path(held).resolve())
        Path(directory, "hookline.yaml").write_text(HOOK.format(reason=reason), "utf-8")
        told = payload(directory)
        arguments = [str(machine.launcher), agent.name, event]
        environ = _environ(agent, machine, directory)
        times = []
        try:
            for _ in range(_ROUNDS + 1):  # the first may have to start the engine
                begun = time.perf_counter()
                said = _ran(arguments, json.dumps(told), environ, directory)
                times.append((time.perf_counter() - begun) * 1000)
        except subprocess.TimeoutExpired:
            return f"it did not answer within {_PATIENCE:.0f} seconds"
        except OSError as error:
            return f"it cannot be run: {error.strerror}"
        decisions = [Decision(each, Verdict.DENY, reason) for each in agent.read(event, told, directory)]
        return Fired(said, agent.reply(event, told, decisions), reason, statistics.median(times[1:]))


def _environ(agent: CodingAgent, machine: Machine, directory: str) -> dict[str, str]:
    """As that agent makes it for its hooks: `doctor` may itself have been started by another."""
    kept: Mapping[str, str] = machine.environ
    environ = {name: value for name, value in kept.items() if not name.startswith(_OF_AGENTS)}
    environ |= {"HOME": str(machine.home), **dict.fromkeys(agent.project_variables, directory)}
    return {**environ, "CLAUDECODE": "1"} if agent.name == "claude-code" else environ


def _ran(arguments: list[str], payload: str, environ: Mapping[str, str], directory: str) -> Reply:
    done = subprocess.run(
        arguments,
        input=payload,
        env=environ,
        cwd=directory,
        capture_output=True,
        encoding="utf-8",
        errors="replace",
        timeout=_PATIENCE,
    )
    return Reply(done.stdout, done.stderr, done.returncode)

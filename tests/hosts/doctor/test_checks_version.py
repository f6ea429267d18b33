"""Is the agent's version one that hookline is tested with?"""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import Proof
from hookline.hosts.doctor.checks import check_version
from hookline.hosts.doctor.finding import Mark

TESTS_AGENTS = Path(__file__).parents[3] / "tests_agents"


@pytest.mark.parametrize(
    ("printed", "mark", "text"),
    [
        ("codex-cli 0.166.0", Mark.GOOD, "tested with 0.166.0"),
        ("codex-cli 0.167.1", Mark.UNKNOWN, "0.167.1 is newer"),
        ("codex-cli 0.9.0", Mark.UNKNOWN, "0.9.0 is another"),
        ("codex nightly", Mark.UNKNOWN, "names no version"),
        ("99999999999999999999999999.1", Mark.UNKNOWN, "is newer"),
    ],
)
def test_version_is_compared_with_the_tested_ones(printed: str, mark: Mark, text: str) -> None:
    finding = check_version(get_agent("codex"), printed)
    assert (finding.mark, text in finding.message) == (mark, True), finding


def test_every_agent_that_is_run_says_with_which_version() -> None:
    pinned = set(json.loads((TESTS_AGENTS / "npm/package.json").read_text())["dependencies"].values())
    for lock in (TESTS_AGENTS / "python").glob("*.lock"):
        pinned.update(re.findall(rf"^{lock.stem}(?:-agent)?==([\d.]+)", lock.read_text(), re.MULTILINE))
    run = [agent for agent in map(get_agent, AGENT_NAMES) if agent.proof is Proof.RUN]
    assert [agent.name for agent in run if pinned.isdisjoint(agent.versions)] == []

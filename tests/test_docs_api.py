"""docs/api.md lists exactly what is public."""

from __future__ import annotations

import re

import pytest

import hookline
import hookline.hooks
import hookline.register
import hookline.standard_agents
import hookline.testing
from docs_descriptions import PROBLEMS
from docs_pages import DOCS
from docs_problem_codes import problem_codes
from hookline.hooks.outcome import Verdict

PAGE = (DOCS / "api.md").read_text(encoding="utf-8")


def _section(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", PAGE, re.S | re.M)
    assert found, f"api.md has no section {title}"
    return found[1]


def _first_cells(section: str, head: str) -> set[str]:
    """The code in the first column of the section's table whose first heading is `head`."""
    table = re.search(rf"^\| {head} \|.*\n\| ---.*\n((?:\|.*\n)+)", section, re.M)
    assert table, f"there is no table {head}"
    return {name for row in table[1].splitlines() for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])}


@pytest.mark.parametrize(
    "module",
    [hookline, hookline.hooks, hookline.testing, hookline.register, hookline.standard_agents],
    ids=lambda each: each.__name__,
)
def test_every_public_name_is_listed(module: object) -> None:
    name: str = module.__name__  # type: ignore[attr-defined]
    assert _first_cells(_section(name), "name") == set(module.__all__)  # type: ignore[attr-defined]


def test_verdicts_are_listed() -> None:
    assert all(f"`{verdict.name}`" in PAGE for verdict in Verdict)


def test_every_described_problem_code_exists() -> None:
    assert set(PROBLEMS) == set(problem_codes())

"""docs/api.md lists exactly what is public."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import hookline
import hookline.hooks
import hookline.register
import hookline.standard_agents
import hookline.testing
from docs_pages import DOCS
from hookline.hooks.outcome import Verdict

PAGE = (DOCS / "api.md").read_text(encoding="utf-8")
SOURCES = "\n".join(file.read_text(encoding="utf-8") for file in Path(hookline.__file__).parent.rglob("*.py"))


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


def test_every_listed_problem_code_exists() -> None:
    codes = _first_cells(_section("Problem codes"), "code")
    assert codes
    assert not [code for code in codes if f'"{code}"' not in SOURCES]

"""Each statement of a format has a case or a test, and each case shows a statement."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CASES = ROOT / "tests" / "cases"
_CASE = re.compile(r"(?<![\w/.-])(?:[\w.-]+/)*[\w-]+\.yaml")
_TEST = re.compile(r"(?<![\w/.-])((?:[\w-]+/)*test_\w+\.py)(?:::(\w+))?")
_HEADING = re.compile(r"\|\s*Statement\s*\|\s*Case\s*\|", re.IGNORECASE)


def rows(page: Path) -> list[tuple[str, str]]:
    """Statement and case of each row of the tables with these headings."""
    found: list[tuple[str, str]] = []
    inside = False
    for line in page.read_text("utf-8").splitlines():
        if _HEADING.fullmatch(line.strip()):
            inside = True
        elif not line.startswith("|"):
            inside = False
        elif inside and not re.fullmatch(r"[|\s:-]+", line):
            cells = re.split(r"(?<!\\)\|", line.strip().strip("|"))
            assert len(cells) == 2, f"{page.name}: {line}"
            found.append((cells[0].strip(), cells[1].strip()))
    return found


PAGES = {page.stem: table for page in sorted((ROOT / "docs" / "dialects").glob("*.md")) if (table := rows(page))}
ROWS = [
    pytest.param(name, statement, case, id=f"{name}: {statement}")
    for name, table in PAGES.items()
    for statement, case in table
]


@pytest.mark.parametrize(("name", "statement", "case"), ROWS)
def test_a_statement_is_shown(name: str, statement: str, case: str) -> None:
    cases, tests = _CASE.findall(case), _TEST.findall(case)
    assert cases or tests, "neither a case nor a test"
    for file in cases:
        assert case_file(name, file).is_file(), file
    for file, function in tests:
        assert any(function in path.read_text("utf-8") for path in files_named(file)), f"{file}::{function}"


@pytest.mark.parametrize("name", PAGES)
def test_every_case_shows_a_statement(name: str) -> None:
    listed = {case_file(name, file) for _, case in PAGES[name] for file in _CASE.findall(case)}
    assert not [path.name for path in sorted((CASES / name).rglob("*.yaml")) if path not in listed]


def case_file(name: str, file: str) -> Path:
    """A path from the dialect's cases, from all cases, or from the root."""
    places = (CASES / name / file, CASES / file, ROOT / file)
    return next((place for place in places if place.is_file()), places[0])


def files_named(file: str) -> list[Path]:
    places = ("tests", "tests_browser", "tests_hub")
    found = (path for place in places for path in (ROOT / place).rglob(Path(file).name))
    return [path for path in found if path.as_posix().endswith(file)]

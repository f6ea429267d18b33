"""CONTRIBUTING.md lists every file that you touch to add something: checked with things that exist."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "hookline"
GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PATHS = re.compile(r"`([\w./<>-]+/[\w.<>-]*)`")


@dataclass(frozen=True)
class Sample:
    """Something that exists, as if it had been added the way its section says."""

    section: str
    name: str  # stands for <name> in the section's table
    mention: str  # a pattern that every source file which knows the sample contains
    max_files: int  # source files to touch, a package as one
    uses: tuple[str, ...] = ()  # files that use the sample but need no line for it to exist

    def __str__(self) -> str:
        return self.section.removeprefix("Add ").replace(" ", "-")


SAMPLES = [
    Sample("Add an event", "history.system", r'"history\.system"', 1, ("runtime/history.py", "frameworks/")),
    Sample("Add a condition", "MultipleOf", r"\bMultipleOf\b", 2, ("dialects/digitorn/",)),
    Sample("Add an action", "diagnose", r"\bDiagnose\b", 2, ("dialects/digitorn/", "dialects/native/on_error.py")),
    Sample("Add a dialect", "microai", r'"microai"|dialects\.microai', 4),
    Sample(
        "Add a coding agent",
        "windsurf",
        r"(?i)\bwindsurf\b",
        3,
        ("dialects/agent_files/", "dialects/dialect.py", "hooks/events.py"),  # its hook file is a dialect as well
    ),
    Sample("Add a tool to our own agent", "runjs", r"\brunjs\b", 3, ("hub/pages/",)),
]


def section_text(title: str) -> str:
    found = re.search(rf"^## {re.escape(title)}\n(.*?)(?=^## |\Z)", GUIDE, re.DOTALL | re.MULTILINE)
    assert found, f"CONTRIBUTING.md has no section {title!r}"
    return found[1]


def listed_paths(sample: Sample) -> list[str]:
    """The first column of the section's table, with the sample's name filled in."""
    rows = [line for line in section_text(sample.section).splitlines() if line.startswith("| `")]
    return [found[1].replace("<name>", sample.name) for row in rows if (found := PATHS.match(row, 2))]


def listed_sources(sample: Sample) -> list[str]:
    paths = listed_paths(sample)
    return [path.removeprefix("src/hookline/") for path in paths if path.startswith("src/hookline/")]


def files_that_mention(pattern: str) -> set[str]:
    files = [path for path in SOURCE.rglob("*.py") if re.search(pattern, path.read_text(encoding="utf-8"))]
    return {path.relative_to(SOURCE).as_posix() for path in files}


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_listed_file_exists(sample: Sample) -> None:
    missing = [path for path in listed_paths(sample) if not (ROOT / path).exists()]
    assert listed_paths(sample)
    assert not missing


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_no_other_source_file_knows_it(sample: Sample) -> None:
    known = (*listed_sources(sample), *sample.uses)
    assert sorted(file for file in files_that_mention(sample.mention) if not file.startswith(known)) == []


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_every_listed_source_file_knows_it(sample: Sample) -> None:
    found = files_that_mention(sample.mention)
    assert [path for path in listed_sources(sample) if not any(file.startswith(path) for file in found)] == []


@pytest.mark.parametrize("sample", SAMPLES, ids=str)
def test_adding_it_takes_few_files(sample: Sample) -> None:
    assert len(listed_sources(sample)) <= sample.max_files


def test_every_path_in_the_guide_exists() -> None:
    paths = {path for path in PATHS.findall(GUIDE) if path.startswith(("src/", "tests/", "docs/")) and "<" not in path}
    assert sorted(path for path in paths if not (ROOT / path).exists()) == []

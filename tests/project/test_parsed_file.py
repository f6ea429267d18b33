"""One hook file as it was read: its dialect, its hooks, its problems."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.project.parsed_file import ParsedFile, read_source
from hookline.project.sources import Source, SourceLayer, named_source

HOOK = "hooks: [{id: a, on: stop, then: {tell: hi}}]\n"


def read(path: Path, text: str, dialect: str | None = "native") -> ParsedFile:
    path.write_text(text)
    return read_source(named_source(path, dialect))


def codes(parsed: ParsedFile) -> list[str]:
    return [problem.code for problem in parsed.problems]


def test_a_good_file_has_its_hooks_and_dialect(tmp_path: Path) -> None:
    parsed = read(tmp_path / "hookline.yaml", HOOK)
    assert [hook.id for hook in parsed.hooks] == ["a"]
    assert (parsed.dialect, parsed.text, parsed.is_valid) == ("native", HOOK, True)


@pytest.mark.parametrize("text", ["{", "hooks: [{id: a, on: nowhere, then: deny}]", "hooks: 5"])
def test_a_bad_file_is_problems_and_no_exception(tmp_path: Path, text: str) -> None:
    parsed = read(tmp_path / "hookline.yaml", text)
    assert parsed.problems
    assert not parsed.is_valid


def test_a_missing_file_and_an_unknown_dialect_are_problems(tmp_path: Path) -> None:
    missing = read_source(named_source(tmp_path / "none.yaml", "native"))
    assert missing.dialect is None
    assert not missing.is_valid
    assert codes(read(tmp_path / "hookline.yaml", HOOK, "nativ")) == ["unknown-dialect"]


def test_another_programs_file_that_was_only_found_has_no_hooks_and_no_problems(tmp_path: Path) -> None:
    path = tmp_path / "app.yaml"
    path.write_text("font: {size: 12}")
    found = read_source(Source(path, "app.yaml", "digitorn", SourceLayer.PROJECT))
    assert (found.hooks, found.problems, found.dialect) == ((), (), None)

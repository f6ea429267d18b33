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


def test_a_file_of_another_dialect_than_the_named_one_is_an_error(tmp_path: Path) -> None:
    text = "runtime: {hooks: [{id: a, on: tool_start, action: {type: gate}}]}"
    (problem,) = read(tmp_path / "x.yaml", text, "flo").problems
    assert (problem.code, problem.hint) == ("wrong-dialect", "Write --dialect digitorn.")
    assert codes(read(tmp_path / "x.yaml", text, "digitorn")) == []


def test_a_file_without_hooks_of_any_dialect_is_a_warning(tmp_path: Path) -> None:
    parsed = read(tmp_path / "x.yaml", "name: something", "flo")
    assert codes(parsed) == ["no-hooks"]
    assert parsed.is_valid


def test_a_misspelled_event_is_named_in_a_file_that_nobody_recognises(tmp_path: Path) -> None:
    text = '{"hooks": {"Stopp": [{"hooks": [{"type": "command", "command": "exit 0"}]}]}}'
    (problem,) = read(tmp_path / "settings.json", text, None).problems
    assert problem.code == "unknown-dialect"
    assert problem.hint == "There is no event Stopp. Did you mean Stop?"


@pytest.mark.parametrize("text", ["record: off", "record: {facts: full}", "record: {keep: 1h}"])
def test_a_project_cannot_say_what_is_recorded(tmp_path: Path, text: str) -> None:
    path = tmp_path / "hookline.yaml"
    path.write_text(f"{HOOK}{text}\n")
    for layer in (SourceLayer.PROJECT, SourceLayer.LOCAL):
        parsed = read_source(Source(path, "hookline.yaml", "native", layer, tmp_path))
        (problem,) = parsed.problems
        assert str(problem).startswith("hookline.yaml:2  record has no effect in a project's file")
        assert parsed.is_valid
    assert read_source(Source(path, "hookline.yaml", "native", SourceLayer.USER)).problems == ()

"""`hookline convert FILE --to native`, and back: an agent's file has the same hooks again, and nothing is lost."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import Final

import pytest

from dialects.agent_files.test_public_shapes import ACTS, DENIES
from hookline.cli.converted_file import convert_files
from hookline.config.problem import errors_of
from hookline.dialects.dialect import AGENT_FILE_DIALECTS, CONFIG_LOCATIONS
from hookline.hooks.hook import Hook
from hookline.lazy_dataclasses import replace
from hookline.project.parsed_file import ParsedFile, read_source
from hookline.project.sources import named_source
from hookline.testing import load_cases
from hookline.testing.case_runner import config_text, default_file_name

CASES: Final = Path(__file__).parents[2] / "cases"
DIALECTS: Final = sorted(AGENT_FILE_DIALECTS - {"cline"})  # its hooks are programs, which nothing writes


def _dialect_of(file: str) -> str | None:
    places = [(name, place) for name in DIALECTS for place in CONFIG_LOCATIONS[name]]
    return next((name for name, place in places if PurePath(file).match(place.pattern)), None)


def _files() -> Iterator[tuple[str, str, str]]:
    """A title, the file's place and its text: every hook file of an agent in the cases and the public shapes."""
    for name in DIALECTS:
        for case in load_cases(CASES / name):
            title = f"{name}: {case.note}"
            if case.config is not None:
                yield title, default_file_name(name), config_text(case.config)
            yield from ((f"{title} ({file})", file.removeprefix("home/"), text) for file, text in case.files.items())
    for title, (file, text, *_) in {**DENIES, **ACTS}.items():
        yield title, file, text


FILES: Final = {
    title: (title.partition(":")[0] if "/" not in file else _dialect_of(file), file, text)
    for title, file, text in _files()
    if "/" not in file or _dialect_of(file) is not None
}


def _read(folder: Path, file: str, text: str, dialect: str) -> ParsedFile:
    path = folder / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return read_source(named_source(path, dialect))


def _plain(hooks: tuple[Hook, ...], origin: Hook) -> list[Hook]:
    """Without what says where they stand, and which agents run files in that place."""
    return [replace(hook, id="", origin=origin.origin, ignored_by=()) for hook in hooks]


def _written_place(dialect: str, file: str, text: str) -> str:
    """Where a file that `convert` wrote belongs, for an agent that has several kinds of files."""
    if dialect == "kiro" and "/" in file:
        has_list = isinstance(json.loads(text).get("hooks"), list)
        return file if '"when"' in text else ".kiro/hooks/team.json" if has_list else ".kiro/agents/dev.json"
    return {".codex/config.toml": ".codex/hooks.json", ".factory/hooks.json": ".factory/settings.json"}.get(file, file)


@pytest.mark.parametrize(("dialect", "file", "text"), FILES.values(), ids=FILES)
def test_a_file_is_the_same_after_native(tmp_path: Path, dialect: str, file: str, text: str) -> None:
    before = _read(tmp_path / "before", file, text, dialect)
    if errors_of(before.problems) or not before.hooks:
        return  # `convert` names its errors
    native = convert_files([before], "native")
    assert native.not_expressible == ()
    back = convert_files([_read(tmp_path, "hookline.yaml", native.text, "native")], dialect)
    assert back.not_expressible == ()
    assert [line for line in back.not_about_hooks if "comments are left out" not in line] == []
    after = _read(tmp_path / "after", _written_place(dialect, file, back.text), back.text, dialect)
    assert [str(problem) for problem in errors_of(after.problems)] == []
    assert _plain(after.hooks, before.hooks[0]) == _plain(before.hooks, before.hooks[0]), back.text


def test_a_user_s_own_hooks_run_beside_their_file_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    text = '{"version": 1, "hooks": {"preToolUse": [{"command": "./guard.sh"}]}}'
    before = _read(tmp_path, ".cursor/hooks.json", text, "cursor")
    native = _read(tmp_path, "hookline.yaml", convert_files([before], "native").text, "native")
    back = convert_files([native], "cursor")
    assert back.not_expressible == ()
    after = _read(tmp_path, ".cursor/hooks.json", back.text, "cursor")
    assert _plain(after.hooks, before.hooks[0]) == _plain(before.hooks, before.hooks[0])


def test_most_files_are_compared() -> None:
    assert {dialect for dialect, _, _ in FILES.values()} == {*DIALECTS}
    assert len(FILES) > 200

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hooks.hook_files import HookFile, HookFiles
from hookline.record.hooks_then import HookPaths, load_hook_files, paths_by_name, read_hook_files
from hookline.record.segment import RecordDirectory

TEXT = "hooks: [{id: a, on: tool.before, then: {deny: no}}, {id: b, on: tool.before, then: {run: 'true'}}]"


def files(*standings: tuple[str, str]) -> HookFiles:
    return HookFiles(
        tuple(HookFile("/p/hookline.yaml", "hookline.yaml", "native", "project", text, s) for s, text in standings)  # type: ignore[arg-type]
    )


def keep(directory: RecordDirectory, kept: HookFiles) -> str:
    directory.create()
    (directory.hooks / f"{kept.hash}.json").write_bytes(kept.data)
    return kept.hash


def test_texts_are_read_again(directory: RecordDirectory) -> None:
    kept = files(("accepted", TEXT))
    assert read_hook_files(directory, keep(directory, kept)).files == kept.files


@pytest.mark.parametrize("data", [b"{", b"[1]", b'[{"path": 1}]', None])
def test_texts_that_are_gone(directory: RecordDirectory, data: bytes | None) -> None:
    directory.create()
    if data is not None:
        (directory.hooks / "x.json").write_bytes(data)
    with pytest.raises(HooklineError, match="not kept any more"):
        read_hook_files(directory, "x")
    assert HookPaths(directory).find({"hooks": "x"}, "hookline.yaml") == "hookline.yaml"


def test_a_hook_has_the_standing_that_it_had() -> None:
    event = Event("tool.before", {"tool": {"name": "bash", "input": {}}})
    accepted = load_hook_files(files(("accepted", TEXT)))
    assert [hook.is_trusted for hook in accepted.hooks] == [True, True]
    restricted = load_hook_files(files(("restricted", TEXT)))
    assert [hook.is_trusted for hook in restricted.hooks] == [False, False]
    assert restricted.decide_now(event).denied


def test_guards_that_were_added_to_an_accepted_file() -> None:
    added = TEXT.replace("]", ", {id: c, on: tool.before, then: {ask: sure?}}]")
    book = load_hook_files(files(("accepted", TEXT), ("added", added)))
    ids = [hook.id for hook in book.hooks]
    assert ids[:2] == ["a", "b"]
    assert len(ids) == 3
    assert ids[2].startswith("c")


def test_a_file_that_cannot_be_read_has_no_hooks() -> None:
    assert load_hook_files(files(("own", "hooks: ["))).hooks == ()


def test_paths(directory: RecordDirectory) -> None:
    kept = files(("own", TEXT))
    record = {"hooks": keep(directory, kept)}
    assert HookPaths(directory).find(record, "hookline.yaml") == "/p/hookline.yaml"
    assert paths_by_name(kept) == {"hookline.yaml": str(Path("/p/hookline.yaml"))}

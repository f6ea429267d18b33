from __future__ import annotations

import asyncio
import hashlib
import shutil
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.hooks.event import Event
from hookline.hooks.hook import Scope
from hookline.hooks.hook_files import HookFile, HookFiles
from hookline.lazy_dataclasses import replace
from hookline.project import load_for_directory
from hookline.record.hash_chain import BrokenChain
from hookline.record.hooks_then import HookPaths, load_hook_files, paths_by_name, read_hook_files
from hookline.record.record_reader import read_records
from hookline.record.recorder import Recorder
from hookline.record.replayer import ReplayBook, ReplayDifference, compare
from hookline.record.segment import RecordDirectory
from hookline.record.verification import verify_chains

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
    digest = hashlib.sha256(data or b"").hexdigest()
    if data is not None:
        (directory.hooks / f"{digest}.json").write_bytes(data)
    with pytest.raises(HooklineError, match="not kept any more"):
        read_hook_files(directory, digest)
    assert HookPaths(directory).find({"hooks": digest}, "hookline.yaml") == "hookline.yaml"


def test_texts_that_were_changed(directory: RecordDirectory) -> None:
    digest = keep(directory, files(("accepted", TEXT)))
    path = directory.hooks / f"{digest}.json"
    path.write_bytes(path.read_bytes().replace(b"deny", b"tell"))
    with pytest.raises(HooklineError, match="hookline verify"):
        read_hook_files(directory, digest)
    with pytest.raises(BrokenChain, match="were changed"):
        verify_chains(directory)


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


ANY_CALL = Event("tool.before", {"tool": {"name": "bash", "kind": "shell", "input": {"command": "ls"}}})


def test_a_call_that_was_held_is_held_again(tmp_path: Path, directory: RecordDirectory, recorder: Recorder) -> None:
    """Because a file could not be read, or because the user's file says so while another has errors."""
    home, project = tmp_path / "home", tmp_path / "project"
    own = home / ".config/hookline/hookline.yaml"
    own.parent.mkdir(parents=True)
    project.mkdir()
    for text, other in (
        ("on_problem: closed\nhooks: []\n", "hooks: [{id: a, on: tool.before, when: {tol: bash}, then: deny}]"),
        (None, "hooks: []\n"),
        ("hooks: []\n", "hooks: [\n"),
    ):
        (project / "hookline.yaml").write_text(other)
        if text is None:
            own.unlink()
            own.mkdir()  # a file that cannot be read at all
            shutil.rmtree(home / ".local", ignore_errors=True)
        else:
            shutil.rmtree(own, ignore_errors=True) if own.is_dir() else None
            own.write_text(text)
        recorder.decide_now(load_for_directory(project, home), ANY_CALL)
    records = [record for record in read_records(directory) if record["kind"] == "decision"]
    assert [record["verdict"] for record in records] == ["ask"] * 3
    for record in records:
        then = ReplayBook(load_hook_files(read_hook_files(directory, record["hooks"])))
        decision = asyncio.run(then.decide(record, then.hooks))
        assert compare(record, decision) is ReplayDifference.SAME


def test_hooks_that_the_agent_runs_itself_are_not_in_force() -> None:
    text = '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "exit 2"}]}]}}'
    file = HookFile("/p/.claude/settings.json", "settings.json", "claude_code", "project", text, "accepted")
    assert len(load_hook_files(HookFiles((file,))).hooks) == 1
    assert load_hook_files(HookFiles((replace(file, run_by="claude-code"),))).hooks == ()


def test_hooks_of_a_skill_have_its_scope_and_come_last() -> None:
    skill = HookFile("/p/skill.yaml", "skill.yaml", "native", "session", TEXT, scope=Scope(session="s"))
    book = load_hook_files(HookFiles((skill, *files(("own", TEXT)).files)))
    assert [layer.name for layer in book.layers] == ["project", "session"]
    assert {hook.scope for hook in book.layers[1].hooks} == {Scope(session="s")}

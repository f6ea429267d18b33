"""Attacks on the record: changing what happened unseen, sending it elsewhere, drawing on the screen that shows it."""

from __future__ import annotations

import gzip
import random
import shutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from attempts import Attempt

from hookline.hooks.event import Event
from hookline.project import load_for_directory, load_text
from hookline.project.trust_store import Trust, trust_file_path
from hookline.record.archive import archive_records_of_ended_writers
from hookline.record.hash_chain import BrokenChain
from hookline.record.record_reader import read_lines
from hookline.record.recorder import Recorder
from hookline.record.segment import RecordDirectory, record_directory
from hookline.record.verification import check_anchor, verify_chains, write_anchor

BOOK = load_text("hooks: [{id: no-rm, on: tool.before, when: {input: {command: ^rm}}, then: deny}]", "hookline.yaml")
TRIES = 400


def make_record(path: Path) -> RecordDirectory:
    """Four writers: two archived, one that was killed, and one that is running."""
    directory = record_directory(path)
    for number in range(4):
        recorder = Recorder(directory)
        for n in range(8):
            tool = {"name": "Bash", "input": {"command": f"{'rm' if n % 2 else 'ls'} {number}.{n}"}}
            recorder.decide_now(BOOK, Event("tool.before", {"tool": tool}))
        if number < 3:
            recorder.close()
        if number == 1:
            archive_records_of_ended_writers(directory, timedelta(days=1), settle=0)
    return directory


class Tampering:
    """One change of the files, as somebody makes it who does not compute all hashes anew."""

    def __init__(self, directory: RecordDirectory, chance: random.Random) -> None:
        self._chance = chance
        self._files = [*directory.live_segments(), *directory.archives(), directory.chains]
        self._files += sorted(directory.hooks.glob("*.json"))

    def tamper(self) -> str:
        path = self._chance.choice(self._files)
        how = self._chance.choice(
            [self._flip, self._cut, self._remove_line, self._repeat_changed, self._swap, self._delete]
        )
        return f"{how.__name__} {path.name}" if how(path) else ""

    def _flip(self, path: Path) -> bool:
        data = bytearray(path.read_bytes())
        at = self._chance.randrange(len(data))
        data[at] ^= 1 << self._chance.randrange(7)
        return self._write(path, bytes(data))

    def _cut(self, path: Path) -> bool:
        data = path.read_bytes()
        return self._write(path, data[: self._chance.randrange(len(data))])

    def _remove_line(self, path: Path) -> bool:
        lines = path.read_bytes().splitlines(keepends=True)
        del lines[self._chance.randrange(len(lines))]
        return self._write(path, b"".join(lines))

    def _repeat_changed(self, path: Path) -> bool:
        lines = _content(path)
        line = self._chance.choice(lines).replace(b"deny", b"silent").replace(b"rm ", b"ls ")
        data = b"\n".join([*lines, line, b""])
        return self._write(path, gzip.compress(data) if path.suffix == ".gz" else data)

    def _swap(self, path: Path) -> bool:
        return self._write(path, self._chance.choice(self._files).read_bytes())

    def _delete(self, path: Path) -> bool:
        path.unlink()
        return True

    def _write(self, path: Path, data: bytes) -> bool:
        """False if no record is changed by it: one that is there twice says nothing else."""
        before = set(_content(path))
        path.write_bytes(data)
        return set(_content(path)) != before


def _content(path: Path) -> list[bytes]:
    """Lines; an archive is compressed, and some of its bytes mean nothing."""
    return list(read_lines(path)) if "jsonl" in path.name else [path.read_bytes()]


def test_nobody_changes_the_record_unseen(tmp_path: Path, attempt: Attempt) -> None:
    original, anchor = make_record(tmp_path / "original"), tmp_path / "anchor.json"
    write_anchor(original, anchor)
    for seed in range(TRIES):
        shutil.copytree(original.path.parent, tmp_path / "copy")
        copy = record_directory(tmp_path / "copy")
        what = Tampering(copy, random.Random(seed)).tamper()
        if what and not (what.startswith("_delete") and ".json" in what and "jsonl" not in what):
            attempt("change a record unseen", _passes(copy, anchor), f"seed {seed}: {what}")
            if "chains.jsonl" not in what:  # of its own last line, only an anchor knows
                attempt("change a record unseen, without an anchor", _passes(copy), f"seed {seed}: {what}")
        shutil.rmtree(tmp_path / "copy")


def _passes(directory: RecordDirectory, anchor: Path | None = None) -> bool:
    try:
        if anchor is None:
            verify_chains(directory)
        else:
            check_anchor(directory, anchor)
    except BrokenChain:
        return False
    return True


@pytest.mark.parametrize("trusted", [False, True])
def test_no_project_sends_decisions_elsewhere(tmp_path: Path, attempt: Attempt, trusted: bool) -> None:
    texts = {
        "hookline.yaml": "record: {opentelemetry: {endpoint: 'http://evil.example'}}\nhooks: []\n",
        "hookline.local.yaml": "record: {opentelemetry: true}\nhooks: []\n",
        ".hookline/hooks.yaml": "record: {opentelemetry: true, facts: full}\nhooks: []\n",
        "hookline.json": '{"record": {"opentelemetry": {"endpoint": "http://evil.example"}}, "hooks": []}',
    }
    for name, text in texts.items():
        home, project = tmp_path / name.replace("/", "_") / "home", tmp_path / name.replace("/", "_") / "project"
        (project / ".git").mkdir(parents=True)
        home.mkdir()
        (project / name).parent.mkdir(exist_ok=True)
        (project / name).write_text(text)
        trust = Trust(trust_file_path(home))
        if trusted:
            trust.accept(trust.sources(project, home))
        book = load_for_directory(project, home, trust)
        attempt("send decisions elsewhere", book.record.telemetry is not None, name)


HOSTILE = (
    "\x1b[2J\x1b[1;1H",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\r\n",
    "\x07",
    "\u202eexe",
    "[bold red]x[/]",
    "\x1b]8;;http://x\x07",
)


def test_no_text_draws_on_the_screen(attempt: Attempt) -> None:
    pytest.importorskip("textual", reason="hookline[watch] is not installed")
    from hookline.cli.watch_app import _cells

    row: dict[str, Any] = {
        "at": "2026-11-16T20:01:35.458752Z", "event": "tool.before", "verdict": "deny", "outcome": None,
        "host": "h", "tool": "t", "hook": "k", "input": {"command": "ls"}, "session": "s", "reason": "",
    }  # fmt: skip
    own_spans = [[span.style for span in cell.spans] for cell in _cells(row)]
    for text in HOSTILE:
        for field in ("host", "tool", "hook", "event", "verdict", "input"):
            for hidden in (text, f"ls {text} ls"):
                shown = _cells({**row, field: {"command": hidden} if field == "input" else hidden})
                spans = [[span.style for span in cell.spans] for cell in shown]
                drawn = spans != own_spans or not all(cell.plain.isprintable() for cell in shown)
                attempt("draw on the screen", drawn, f"{field}: {hidden!r}")

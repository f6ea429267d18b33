from __future__ import annotations

from pathlib import Path
from threading import Event
from typing import IO

import pytest
from click.testing import _NamedTextIOWrapper

from cli.recorded_events import record, tool_event, write_hooks
from hookline.cli import progress
from hookline.cli.record_options import the_record
from hookline.record import record_reader
from hookline.record.record_reader import open_lines, read_records


@pytest.fixture
def first_id(recorder) -> str:
    book = write_hooks()
    record(recorder, book, *(tool_event("rm x", call=f"c{n}") for n in range(3)))
    recorder.close()
    return next(each["id"] for each in read_records(the_record()) if each["kind"] == "decision")


@pytest.fixture
def told(monkeypatch) -> Event:
    """That the terminal was told something."""
    event = Event()
    err_line = progress.err_line

    def tell(text: str) -> None:
        err_line(text)
        event.set()

    monkeypatch.setattr(progress, "err_line", tell)
    return event


@pytest.mark.parametrize(
    ("verb", "said"),
    [
        ("log --since 1h", "records read"),
        ("stats", "records read"),
        ("verify", "records checked"),
        ("verify --anchor anchor.json", "records checked"),
        ("replay", "decisions replayed"),
        ("why ID", "reading the record"),
    ],
)
@pytest.mark.parametrize("is_terminal", [True, False])
def test_verbs_that_read_the_record_say_how_far_they_are(
    hookline, first_id, told, monkeypatch, verb: str, said: str, is_terminal: bool
) -> None:
    """A file of the record can be read only once the terminal was told: however fast the verb is, it takes long enough."""

    def open_slowly(path: Path) -> IO[bytes]:
        told.wait(60 if is_terminal else 0.05)
        return open_lines(path)

    monkeypatch.setattr(record_reader, "open_lines", open_slowly)
    monkeypatch.setattr(progress, "_FIRST_SECONDS", 0.001)
    monkeypatch.setattr(progress, "_NEXT_SECONDS", 0.001)
    monkeypatch.setattr(_NamedTextIOWrapper, "isatty", lambda self: is_terminal, raising=False)
    result = hookline(*verb.replace("ID", first_id).split(), "--json")
    assert result.exit_code == 0, result.output
    assert (said in result.stderr) is is_terminal
    assert " s: " not in result.stdout

from __future__ import annotations

import os
import re
from datetime import UTC, datetime
from pathlib import Path

import click
import pytest

from cli.recorded_events import record_a_few
from hookline.cli.record_options import Since, input_text, record_time, short_id, the_record


def test_times() -> None:
    since = Since()
    hour_ago = since.convert("1h", None, None)
    age = datetime.now(UTC) - datetime.fromisoformat(hour_ago)
    assert 3590 < age.total_seconds() < 3610
    assert since.convert("2026-11-16T09:00+00:00", None, None) == "2026-11-16T09:00:00.000000Z"
    assert since.convert("", None, None) == ""
    assert since.convert("999999w", None, None) < "1900"
    assert re.fullmatch(r"[-\d]+T[:\d]+\.\d{6}Z", record_time(datetime.now(UTC)))


@pytest.mark.parametrize("text", ["soon", "1", "h", "1y", "9999999999d", "2026-13-01", "0001-01-01"])
def test_what_is_not_a_time(text: str) -> None:
    with pytest.raises(click.BadParameter, match="is not a time"):
        Since().convert(text, None, None)


@pytest.mark.parametrize(
    ("input", "text"),
    [
        (None, ""),
        ({"command": "ls", "timeout": 3}, "ls"),
        ({"url": "https://x"}, "https://x"),
        ({"url": "https://x", "prompt": "Sum it up."}, "https://x"),
        ({"file_path": "a.py", "content": "x"}, "a.py"),
        ({"pattern": "TODO", "path": "src"}, "TODO"),
        ({"a": "x", "b": "y"}, '{"a": "x", "b": "y"}'),
        ("prompt", '"prompt"'),
        ({"command": "a\x1b[2Jb"}, "a\\x1b[2Jb"),
    ],
)
def test_what_a_call_is_about(input: object, text: str) -> None:
    assert input_text(input) == text


def test_ids_are_shortened() -> None:
    assert short_id("0123456789abcdef-12") == "0123-12"


def test_reading_archives_what_is_due(recorder, project: Path) -> None:
    record_a_few(recorder)
    recorder.close()
    (live,) = the_record().live.iterdir()

    os.utime(live, (0, 0))
    os.utime(the_record().archive_lock, (0, 0))
    directory = the_record()
    assert list(directory.live.iterdir()) == []
    assert len(directory.archives()) == 1

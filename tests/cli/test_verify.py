from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli.recorded_events import record, record_a_few, tool_event, write_hooks

LIVE = Path("../home/.local/state/hookline/record/live")


def live_file() -> Path:
    (path,) = LIVE.iterdir()
    return path


def test_an_intact_record(hookline, recorder):
    record_a_few(recorder)
    result = hookline("verify")
    assert (result.exit_code, result.stdout) == (0, "intact: 8 records in 1 chain\n")
    assert json.loads(hookline("verify", "--json").stdout) == {"intact": True, "records": 8, "chains": 1, "lost": 0}


@pytest.mark.parametrize(
    ("old", "new"),
    [(b'"deny"', b'"allow"'), (b"rm x", b"rm y")],
    ids=["verdict", "facts"],
)
def test_a_changed_record_is_named(hookline, recorder, old, new):
    record_a_few(recorder)
    path = live_file()
    path.write_bytes(path.read_bytes().replace(old, new))
    result = hookline("verify", "--json")
    assert result.exit_code == 2
    found = json.loads(result.stdout)
    assert (found["intact"], found["record"].split("-")[1]) == (False, "3")
    assert hookline("verify").stdout.startswith("broken: ")


def test_an_anchor_finds_a_record_that_was_removed_from_the_end(hookline, recorder):
    record_a_few(recorder)
    written = hookline("verify", "--anchor", "anchor.json")
    assert "wrote anchor.json" in written.stdout
    record(recorder, write_hooks(), tool_event("ls"))
    assert hookline("verify", "--anchor", "anchor.json").exit_code == 0
    path = live_file()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-3]))
    assert hookline("verify").exit_code == 0
    result = hookline("verify", "--anchor", "anchor.json")
    assert (result.exit_code, "the anchor knows this record" in result.stdout) == (2, True)


def test_an_anchor_that_is_none(hookline, recorder):
    record_a_few(recorder)
    Path("anchor.json").write_text("{}")
    result = hookline("verify", "--anchor", "anchor.json")
    assert result.exit_code == 1
    assert "cannot be read" in result.stderr

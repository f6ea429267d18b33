from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import pytest

from cli.recorded_events import record, record_a_few, tool_event, write_hooks
from hookline.record.hash_chain import line_hash

LIVE = Path("../home/.local/state/hookline/record/live")


def live_file() -> Path:
    (path,) = LIVE.iterdir()
    return path


def test_an_intact_record(hookline, recorder):
    record_a_few(recorder)
    result = hookline("verify")
    assert (result.exit_code, result.stdout) == (0, "intact: 8 records in 1 chain\n")
    assert json.loads(hookline("verify", "--json").stdout) == {
        "intact": True,
        "records": 8,
        "chains": 1,
        "lost": 0,
        "without_end": 0,
    }


def test_a_record_that_is_cut_off_is_named(hookline, recorder):
    record_a_few(recorder)
    path = live_file()
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:-1]))
    result = hookline("verify")
    assert (result.exit_code, result.stdout) == (2, f"broken: {path.name[:16]}-8: this record was removed\n")


def make_old(path: Path) -> None:
    """As an earlier version left it: no head, and the list of writers does not say that there was one."""
    (path.parent / "heads" / live_file().name[:16]).unlink()
    chains = path.parent / "chains.jsonl"
    chains.write_text(chains.read_text().replace('"begun"', '"opened"'))


def test_the_end_of_an_old_record_is_not_checked(hookline, recorder):
    record_a_few(recorder)
    make_old(LIVE)
    result = hookline("verify")
    assert (result.exit_code, result.stdout) == (
        0,
        "intact: 8 records in 1 chain\n"
        "  1 chain without a noted end: of an earlier version, or after a power failure.\n",
    )


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
    *_, before, last = lines = path.read_bytes().splitlines()[:-3]
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    head = LIVE.parent / "heads" / path.name[:16]
    boot = head.read_text().splitlines()[1]
    head.write_text(f"{len(lines):020} {line_hash(last)} {line_hash(before)} d\n{boot}\n")
    assert hookline("verify").exit_code == 0
    result = hookline("verify", "--anchor", "anchor.json")
    assert (result.exit_code, "the anchor knows this record" in result.stdout) == (2, True)


def test_an_anchor_that_is_none(hookline, recorder):
    record_a_few(recorder)
    Path("anchor.json").write_text("{}")
    result = hookline("verify", "--anchor", "anchor.json")
    assert result.exit_code == 1
    assert "cannot be read" in result.stderr


def test_an_anchor_that_never_ends_is_not_read(hookline, recorder):
    record_a_few(recorder)
    with Path("large.json").open("wb") as file:
        file.truncate((64 << 20) + 1)
    os.mkfifo("pipe")
    for name, problem in (("large.json", "is larger than 64 MB"), ("pipe", "is not a regular file")):
        result = hookline("verify", "--anchor", name)
        assert (result.exit_code, problem in result.stderr) == (1, True)


def test_an_anchor_finds_that_the_whole_record_was_removed(hookline, recorder):
    record_a_few(recorder)
    assert hookline("verify", "--anchor", "anchor.json").exit_code == 0
    shutil.rmtree(LIVE.parent)
    result = hookline("verify", "--anchor", "anchor.json")
    assert (result.exit_code, result.stdout.startswith("broken: ")) == (2, True)


def test_an_anchor_knows_how_long_records_are_kept(hookline, recorder):
    """chains.jsonl says that all records were too old."""
    record_a_few(recorder)
    Path("anchor.json").write_text(
        json.dumps({"chains": [1, "0" * 64], "heads": {"0" * 16: [3, "0" * 64, "2020-01-01"]}})
    )
    live_file().unlink()
    shutil.rmtree(LIVE.parent / "heads")
    forged = {"event": "compacted", "number": 9, "hash": "0" * 64, "writers": {}}
    (LIVE.parent / "chains.jsonl").write_text(json.dumps(forged) + "\n")
    assert hookline("verify", "--anchor", "anchor.json").exit_code == 0
    user = Path("../home/.config/hookline")
    user.mkdir(parents=True, exist_ok=True)
    (user / "hookline.yaml").write_text("record: {keep: 9000d}\nhooks: []\n")
    result = hookline("verify", "--anchor", "anchor.json")
    assert (result.exit_code, "it is of 2020-01-01" in result.stdout) == (2, True)

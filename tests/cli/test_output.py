from __future__ import annotations

import contextlib
import json
import math
import os
import pty
import subprocess

from hookline.cli.output import format_json, out, print_table, printable_lines


def test_json_can_be_printed_whatever_a_hook_left():
    deep: list[object] = []
    for _ in range(5_000):
        deep = [deep]
    value = {"lone": "a\ud800b", "nan": math.nan, "deep": deep, "thing": object, "é": 1}
    text = format_json(value)
    text.encode("utf-8")
    read = json.loads(text)
    assert (read["lone"], read["nan"], read["é"]) == ("a\ud800b", None, 1)
    assert isinstance(read["thing"], str)


def test_plain_values_are_printed_as_they_are():
    assert json.loads(format_json({"a": [1, 2.5, None, True, "x"]})) == {"a": [1, 2.5, None, True, "x"]}
    assert "é" in format_json("é")


def test_lines_stay_lines_and_nothing_moves_the_cursor():
    assert printable_lines("a\nb\x1b[1m\rc") == "a\nb\\x1b[1m\\rc"


def test_a_table_is_plain_and_aligned_where_nobody_looks(capsys):
    print_table(("a", "b"), [("long word", "x\ny"), ("c", "")])
    assert capsys.readouterr().out == "a          b\nlong word  x\\ny\nc\n"


def test_a_lone_surrogate_is_escaped(capsys):
    out("a\udc80b")
    assert capsys.readouterr().out == "a\\udc80b\n"


def test_only_a_terminal_gets_a_pager(command, project, monkeypatch):

    code = "from hookline.cli.output import out, page_output\nwith page_output():\n    for n in range({}): out(f'line {{n}}')"
    monkeypatch.setenv("PAGER", "sed s/^/paged:/")
    piped = subprocess.run([command[0], "-c", code.format(100)], capture_output=True, text=True, timeout=60)
    assert piped.stdout.splitlines()[0] == "line 0"
    for lines, expected in ((100, b"paged:line 0"), (2, b"line 0")):
        ours, theirs = pty.openpty()
        shown = subprocess.Popen([command[0], "-c", code.format(lines)], stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):  # the terminal is closed
            while piece := os.read(ours, 4096):
                text += piece
        shown.wait(60)
        os.close(ours)
        assert text.splitlines()[0] == expected

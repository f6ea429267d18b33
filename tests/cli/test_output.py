from __future__ import annotations

import json
import math

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

"""The spans of TOML values are where the values are written."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest

from hookline.config.json_edit import JsonSpan
from hookline.config.toml_spans import NOT_WRITTEN, parse_toml_spans
from hookline.errors import HooklineError

TEXT = '''# a comment with = and [brackets]
title = "a # b"   # c
'single' = 'a\\b'
long = """
line "" ] #
"""
literal = \'\'\'it''s\'\'\'
number = 1_000
date = 1979-05-27T07:32:00Z
list = [ "a", # first ]
  'b', [1, 2], {x = 1} ]
a.b."c d" = true

[table] # t
key = {inner = "x", deep.er = [1]}

[table."sub table".x]
y = -1.5e3
[[many]]
z = 1
[[many]]
z = 2
[after]
w = ""
'''


def values(span: JsonSpan) -> Any:
    return {name: values(each) for name, each in span.members.items()} if span.members else span.value


def test_the_values_are_those_of_the_text() -> None:
    found, expected = parse_toml_spans(TEXT), tomllib.loads(TEXT)
    del expected["many"]
    assert values(found) == expected
    assert found.value == expected


def test_each_span_is_the_text_of_its_value() -> None:
    found = parse_toml_spans(TEXT)
    for name, source in {
        "title": '"a # b"',
        "single": "'a\\b'",
        "number": "1_000",
        "list": "[ \"a\", # first ]\n  'b', [1, 2], {x = 1} ]",
    }.items():
        span = found.members[name]
        assert TEXT[span.start : span.end] == source
    assert [TEXT[each.start : each.end] for each in found.members["list"].items] == ['"a"', "'b'", "[1, 2]", "{x = 1}"]
    title = found.members["title"]
    assert TEXT[title.item_start : title.end] == 'title = "a # b"'


def test_a_table_begins_at_its_header() -> None:
    found = parse_toml_spans(TEXT)
    assert TEXT.startswith("[table]", found.members["table"].start)
    assert TEXT.startswith("{inner", found.members["table"].members["key"].start)
    assert found.members["a"].start == NOT_WRITTEN
    assert found.members["table"].members["sub table"].start == NOT_WRITTEN


@pytest.mark.parametrize("text", ["a = ", "[a", "a = 1\na = 2", "=", "a = {\n", "[" * 5000])
def test_what_is_not_toml_is_refused(text: str) -> None:
    with pytest.raises(HooklineError, match="not valid TOML"):
        parse_toml_spans(text)

"""Editing JSON keeps everything else in the text. tests/hosts/install/test_undo.py tries it on any formatting."""

from __future__ import annotations

import pytest

from hookline.config.json_edit import (
    Addition,
    JsonSpan,
    addition_splices,
    apply_splices,
    differs_only_in_splices,
    parse_spans,
    remove_item,
    remove_splices,
)
from hookline.errors import HooklineError

TEXT = '{ // mine\n  "a": [1, "]", {"b": null,},], /* } */ "c": {},\n}\n'


def span_text(text: str, span: JsonSpan) -> str:
    return text[span.start : span.end]


@pytest.mark.parametrize("start", ["", "\ufeff", "// {\n"])
def test_spans_cover_each_value_exactly(start: str) -> None:
    text = start + TEXT
    whole = parse_spans(text)
    assert whole.value == {"a": [1, "]", {"b": None}], "c": {}}
    assert [span_text(text, item) for item in whole.members["a"].items] == ["1", '"]"', '{"b": null,}']
    assert span_text(text, whole.members["a"]) == '[1, "]", {"b": null,},]'
    assert span_text(text, whole.members["c"]) == "{}"
    assert text[whole.members["c"].item_start :].startswith('"c"')
    assert span_text(text, whole) == TEXT.rstrip("\n")


@pytest.mark.parametrize("text", ['{"a": 1', '{"a": 1, "a": 2}', "[1] 2", '["\\d"]'])
def test_spans_of_a_broken_text_name_the_line(text: str) -> None:
    with pytest.raises(HooklineError, match="line 2: "):
        parse_spans("\n" + text)


def test_control_characters_are_fine_outside_config_files() -> None:
    assert parse_spans('["a\x7fb"]').value == ["a\x7fb"]


def test_an_entry_is_added_to_its_list_and_removed_again() -> None:
    additions = (Addition(("a",), {"new": True}), Addition(("c", "list"), 5))
    splices = addition_splices(TEXT, "f.json", {"version": 1}, additions)
    edited = apply_splices(TEXT, splices)
    assert parse_spans(edited).value == {"a": [1, "]", {"b": None}, {"new": True}], "c": {"list": [5]}}
    assert remove_splices(edited, edited, splices) == TEXT
    assert remove_splices(edited, edited.replace('"new"', '"old"'), splices) is None
    assert differs_only_in_splices(TEXT, edited, splices)
    assert not differs_only_in_splices(TEXT, edited + "// a comment", splices)


@pytest.mark.parametrize(
    ("path", "left"),
    [(("a", 0), {"a": ["]", {"b": None}], "c": {}}), (("a",), {"c": {}}), (("c",), {"a": [1, "]", {"b": None}]})],
)
def test_an_item_is_removed_with_one_comma(path: tuple[str | int, ...], left: object) -> None:
    edited = remove_item(TEXT, "f.json", path)
    assert parse_spans(edited).value == left
    assert "// mine" in edited


@pytest.mark.parametrize(
    ("text", "path", "problem"),
    [("[]", ("a",), "f.json:1  expected a JSON object"), ('{"a": {}}', ("a",), "f.json:1  a must be a list")],
)
def test_a_text_of_another_shape_is_not_edited(text: str, path: tuple[str, ...], problem: str) -> None:
    with pytest.raises(HooklineError) as error:
        addition_splices(text, "f.json", {}, [Addition(path, 1)])
    assert problem in str(error.value)

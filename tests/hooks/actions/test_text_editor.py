"""A text is edited wherever it is in a value, or the edit fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import pytest

from hookline.hooks.actions.text_editor import TextEditor
from hookline.hooks.outcome import ActionError


class Pair(NamedTuple):
    first: str
    second: int


EDITOR = TextEditor(lambda text, _: text.replace("secret", "***"), "could not redact")


@pytest.mark.parametrize(
    ("value", "edited"),
    [
        ("a secret", "a ***"),
        (b"a secret \xff", b"a *** \xff"),
        (bytearray(b"secret"), bytearray(b"***")),
        ({"secret": ["secret", {"x": ("secret", 1)}]}, {"***": ["***", {"x": ("***", 1)}]}),
        ({b"secret": 1, ("secret", 2): 3}, {b"***": 1, ("***", 2): 3}),
        ("a se\u200bcret", "a ***"),
        (["\u200d secret", "a\u200bb"], ["\u200d ***", "a\u200bb"]),
        ({"secret1": 1, "***1": 2}, {"***1_": 1, "***1": 2}),
        (Pair("secret", 1), Pair("***", 1)),
        ({1, "secret"}, {1, "***"}),
        (None, None),
        (5, 5),
        (Path("/a"), Path("/a")),
    ],
)
def test_every_text_is_edited(value: Any, edited: Any) -> None:
    assert EDITOR.apply(value) == edited
    assert type(EDITOR.apply(value)) is type(edited)


class Opaque:
    def __str__(self) -> str:
        return "my secret"


@pytest.mark.parametrize("value", [Path("/a/secret"), Opaque(), [Opaque()], {"a": Opaque()}])
def test_a_text_that_cannot_be_edited_is_a_failure(value: Any) -> None:
    with pytest.raises(ActionError, match="could not redact: it is in a value of type"):
        EDITOR.apply(value)


def test_a_value_that_is_nested_too_deeply_is_a_failure() -> None:
    value: Any = "secret"
    for _ in range(200):
        value = [value]
    with pytest.raises(ActionError, match="nested too deeply"):
        EDITOR.apply(value)


def test_the_fields_of_an_input_keep_their_names() -> None:
    editor = TextEditor(lambda text, _: text.replace("path", "x"), "", edits_keys=False)
    assert editor.apply({"path": "path"}) == {"path": "x"}

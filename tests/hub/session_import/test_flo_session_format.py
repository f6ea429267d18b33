from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.hub.session_import.flo_session_format import read_messages


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({"role": "user", "content": "a"}, [("user", "a")]),
        ({"role": "assistant", "content": None}, [("assistant", "")]),
        ({"role": "tool", "content": "r", "tool_call_id": "c"}, [("tool", "r")]),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]},
            [("user", "a\nb")],
        ),
        (
            {"role": "user", "content": [{"type": "text", "text": "a"}, {"type": "tool_result", "tool_use_id": "c"}]},
            [("tool", "null"), ("user", "a")],
        ),
    ],
)
def test_messages_are_read(given: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert [(each["role"], each["content"]) for each in read_messages([given])] == expected


def test_each_message_has_an_id_of_its_own() -> None:
    said = {"role": "user", "content": "a", "id": "m"}
    found = read_messages([said, said, {"role": "user", "content": "a"}])
    assert found[0]["id"] == "m"
    assert len({each["id"] for each in found}) == 3


def test_calls_are_kept_as_text() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "bash", "arguments": "{}"}}
    for given in ([call], json.dumps([call])):
        message = read_messages([{"role": "assistant", "content": "", "tool_calls": given}])[0]
        assert json.loads(message["tool_calls"]) == [call]


@pytest.mark.parametrize("wrong", [{}, {"role": "user", "content": 1}, {"role": "assistant", "tool_calls": "{"}])
def test_the_place_of_a_wrong_message_is_named(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"^conversation\.1: "):
        read_messages([{"role": "user", "content": "a"}, wrong])

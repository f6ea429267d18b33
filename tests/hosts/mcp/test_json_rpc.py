from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.hosts.mcp.json_rpc import InvalidMessageError, Message, is_deep, misspelt_name, parse_messages

pytestmark = pytest.mark.slow


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.text(), VALUES, max_size=4), st.booleans())
def test_a_message_means_the_same_on_the_other_side(value: dict[str, Any], ascii: bool) -> None:
    line = json.dumps(value, ensure_ascii=ascii).encode("utf-8", "surrogatepass")
    try:
        (message,) = parse_messages(line)
    except InvalidMessageError:
        assert not ascii  # a lone surrogate is no UTF-8
        return
    assert message.value == value
    assert json.loads(message.to_bytes()) == value
    assert len(message.to_bytes().decode().splitlines()) <= 1


@pytest.mark.parametrize("line", [b'{"b":1.0 , "a":[ ]}', '{"a":"é"}'.encode(), b'  {"a":1}\r'])
def test_a_plain_line_passes_byte_for_byte(line: bytes) -> None:
    assert parse_messages(line)[0].to_bytes() == line.strip()


@pytest.mark.parametrize(
    ("line", "wire"),
    [
        (b'{"a":1,"a":2}', b'{"a":2}'),
        (b'{"a":{"b":1,"b":2}}', b'{"a":{"b":2}}'),
        (b'{"a":\r1}', b'{"a":1}'),
        ('{"a":"\u2028"}'.encode(), b'{"a":"\\u2028"}'),
        ('{"a":"\x85"}'.encode(), b'{"a":"\\u0085"}'),
    ],
)
def test_a_line_that_can_be_read_in_two_ways_is_written_anew(line: bytes, wire: bytes) -> None:
    assert parse_messages(line)[0].to_bytes() == wire


@pytest.mark.parametrize(
    "line",
    [b"", b"1", b"null", b"[]", b"[1]", b'[{},"x"]', b"{", b"{} {}", b"\xff", b"\xef\xbb\xbf{}", b'{"a":"\x00"}',
     b"[" * 100_000, b'{"a":' + b"1" * 5_000 + b"}"],
    ids=lambda line: repr(line[:12]),
)  # fmt: skip
def test_what_is_no_message_is_malformed(line: bytes) -> None:
    with pytest.raises(InvalidMessageError):
        parse_messages(line)


def test_ids_of_different_types_are_different() -> None:
    ids: list[Any] = [1, "1", True, 1.0, None]
    assert len({Message({"id": id}).key for id in ids}) == len(ids)


def test_depth_is_counted_in_levels() -> None:
    assert not is_deep([[1]], 2)
    assert is_deep([[[1]]], 2)
    assert is_deep({"a": {"b": [1]}}, 2)


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ({"method": "ping", "Method": "tools/call"}, "Method"),
        ({"method": "tools/call", "params": {}, "PARAMS": {}}, "PARAMS"),
        ({"method": "Tools/Call", "params": {"name": "x"}}, "Tools/Call"),
        ({"method": "tools/call", "params": {"name": "safe", "Name": "danger"}}, "Name"),
        ({"method": "tools/call", "params": {"name": "safe", "argument\u017f": {}}}, "argument\u017f"),
        ({"method": "tools/call", "params": {"name": "x", "arguments": {"path": "a", "Path": "b"}}}, "Path"),
        ({"id": 1, "result": {}, "Result": {}}, "Result"),
        ({"id": 1, "result": {"content": [], "Content": []}}, "Content"),
        ({"id": 1, "error": {"code": 1, "Message": "x"}}, "Message"),
        ({"method": "tools/call", "params": {"name": "x", "arguments": {"Name": 1, "path": "a"}}}, None),
        ({"method": "custom", "params": {"Name": 1}}, None),
        ({"id": 1, "result": {"content": [{"Text": 1}], "structuredContent": {"Content": 1}}}, None),
    ],
)
def test_a_name_that_differs_only_in_case_is_found(value: dict[str, Any], name: str | None) -> None:
    assert misspelt_name(Message(value)) == name

"""The framing of messages; whole conversations with a server are in test_servers.py."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from hookline.runtime.lsp.language_client import FramingError, encode_message, read_message


def read_all(data: bytes) -> list[dict[str, Any]]:
    async def work() -> list[dict[str, Any]]:
        reader = asyncio.StreamReader()
        reader.feed_data(data)
        reader.feed_eof()
        found = []
        while (message := await read_message(reader)) is not None:
            found.append(message)
        return found

    return asyncio.run(work())


def test_messages_are_read_as_they_were_written() -> None:
    messages = [{"method": "a", "params": {"text": "é\r\n"}}, {"id": 1, "result": None}]
    found = read_all(b"".join(map(encode_message, messages)))
    assert found == [{"jsonrpc": "2.0", **each} for each in messages]


def test_other_headers_and_any_case_are_accepted() -> None:
    assert read_all(b"Content-Type: x\r\ncontent-LENGTH: 2\r\n\r\n{}") == [{}]


def test_nothing_is_the_end() -> None:
    assert read_all(b"") == []


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: 2\r\n",
        b"Content-Length: 5\r\n\r\n{}",
        b"Content-Length: -1\r\n\r\n",
        b"Content-Length: 999999999999\r\n\r\n",
        b"Length: 2\r\n\r\n{}",
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 1\r\n\r\n{",
        b"x: " + b"y" * 100_000 + b"\r\n\r\n",
    ],
)
def test_anything_else_is_a_framing_error(data: bytes) -> None:
    with pytest.raises(FramingError):
        read_all(data)

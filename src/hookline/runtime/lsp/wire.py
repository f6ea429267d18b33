"""Messages of the language server protocol on a pipe: a header that says how long, then JSON."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

LONGEST: Final = 16 * 1024 * 1024  # bytes of one message
_LONGEST_HEADER: Final = 4096
_CHUNK: Final = 256 * 1024


class Garbled(Exception):
    """What came is no message, and nobody knows where the next one begins."""


def framed(message: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def next_message(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """None at the end. Raises Garbled."""
    length = await _length(reader)
    if length is None:
        return None
    try:
        value = json.loads(await _exactly(reader, length))
    except (ValueError, RecursionError, asyncio.IncompleteReadError):
        raise Garbled("its message is no JSON") from None
    if not isinstance(value, dict):
        raise Garbled("its message is no object")
    return value


async def _length(reader: asyncio.StreamReader) -> int | None:
    length, size = None, 0
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if error.partial or size:
                raise Garbled("it stopped within a message") from None
            return None
        except asyncio.LimitOverrunError:
            raise Garbled("its header never ends") from None
        size += len(line)
        if size > _LONGEST_HEADER:
            raise Garbled("its header is too long")
        if not line.strip():
            break
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = _number(value.strip())
    if length is None:
        raise Garbled("its header does not say how long the message is")
    return length


def _number(text: bytes) -> int:
    if not text.isdigit() or len(text) > 12:
        raise Garbled("its header does not say how long the message is")
    if int(text) > LONGEST:
        raise Garbled(f"its message is longer than {LONGEST // 1024 // 1024} MiB")
    return int(text)


async def _exactly(reader: asyncio.StreamReader, length: int) -> bytes:
    """In pieces, so that a length that is only claimed costs nothing."""
    pieces: list[bytes] = []
    while length:
        piece = await reader.read(min(length, _CHUNK))
        if not piece:
            raise asyncio.IncompleteReadError(b"", length)
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)

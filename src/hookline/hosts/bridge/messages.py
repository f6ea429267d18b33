"""The engine's side of what `client` describes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hookline.hosts.agent import Reply
from hookline.hosts.bridge import client
from hookline.hosts.bridge.call import Call

HEAD: Final = client.REQUEST
_LONGEST: Final = (64, 64, 256, 16_384, client.LARGEST_ENVIRONMENT, client.LARGEST)


class Refused(Exception):
    """Not a message of ours, or one that is too long."""


@dataclass(frozen=True, slots=True)
class Head:
    version: int
    spent: timedelta
    lengths: tuple[int, ...]

    @property
    def size(self) -> int:
        """Of the whole message."""
        return HEAD + sum(self.lengths)


@dataclass(frozen=True, slots=True)
class Request:
    release: str  # "" from a client that can talk to any engine of this version
    call: Call


def head(data: bytes | bytearray) -> Head:
    """Of a message of which at least HEAD bytes have come. Raises Refused."""
    if not data.startswith(client.MAGIC):
        raise Refused("not a message")
    at = len(client.MAGIC)
    version, spent, *lengths = (int.from_bytes(data[n : n + 4], "big") for n in range(at, HEAD, 4))
    if version == client.VERSION and any(size > most for size, most in zip(lengths, _LONGEST, strict=True)):
        raise Refused("too long")
    return Head(version, timedelta(milliseconds=spent), tuple(lengths))


def request(head: Head, data: bytes | bytearray) -> Request:
    parts, at = [], HEAD
    for size in head.lengths:
        parts.append(bytes(data[at : at + size]))
        at += size
    release, agent, event, cwd, environment, payload = parts
    call = Call(
        agent.decode("utf-8", "replace"),
        event.decode("utf-8", "replace"),
        payload,
        os.fsdecode(cwd),
        _environment(environment),
        head.spent,
    )
    return Request(release.decode("utf-8", "replace"), call)


def _environment(data: bytes) -> dict[bytes, bytes]:
    pairs = (entry.partition(b"=") for entry in data.split(b"\0"))
    return {name: value for name, equals, value in pairs if name and equals}


def answered(reply: Reply) -> bytes:
    out, err = reply.stdout.encode("utf-8", "replace"), reply.stderr.encode("utf-8", "replace")
    return _message(client.ANSWERED, reply.exit_code, out, err)


def working(within: timedelta) -> bytes:
    return _message(client.WORKING, max(1, int(within.total_seconds() * 1000)))


def elsewhere() -> bytes:
    return _message(client.ELSEWHERE, 0)


def _message(status: int, number: int, out: bytes = b"", err: bytes = b"") -> bytes:
    numbers = (client.VERSION, status, number, len(out), len(err))
    return client.MAGIC + b"".join(each.to_bytes(4, "big") for each in numbers) + out + err

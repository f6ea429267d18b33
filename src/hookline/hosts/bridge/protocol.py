"""The engine's side of the protocol that `client` describes, and the call that a request carries."""

from __future__ import annotations

import os
import pwd
from collections.abc import Mapping
from datetime import timedelta
from functools import cache, cached_property
from pathlib import Path
from typing import Final

from hookline.hosts.agents.agent import Reply
from hookline.hosts.bridge import client
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class UserDirectories:
    """The directories of the user for whom the agent works."""

    home: Path
    config: Path | None = None  # XDG_CONFIG_HOME
    state: Path | None = None  # XDG_STATE_HOME

    @property
    def hookline_state(self) -> Path:
        """Where hookline keeps its own state."""
        return (self.state or self.home / ".local" / "state") / "hookline"


@dataclass(frozen=True)
class AgentCall:
    agent: str
    event: str  # as the agent calls it
    payload: bytes
    cwd: str  # of the client
    environment: Mapping[bytes, bytes]  # of the client, and so of the agent
    spent: timedelta = timedelta()  # since the agent started the client

    def variable(self, name: str) -> str:
        return os.fsdecode(self.environment.get(os.fsencode(name), b""))

    def directory(self, name: str) -> Path | None:
        """A relative path counts as unset."""
        value = self.variable(name)
        return Path(value) if os.path.isabs(value) and "\0" not in value else None

    @cached_property
    def user_directories(self) -> UserDirectories:
        home = self.directory("HOME") or Path(_passwd_field("pw_dir") or "/nonexistent")
        return UserDirectories(home, self.directory("XDG_CONFIG_HOME"), self.directory("XDG_STATE_HOME"))

    @property
    def user(self) -> str:
        return self.variable("LOGNAME") or self.variable("USER") or _passwd_field("pw_name") or str(os.getuid())


@cache
def _passwd_field(field: str) -> str:
    try:
        return str(getattr(pwd.getpwuid(os.getuid()), field))
    except KeyError:  # the user id has no name, as in many containers
        return ""


HEADER_SIZE: Final = client.REQUEST_HEADER_SIZE
_MAX_LENGTHS: Final = (64, 64, 256, 16_384, client.MAX_ENVIRONMENT, client.MAX_PAYLOAD)


class ProtocolError(Exception):
    """Not one of our messages, or too long."""


@dataclass(frozen=True, slots=True)
class RequestHeader:
    version: int
    spent: timedelta
    lengths: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of the whole message."""
        return HEADER_SIZE + sum(self.lengths)


@dataclass(frozen=True, slots=True)
class BridgeRequest:
    release: str  # "" from a client that works with any engine of this protocol version
    call: AgentCall


def parse_header(data: bytes | bytearray) -> RequestHeader:
    """Parses the first HEADER_SIZE bytes of a message. Raises ProtocolError."""
    if not data.startswith(client.MAGIC):
        raise ProtocolError("not a message")
    at = len(client.MAGIC)
    version, spent, *lengths = (int.from_bytes(data[n : n + 4], "big") for n in range(at, HEADER_SIZE, 4))
    if version == client.PROTOCOL_VERSION and any(
        size > most for size, most in zip(lengths, _MAX_LENGTHS, strict=True)
    ):
        raise ProtocolError("too long")
    return RequestHeader(version, timedelta(milliseconds=spent), tuple(lengths))


def parse_request(head: RequestHeader, data: bytes | bytearray) -> BridgeRequest:
    parts, at = [], HEADER_SIZE
    for size in head.lengths:
        parts.append(bytes(data[at : at + size]))
        at += size
    release, agent, event, cwd, environment, payload = parts
    call = AgentCall(
        agent.decode("utf-8", "replace"),
        event.decode("utf-8", "replace"),
        payload,
        os.fsdecode(cwd),
        _parse_environment(environment),
        head.spent,
    )
    return BridgeRequest(release.decode("utf-8", "replace"), call)


def _parse_environment(data: bytes) -> dict[bytes, bytes]:
    pairs = (entry.partition(b"=") for entry in data.split(b"\0"))
    return {name: value for name, equals, value in pairs if name and equals}


def encode_reply(reply: Reply) -> bytes:
    out, err = reply.stdout.encode("utf-8", "replace"), reply.stderr.encode("utf-8", "replace")
    return _encode_answer(client.STATUS_ANSWERED, reply.exit_code, out, err)


def encode_working(within: timedelta) -> bytes:
    return _encode_answer(client.STATUS_WORKING, max(1, int(within.total_seconds() * 1000)))


def encode_declined() -> bytes:
    return _encode_answer(client.STATUS_DECLINED, 0)


def _encode_answer(status: int, number: int, out: bytes = b"", err: bytes = b"") -> bytes:
    numbers = (client.PROTOCOL_VERSION, status, number, len(out), len(err))
    return client.MAGIC + b"".join(each.to_bytes(4, "big") for each in numbers) + out + err

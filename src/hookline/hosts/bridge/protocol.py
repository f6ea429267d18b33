"""The engine's side of the protocol that `client` describes, and the call that a request carries."""

from __future__ import annotations

import os
import pwd
import struct
from collections.abc import Mapping
from datetime import timedelta
from functools import cache, cached_property, lru_cache
from operator import gt
from pathlib import Path
from typing import Final, NamedTuple

from hookline.hosts.agents.agent import Reply
from hookline.hosts.bridge import client
from hookline.lazy_dataclasses import dataclass


@dataclass(frozen=True)
class UserDirectories:
    """The directories of the user for whom the agent works."""

    home: Path
    config: Path | None = None  # XDG_CONFIG_HOME
    state: Path | None = None  # XDG_STATE_HOME

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        """It is a part of several keys, and hashing paths takes time."""
        return hash((self.home, self.config, self.state))

    @cached_property
    def hookline_state(self) -> Path:
        """Where hookline keeps its own state."""
        return (self.state or self.home / ".local" / "state") / "hookline"

    @cached_property
    def seen_tools(self) -> Path:
        return self.hookline_state / "tools"


@dataclass(frozen=True)
class AgentCall:
    agent: str
    event: str  # as the agent calls it
    payload: bytes
    cwd: str  # of the client
    environment: Mapping[bytes, bytes]  # of the client, and so of the agent
    spent: timedelta = timedelta()  # since the agent started the client
    entry_timeout: timedelta | None = None  # of an entry that `hookline install` did not write; None: the agent's own

    def variable(self, name: str) -> str:
        value = self.environment.get(_encode_name(name))
        return os.fsdecode(value) if value else ""

    @cached_property
    def user_directories(self) -> UserDirectories:
        get = self.environment.get
        return _user_directories(get(b"HOME", b""), get(b"XDG_CONFIG_HOME", b""), get(b"XDG_STATE_HOME", b""))


@lru_cache(256)  # the same names are asked for in every call
def _encode_name(name: str) -> bytes:
    return os.fsencode(name)


@lru_cache(64)  # an engine has few users, and paths take longer to build than a hook to decide
def _user_directories(home: bytes, config: bytes, state: bytes) -> UserDirectories:
    return UserDirectories(
        _absolute_path(home) or Path(_passwd_home()),
        _absolute_path(config),
        _absolute_path(state),
    )


def _absolute_path(value: bytes) -> Path | None:
    """A relative path counts as unset."""
    text = os.fsdecode(value)
    return Path(text) if os.path.isabs(text) and "\0" not in text else None


@cache
def _passwd_home() -> str:
    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # the user id has no name, as in many containers
        return "/nonexistent"


HEADER_SIZE: Final = client.REQUEST_HEADER_SIZE
_REQUEST_NUMBERS: Final = struct.Struct(">8I")
_ANSWER_NUMBERS: Final = struct.Struct(">5I")
_MAX_CACHED_ENVIRONMENT: Final = 1 << 16  # bytes
_MAX_LENGTHS: Final = (64, 64, 256, 16_384, client.MAX_ENVIRONMENT, client.MAX_PAYLOAD)


class ProtocolError(Exception):
    """Not one of our messages, or too long."""


class RequestHeader(NamedTuple):
    version: int
    spent: timedelta
    lengths: tuple[int, ...]

    @property
    def size(self) -> int:
        """Bytes of the whole message."""
        return HEADER_SIZE + sum(self.lengths)


class BridgeRequest(NamedTuple):
    release: str  # "" from a client that works with any engine of this protocol version
    call: AgentCall


def parse_header(data: bytes | bytearray) -> RequestHeader:
    """Parses the first HEADER_SIZE bytes of a message. Raises ProtocolError."""
    if not data.startswith(client.MAGIC):
        raise ProtocolError("not a message")
    version, spent, *lengths = _REQUEST_NUMBERS.unpack_from(data, len(client.MAGIC))
    if version == client.PROTOCOL_VERSION and any(map(gt, lengths, _MAX_LENGTHS)):
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
        _parse_environment(environment) if len(environment) <= _MAX_CACHED_ENVIRONMENT else _split_entries(environment),
        head.spent,
    )
    return BridgeRequest(release.decode("utf-8", "replace"), call)


def _split_entries(data: bytes) -> Mapping[bytes, bytes]:
    pairs = (entry.partition(b"=") for entry in data.split(b"\0"))
    return {name: value for name, equals, value in pairs if name and equals}


_parse_environment: Final = lru_cache(32)(_split_entries)  # all calls of an agent have the same


def encode_reply(reply: Reply) -> bytes:
    out, err = reply.stdout.encode("utf-8", "replace"), reply.stderr.encode("utf-8", "replace")
    return _encode_answer(client.STATUS_ANSWERED, reply.exit_code, out, err)


def encode_working(within: timedelta) -> bytes:
    return _encode_answer(client.STATUS_WORKING, max(1, int(within.total_seconds() * 1000)))


def encode_declined() -> bytes:
    return _encode_answer(client.STATUS_DECLINED, 0)


def _encode_answer(status: int, number: int, out: bytes = b"", err: bytes = b"") -> bytes:
    numbers = (client.PROTOCOL_VERSION, status, number, len(out), len(err))
    return client.MAGIC + _ANSWER_NUMBERS.pack(*numbers) + out + err

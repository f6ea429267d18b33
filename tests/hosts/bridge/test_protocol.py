"""The engine's side of the bridge protocol: what it reads and what it refuses."""

from __future__ import annotations

import os
from datetime import timedelta
from pathlib import Path

import pytest

from hookline.hosts.agents.agent import Reply
from hookline.hosts.bridge import client
from hookline.hosts.bridge.protocol import (
    HEADER_SIZE,
    AgentCall,
    ProtocolError,
    encode_declined,
    encode_reply,
    encode_working,
    parse_header,
    parse_request,
)


def message(*parts: bytes, version: int = client.PROTOCOL_VERSION, spent: int = 0) -> bytes:
    numbers = (version, spent, *map(len, parts))
    return client.MAGIC + b"".join(each.to_bytes(4, "big") for each in numbers) + b"".join(parts)


def numbers_of(answer: bytes) -> tuple[int, ...]:
    assert answer.startswith(client.MAGIC)
    at = len(client.MAGIC)
    return tuple(int.from_bytes(answer[n : n + 4], "big") for n in range(at, at + 20, 4))


def test_a_request_is_read_part_by_part() -> None:
    environment = b"HOME=/home/me\0EQUALS=a=b\0EMPTY=\0no equals\0=no name\0"
    data = message(b"1.0", b"codex", b"Stop", b"/tmp/\xff", environment, b"payload\0\xff", spent=1500)
    head = parse_header(data[:HEADER_SIZE])
    assert head.size == len(data)
    request = parse_request(head, data)
    assert request.release == "1.0"
    assert request.call == AgentCall(
        "codex",
        "Stop",
        b"payload\0\xff",
        os.fsdecode(b"/tmp/\xff"),
        {b"HOME": b"/home/me", b"EQUALS": b"a=b", b"EMPTY": b""},
        timedelta(seconds=1.5),
    )


@pytest.mark.parametrize("data", [b"", b"GET / HTTP/1.1\r\n\r\n" + bytes(HEADER_SIZE), client.MAGIC[:-1]])
def test_what_does_not_begin_like_a_message_is_refused(data: bytes) -> None:
    with pytest.raises(ProtocolError, match="not a message"):
        parse_header(data)


def test_a_part_that_is_too_long_is_refused_before_it_is_read() -> None:
    fits = (64, 64, 256, 16_384, client.MAX_ENVIRONMENT, client.MAX_PAYLOAD)
    for part in range(-1, len(fits)):
        lengths = [size + (at == part) for at, size in enumerate(fits)]
        numbers = (client.PROTOCOL_VERSION, 0, *lengths)
        data = client.MAGIC + b"".join(each.to_bytes(4, "big") for each in numbers)
        if part < 0:
            assert parse_header(data).lengths == fits
        else:
            with pytest.raises(ProtocolError, match="too long"):
                parse_header(data)


def test_the_lengths_of_another_version_are_not_judged() -> None:
    head = parse_header(message(b"x" * 100, *[b""] * 5, version=client.PROTOCOL_VERSION + 1))
    assert head.version == client.PROTOCOL_VERSION + 1


def test_an_answer_has_its_exit_code_and_texts() -> None:
    answer = encode_reply(Reply("ü", "no\ud800", 2))
    assert numbers_of(answer) == (client.PROTOCOL_VERSION, client.STATUS_ANSWERED, 2, 2, 3)
    assert answer.endswith("üno?".encode())


def test_the_client_is_asked_to_wait_at_least_a_millisecond() -> None:
    assert numbers_of(encode_working(timedelta(seconds=2)))[1:3] == (client.STATUS_WORKING, 2000)
    assert numbers_of(encode_working(timedelta()))[1:3] == (client.STATUS_WORKING, 1)
    assert numbers_of(encode_declined())[1] == client.STATUS_DECLINED


def test_a_relative_directory_counts_as_unset() -> None:
    def directories(**variables: str) -> tuple[Path, Path | None]:
        environment = {os.fsencode(name): os.fsencode(value) for name, value in variables.items()}
        found = AgentCall("a", "e", b"", "/", environment).user_directories
        return found.hookline_state, found.config

    assert directories(HOME="/home/me", XDG_CONFIG_HOME="config") == (Path("/home/me/.local/state/hookline"), None)
    assert directories(HOME="/home/me", XDG_STATE_HOME="/s", XDG_CONFIG_HOME="/c") == (Path("/s/hookline"), Path("/c"))

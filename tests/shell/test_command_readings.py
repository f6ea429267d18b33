"""The texts by which the commands of a shell text can be named."""

from __future__ import annotations

import time

import pytest

from hookline.shell.command_readings import (
    OPTIONS_SKIPPED,
    TOO_LONG,
    argv_texts,
    command_readings,
    is_one_plain_command,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ls src", {("ls src",)}),
        ("env A=b ls", {("env A=b ls",), ("ls",)}),
        ("timeout 5 ls", {("timeout 5 ls", "ls")}),
        ("/bin/ls x", {("/bin/ls x",), ("ls x",)}),
        ("ls -l x", {("ls -l x",), (OPTIONS_SKIPPED + "ls -l x",)}),
        ("ls > out", {("ls",), ("> out",)}),
        ("ls > /dev/null", {("ls",)}),
        ("LD_PRELOAD=x ls", {("LD_PRELOAD=x",), ("ls",)}),
        ("command -v git", {("command -v git",), (OPTIONS_SKIPPED + "command -v git",)}),
        ("git --no-pager log", {("git --no-pager log",), (OPTIONS_SKIPPED + "git log",)}),
    ],
)
def test_a_command_has_these_readings(text: str, expected: set[tuple[str, ...]]) -> None:
    assert set(command_readings(text)) == expected


def test_a_space_within_a_word_does_not_separate_words() -> None:
    assert command_readings('"git push" x')[0][0] == "git\x01push x"


@pytest.mark.parametrize("text", ["a;" * 30_000, "$(" * 5_000, "x $(" * 300])
def test_a_text_that_cannot_be_read_says_so_in_time(text: str) -> None:
    begun = time.perf_counter()
    assert (TOO_LONG,) in command_readings(text)
    assert time.perf_counter() - begun < 5


def test_a_long_here_document_is_read() -> None:
    assert command_readings("cat > x <<'E'\n" + "some; text\n" * 100_000 + "E\nls")[-1] == ("ls",)


@pytest.mark.parametrize("text", ["ls", "git push origin main", "npm run a:b"])
def test_plain_commands_are_recognised(text: str) -> None:
    assert is_one_plain_command(text)


@pytest.mark.parametrize("text", ["", "sudo ls", "ls;", "ls -l", "A=b", "./ls", "ls 'x'", "ls  x", "eval x"])
def test_other_commands_are_parsed(text: str) -> None:
    assert not is_one_plain_command(text)


def test_a_list_of_words_is_a_text_and_the_code_in_it() -> None:
    assert argv_texts(["rm", "a b"]) == ("rm 'a b'",)
    assert argv_texts(["sudo", "--weird", "x", "bash", "-c", "ls y"])[-1] == "ls y"
    assert argv_texts([]) == ()


def test_who_allows_a_runner_with_its_command_need_not_allow_the_command() -> None:
    assert command_readings("uv run pytest x") == (("uv run pytest x",), ("pytest x", "uv run pytest x"))
    assert command_readings("sudo ls") == (("sudo ls",), ("ls",))


def test_private_characters_of_a_text_have_no_meaning() -> None:
    assert command_readings("ls \ue00f \U000f0000") == (("ls \ufffd \ufffd",),)

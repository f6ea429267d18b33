"""The simple commands of a shell text."""

from __future__ import annotations

import pytest

from hookline.shell.parsed_text import Assignment, TextTooLong
from hookline.shell.simple_commands import parse_commands


def words(text: str) -> list[list[str]]:
    parsed = parse_commands(text)
    return [[parsed.unquote(word) for word in command.words] for command in parsed.commands if command.words]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a 'b c' \"d\" e\\ f", [["a", "b c", "d", "e f"]]),
        ("a;b&&c||d|e&f\ng", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"]]),
        ("a # b\nc", [["a"], ["c"]]),
        ("a#b", [["a#b"]]),
        ("a \\\nb", [["a", "b"]]),
        ("for x in a b; do c; done", [["c"]]),
        ("case a in b|c) d;; (e) f; for x in y; do z; done;; esac; g", [["d"], ["f"], ["z"], ["g"]]),
        ("f() { a; }", [["a"]]),
        ("function f { a; }", [["a"]]),
        ("[[ a > b && c ]] && d", [["[[", "a", "b", "c", "]]"], ["d"]]),
        ("cat <<E\na b\nE\nc", [["cat"], ["c"]]),
        ("cat <<-E\n\ta\n\tE\nc", [["cat"], ["c"]]),
        ("cat <<'E'\n$(a)\nE", [["cat"]]),
        ("{a,b,{c,d}}", [["a", "b", "c", "d"]]),
        ("'{a,b}'", [["{a,b}"]]),
        ("a$IFS'b'${IFS}c", [["a$IFSb${IFS}c"]]),
        (r"$'\x61\142\u0063\n'", [["abc\n"]]),
        ("'open", [["open"]]),
        ("$(", [["$("]]),
        ("", []),
    ],
)
def test_words_are_those_of_the_shell(text: str, expected: list[list[str]]) -> None:
    assert words(text) == expected


def test_commands_in_substitutions_are_found() -> None:
    found = words('a $(b "$(c)") `d` "${e:-$(f)}" <(g) $((1 + $(h)))')
    assert all([name] in found for name in "cdfgh")
    assert ["b", "$(c)"] in found


def test_assignments_and_redirections_are_apart() -> None:
    (command,) = parse_commands("A=1 B='c d' >out 2>&1 <in e &>>log >|x 3<>y").commands
    assert command.words == ["e"]
    assert command.assignments == [Assignment("A", "1"), Assignment("B", "c d")]
    assert command.targets == ["out", "log", "x", "y"]


def test_input_and_pipes_are_known() -> None:
    first, second = parse_commands("cat <<E | sh\nls\nE").commands
    assert (first.input, first.path[0][1], second.path[0][1]) == ("ls\n", 0, 2)
    assert parse_commands("sh <<< 'a b'").commands[0].input == "a b"


def test_what_a_loop_or_an_array_holds_is_an_assignment() -> None:
    loop, _ = parse_commands("for x in a {b,c}; do d; done").commands
    assert loop.assignments == [Assignment("x", word, is_loop=True) for word in "abc"]
    (array,) = parse_commands("a+=(b 'c d')").commands
    assert array.assignments == [Assignment("a", "", ["b", "c d"], appends=True)]


def test_the_functions_of_a_text_are_known() -> None:
    assert parse_commands("f() { a; }; function g { b; }").functions == {"f", "g"}


@pytest.mark.parametrize("text", ["a;" * 30_000, "$(" * 5_000, "{a,b}" * 20, "`" * 50_001 + "'" * 9])
def test_a_text_that_is_too_long_is_not_read(text: str) -> None:
    try:
        parse_commands(text)
    except (TextTooLong, RecursionError):
        return
    assert "`" in text

"""The values of variables, substitutions and arguments, as far as a text says them."""

from __future__ import annotations

import pytest

from hookline.shell.expansion import Environment, mark_globs, printed_texts, visible_text
from hookline.shell.grammar import HAS_UNKNOWN, HERE, UNKNOWN, UNKNOWN_PATH, UNKNOWN_WORDS
from hookline.shell.simple_commands import parse_commands


def expand(line: str, environment: Environment) -> list[tuple[str, ...]]:
    parsed = parse_commands(line)
    return environment.expand_words(parsed, parsed.commands[-1].words)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a $x", [("a", "b", "c")]),
        ('a "$x"', [("a", "b c")]),
        ("a '$x'", [("a", "$x")]),
        ("a${x}d", [("ab", "cd")]),
        ("${x:2}", [("c",)]),
        ("${x^^}", [("B", "C")]),
        ("a $nothing", [("a", UNKNOWN_WORDS)]),
        ('a "$nothing"', [("a", UNKNOWN)]),
        ("${nothing:-x y}", [(UNKNOWN_WORDS,), ("x", "y")]),
        ("${x:+y}", [(), ("y",)]),
        ("${x#b}", [(UNKNOWN_WORDS,)]),
        ("${!x}", [(UNKNOWN_WORDS,)]),
        ("$HOME/x", [("~/x",), (f"{UNKNOWN_PATH}/x",)]),
        ("a$()b", [("ab",)]),
        ("$(echo p q)", [("p", "q")]),
        ('"$(echo p q)"', [("p q",)]),
        ("$(date)", [(UNKNOWN_WORDS,)]),
        ("$(date | rev)", [(UNKNOWN_WORDS,)]),
        ("a$IFS'b'${IFS}c", [("a", "b", "c")]),
    ],
)
def test_words_have_the_values_of_their_variables(line: str, expected: list[tuple[str, ...]]) -> None:
    environment = Environment()
    environment.assign("x", ["b c"], is_certain=True)
    assert expand(line, environment) == expected


def test_a_variable_has_every_value_that_it_may_have() -> None:
    environment = Environment()
    environment.assign("x", ["a"])
    environment.assign("x", ["b"], appends=True)
    assert expand('"$x"', environment) == [("a",), ("ab",), (UNKNOWN,)]


def test_arguments_and_arrays_are_several_words() -> None:
    environment = Environment()
    environment.set_positionals(("a b", "c"))
    environment.assign_items("i", [("d e", "f")])
    assert expand('x"$@"', environment) == [("xa b", "c")]
    assert expand('"${i[@]}" $2', environment) == [("d e", "f", "c")]


def test_values_beyond_the_limit_are_unknown() -> None:
    environment = Environment()
    for number in range(100):
        environment.assign("x", [str(number)], is_certain=True)
    assert HAS_UNKNOWN.search(expand('"$x"', environment)[-1][0])
    assert len(expand('"$x$x$x$x"', environment)) < 100


def test_a_pattern_for_files_is_unknown_only_where_it_is_not_quoted() -> None:
    fields = expand("/bin/r[m] 'a*' b*", Environment())[0]
    assert tuple(map(mark_globs, fields)) == (f"/bin/r{UNKNOWN}", "a*", f"b{UNKNOWN}")
    assert tuple(map(visible_text, fields)) == ("/bin/r[m]", "a*", "b*")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["echo", "-n", "a", "b"], ["a b\n"]),
        (["echo", "a\\nb"], ["a\\nb\n", "a\nb\n"]),
        (["printf", "%s-%s", "a", "b"], ["a-b"]),
        (["printf", "%s ", "a", "b"], ["a b "]),
        (["printf", "%5s", "a"], [UNKNOWN]),
        (["which", "git"], ["git\n"]),
        (["command", "-v", "git"], ["git\n"]),
        (["mktemp"], [UNKNOWN_PATH]),
        (["pwd"], [HERE]),
        (["date"], [UNKNOWN]),
    ],
)
def test_what_a_simple_program_prints(words: list[str], expected: list[str]) -> None:
    assert printed_texts(words[0], words[1:]) == expected

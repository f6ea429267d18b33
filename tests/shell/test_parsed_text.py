"""Words of a parsed text: their quotes, their expansions, and the pieces in between."""

from __future__ import annotations

from hookline.shell.parsed_text import Expansion
from hookline.shell.simple_commands import parse_commands


def test_a_word_is_shown_with_its_expansions_as_they_are_written() -> None:
    parsed = parse_commands("""echo 'a{b,c}'"$HOME"/x""")
    assert parsed.unquote(parsed.commands[0].words[1]) == "a{b,c}$HOME/x"


def test_the_pieces_of_a_word_are_in_order() -> None:
    parsed = parse_commands('echo a"$x"b$(date)')
    word = parsed.commands[-1].words[1]
    pieces = [each.written if isinstance(each, Expansion) else each for each in parsed.pieces(word)]
    assert pieces == ["a", "$x", "b", "$(date)"]
    assert [each.is_quoted for each in parsed.expansions_of(word)] == [True, False]

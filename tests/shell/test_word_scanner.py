"""The words of shell text with placeholders."""

from __future__ import annotations

import pytest

from hookline.errors import BadTemplate
from hookline.shell.scanner import scan
from hookline.shell.word_scanner import Word

PLACEHOLDER = "{{x}}"


def words(text: str) -> list[Word]:
    starts = [at for at in range(len(text)) if text.startswith(PLACEHOLDER, at)]
    found = scan(text, {start: start + len(PLACEHOLDER) for start in starts})
    return [word for command in found.commands for word in command.words]


def test_the_text_of_a_word_is_what_is_known_before_it_runs() -> None:
    assert [word.text for word in words("a 'b c' d\\ e \"f\"g")] == ["a", "b c", "d e", "fg"]


def test_a_word_knows_its_placeholder_and_what_comes_before_it() -> None:
    (program, word) = words("a b{{x}}c")
    assert (program.static, program.has_placeholder) == (True, False)
    assert (word.lead, word.static, word.has_placeholder) == ("b", False, True)


def test_a_word_knows_its_unquoted_variables() -> None:
    assert words('a $b"$c"${d}')[1].unquoted_variables == {"b"}


@pytest.mark.parametrize("text", ["a $'{{x}}'", "a \\{{x}}", "a ${y:-{{x}}}", "a $(({{x}}))", "a {b,{{x}}}", "a 'b"])
def test_a_word_that_cannot_take_a_literal_is_refused(text: str) -> None:
    with pytest.raises(BadTemplate):
        words(text)

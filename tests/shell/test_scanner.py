"""The commands of a shell text, and the quotes around its placeholders."""

from __future__ import annotations

import re

import pytest

from hookline.errors import BadTemplate
from hookline.shell.scanner import QuoteContext, QuoteStyle, ScanResult, quote_value, scan


def scanned(text: str) -> ScanResult:
    return scan(text, {match.start(): match.end() for match in re.finditer(r"\{\{v\}\}", text)})


@pytest.mark.parametrize(
    ("text", "style", "in_backticks"),
    [
        ("echo {{v}}", QuoteStyle.NOTHING, False),
        ("echo '{{v}}'", QuoteStyle.SINGLE, False),
        ('echo "a {{v}}"', QuoteStyle.DOUBLE, False),
        ('echo "$(echo {{v}})"', QuoteStyle.NOTHING, False),
        ("echo `echo '{{v}}'`", QuoteStyle.SINGLE, True),
    ],
)
def test_the_quotes_around_a_placeholder_are_found(text: str, style: QuoteStyle, in_backticks: bool) -> None:
    assert scanned(text).quotes == {text.index("{{v}}"): QuoteContext(style, in_backticks)}


@pytest.mark.parametrize(
    ("style", "in_backticks", "quoted"),
    [
        (QuoteStyle.NOTHING, False, "'it'\\''s $x'"),
        (QuoteStyle.SINGLE, False, "it'\\''s $x"),
        (QuoteStyle.DOUBLE, False, "\"'it'\\''s $x'\""),
        (QuoteStyle.NOTHING, True, "'it'\\\\''s \\$x'"),
    ],
)
def test_a_value_is_written_for_the_quotes_around_it(style: QuoteStyle, in_backticks: bool, quoted: str) -> None:
    assert quote_value("it's $x", QuoteContext(style, in_backticks)) == quoted


def test_a_value_loses_what_no_argument_can_contain() -> None:
    assert quote_value("a\0b\ud800", QuoteContext(QuoteStyle.NOTHING)) == "'ab?'"


def test_each_command_has_its_words_without_redirections() -> None:
    commands = scanned("X=1 ls -l 'a b' > out 2>&1; if true; then (cat {{v}} | wc); fi").commands
    assert [[word.text for word in command.words] for command in commands if command.words] == [
        ["X=1", "ls", "-l", "a b"],
        ["true"],
        ["cat", ""],
        ["wc"],
    ]


def test_a_word_knows_what_it_reads_and_what_is_fixed() -> None:
    ((_, word, quoted, empty),) = (
        command.words for command in scanned("echo pre$A\"$(echo $B {{v}})\" 'x' $C").commands[-1:]
    )
    assert (word.lead, word.static, word.has_placeholder, word.reads) == ("pre", False, True, frozenset("AB"))
    assert (quoted.text, quoted.static, quoted.quoted, quoted.cannot_vanish) == ("x", True, True, True)
    assert not empty.cannot_vanish


def test_variables_in_arithmetic_are_named() -> None:
    variables = scanned("echo $((A + 1)); [[ B -eq 2 ]]; echo $C {{v}}").arithmetic_variables
    assert {"A", "B"} <= variables
    assert "C" not in variables


@pytest.mark.parametrize(
    "text", ["cat <<EOF\n{{v}}\nEOF", "echo \\{{v}}", "echo $(({{v}}))", "echo '{{v}}", "(echo {{v}}"]
)
def test_a_placeholder_whose_quotes_cannot_be_known_is_refused(text: str) -> None:
    with pytest.raises(BadTemplate) as refused:
        scanned(text)
    assert 0 <= refused.value.position <= len(text)

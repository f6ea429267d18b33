"""A value in shell text is read back exactly, in whatever quotes it stands."""

from __future__ import annotations

import subprocess

import pytest

from hookline.shell.quoting import Backticks, QuoteContext, QuoteStyle, quote_value

VALUES = ("x", "a b", "it's", '"', "$(date) `date` $HOME \\", "-n", "*", "{a,b}", "!!", "ünï", "a\nb", "")


@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize(
    ("text", "context"),
    [
        ("printf %s {}", QuoteContext(QuoteStyle.NOTHING)),
        ("printf %s '{}'", QuoteContext(QuoteStyle.SINGLE)),
        ('printf %s "{}"', QuoteContext(QuoteStyle.DOUBLE)),
        ('printf %s "$(printf %s {}; printf .)"', QuoteContext(QuoteStyle.NOTHING)),
        ('printf %s "`printf %s {}; printf .`"', QuoteContext(QuoteStyle.NOTHING, Backticks.IN_DOUBLE_QUOTES)),
    ],
)
def test_a_shell_reads_back_the_value(value: str, text: str, context: QuoteContext) -> None:
    line = text.replace("{}", quote_value(value, context))
    printed = subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=True).stdout
    assert printed.removesuffix(".") == value


def test_what_no_argument_can_have_is_removed() -> None:
    assert quote_value("a\0b\ud800", QuoteContext(QuoteStyle.NOTHING)) == "'ab?'"

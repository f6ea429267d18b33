"""Characters that nobody sees."""

import unicodedata

import pytest

from hookline.hooks.invisible_characters import without_invisible


@pytest.mark.parametrize(
    "character", "\u00ad\u034f\u061c\u180e\u200b\u200d\u202e\u2060\u3164\ufe0f\ufeff\U0001d173\U000e0041"
)
def test_an_invisible_character_is_removed(character: str) -> None:
    assert without_invisible(f"é{character}b{character}") == "éb"


@pytest.mark.parametrize("text", ["plain", "é 你好 🦊", "\ud800", "\u0600\u06dd", "a\tb\n\x00", "𝄞 𛲜"])
def test_any_other_text_stays_the_same(text: str) -> None:
    assert without_invisible(text) is text


def test_all_that_only_control_how_text_looks_are_removed() -> None:
    shown = {"ARABIC", "SYRIAC", "KAITHI", "EGYPTIAN", "INTERLINEAR"}  # these have a shape, or stand between texts
    for character in map(chr, range(0x110000)):
        if unicodedata.category(character) == "Cf" and unicodedata.name(character).split()[0] not in shown:
            assert without_invisible(f"é{character}") == "é", hex(ord(character))

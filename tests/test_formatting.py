"""Text for people: escapes, excerpts, suggestions."""

from __future__ import annotations

import itertools

import pytest

from hookline.formatting import (
    MAX_SHOWN_LENGTH,
    MAX_WORD_LENGTH,
    closest_match,
    file_label,
    is_typo,
    printable,
    shorten,
)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ünïcødé ☃", "plain ünïcødé ☃"),
        ("a\nb\tc", "a\\nb\\tc"),
        ("\x1b[2J", "\\x1b[2J"),
        ("left\u202eright", "left\\u202eright"),
        ("\ud800", "\\ud800"),
    ],
)
def test_characters_that_could_deceive_are_escaped(text: str, shown: str) -> None:
    assert printable(text) == shown
    assert printable(text).isprintable()


def test_only_a_long_text_is_cut() -> None:
    longest = "x" * MAX_SHOWN_LENGTH
    assert shorten(longest) == longest
    assert shorten(longest + "y") == "x" * (MAX_SHOWN_LENGTH - 1) + "…"


@pytest.mark.parametrize(
    ("word", "match"),
    [
        ("onError", "on_error"),
        ("on-error", "on_error"),
        ("TIMEOUT", "timeout"),
        ("timout", "timeout"),
        ("xyz", None),
        ("", None),
        ("timeout" * MAX_WORD_LENGTH, None),
    ],
)
def test_a_mistyped_word_finds_the_word_that_was_meant(word: str, match: str | None) -> None:
    assert closest_match(word, ["on_error", "timeout", "then"]) == match


@pytest.mark.parametrize("written", ["hoks", "hook", "hookss", "hooka", "hoosk", "Hooks", "HOOKS", "xhooks", "ooks"])
def test_one_slip_is_a_typo(written: str) -> None:
    assert is_typo(written, "hooks")


@pytest.mark.parametrize("written", ["tools", "hosts", "", "ho", "webhooks", "hks"])
def test_another_word_is_no_typo(written: str) -> None:
    assert not is_typo(written, "hooks")


@pytest.mark.parametrize(
    ("file", "label"),
    [
        (".microai/settings.json", ".microai/settings.json"),
        ("../.ai_agents/settings.json", ".ai_agents/settings.json"),
        ("~/.ai_agents/settings.json", "~/.ai_agents/settings.json"),
        ("src/hub.json", "hub.json"),
        ("hub.json", "hub.json"),
        ("/home/dev/.gemini/extensions/guard/hooks/hooks.json", "guard/hooks.json"),
        ("hooks/hooks.json", "hooks.json"),
    ],
)
def test_a_file_s_label_tells_the_settings_files_apart(file: str, label: str) -> None:
    assert file_label(file) == label


def test_a_typo_is_one_mistake_wherever_it_is() -> None:
    letters = "abx"
    words = ["".join(each) for length in range(1, 5) for each in itertools.product(letters, repeat=length)]
    for written in words:
        one_mistake = {written}
        for at in range(len(written) + 1):
            one_mistake |= {written[:at] + letter + written[at:] for letter in letters}
            one_mistake |= {written[:at] + letter + written[at + 1 :] for letter in letters}
            one_mistake |= {
                written[:at] + written[at + 1 :],
                written[:at] + written[at : at + 2][::-1] + written[at + 2 :],
            }
        assert {word for word in words if is_typo(written, word)} == one_mistake & set(words), written

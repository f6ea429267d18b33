"""What all readers of shell text have in common."""

from __future__ import annotations

import pytest

from hookline.shell.grammar import ASSIGNMENT, HAS_UNKNOWN, PRIVATE_CHARACTERS, UNKNOWN, UNKNOWN_WORDS


@pytest.mark.parametrize(
    ("word", "groups"),
    [
        ("a=b", ("a", None, "")),
        ("_a1+=b", ("_a1", None, "+")),
        ("a[0]=b", ("a", "[0]", "")),
        ("1a=b", None),
        ("=b", None),
        ("a-b=c", None),
    ],
)
def test_an_assignment_is_recognised(word: str, groups: tuple[str, str | None, str] | None) -> None:
    found = ASSIGNMENT.match(word)
    assert (found and found.groups()) == groups


def test_unknown_characters_are_private() -> None:
    assert all(PRIVATE_CHARACTERS.fullmatch(each) and HAS_UNKNOWN.fullmatch(each) for each in (UNKNOWN, UNKNOWN_WORDS))

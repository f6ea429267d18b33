from __future__ import annotations

import itertools
import random

from hookline.prove.regular_language import (
    ANY_TEXT,
    EMPTY_TEXT,
    NOTHING,
    Language,
    both,
    characters,
    contains,
    either,
    find_text,
    repetition,
    sequence,
    single_text,
    without,
)

TEXTS = ["".join(each) for length in range(5) for each in itertools.product("ab", repeat=length)]
A, B = single_text("a"), single_text("b")


def make(rng: random.Random, depth: int) -> tuple[Language, frozenset[str]]:
    """A language, and which of TEXTS are in it, computed from their definition."""
    every = frozenset(TEXTS)
    if depth == 0:
        return rng.choice([(A, frozenset("a")), (B, frozenset("b")), (EMPTY_TEXT, frozenset([""])), (ANY_TEXT, every)])
    kind = rng.randrange(5)
    one, of_one = make(rng, depth - 1)
    if kind == 0:
        return without(one), every - of_one
    if kind == 1:
        again = frozenset([""])
        for _ in range(4):
            again |= frozenset(x + y for x in again for y in of_one) & every
        return repetition(one, 0, None), again
    other, of_other = make(rng, depth - 1)
    if kind == 2:
        return either((one, other)), of_one | of_other
    if kind == 3:
        return both((one, other)), of_one & of_other
    return sequence((one, other)), frozenset(x + y for x in of_one for y in of_other) & every


def test_a_language_has_the_texts_that_its_parts_say():
    rng = random.Random(3)
    for _ in range(400):
        language, expected = make(rng, 3)
        assert {text for text in TEXTS if contains(language, text)} == expected


def test_a_found_text_is_in_the_language_and_shortest():
    rng = random.Random(4)
    for _ in range(200):
        language, known = make(rng, 3)
        found = find_text(language)
        if found is None:
            assert not known
        else:
            assert contains(language, found)
            assert not known or len(found) <= min(map(len, known))


def test_every_character_counts():
    letters = characters(((0x61, 0x7A),))
    far = characters(((0x30000, 0x30005),))
    assert (
        find_text(both((characters(((0, 0x10FFFF),)), without(letters), without(characters(((0, 0x2FFFF),))))))
        is not None
    )
    assert find_text(far) == "\U00030000"
    assert find_text(both((letters, far))) is None


def test_counted_repetition():
    twice = repetition(A, 2, 3)
    assert [contains(twice, "a" * count) for count in range(5)] == [False, False, True, True, False]
    assert repetition(NOTHING, 0, None) is EMPTY_TEXT
    assert repetition(NOTHING, 1, 2) is NOTHING


def test_a_hundred_intersections_are_quick():
    languages = [without(sequence((single_text(f"dir{number}/"), ANY_TEXT))) for number in range(100)]
    start = sequence((single_text("dir"), characters(((0x30, 0x39),)), single_text("/"), ANY_TEXT))
    assert find_text(both((*languages, start))) is None

from __future__ import annotations

import random

import pytest

from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import Syntax, pattern
from hookline.prove.pattern_language import NotTranslatable, matched_texts
from hookline.prove.regular_language import contains

PATTERNS = [
    "a", "^a", "a$", "^a$", "", "^$", "a|b", "(^|b)a", "a($|b)", r"\ba", r"a\b", r"\ba\b", r"\Ba", r"a\B", r"\b", r"^\b",
    r"(?i)ab", "[^a]", "[a-b]+$", "a{2}", "^a{1,2}$", "a{2,}b", "(ab)*$", r"\s", r"\S$", r"\d\W", "(?m)^a$", "(?m)a$b?",
    "a.b", "(?s)a.b", "^(?!a)", "a(?=b)", "a(?!b)", "(?<!a)b", "(?<=a)b", "(?<![ab/])b", "(?:^|/)a$", r"(\ba|b\b) ?",
    "(^a)?b", "(?:a$|b){1,2}", "a^b", r"a\b\bb|\b\Ba", r"(?!.*b$)a", r"\pL", r"[^\pL]a", "(a|)b?$", "^[^/]*$", r"a\n?$",
    r"\Aab?\z", "x{0}a", "(?:a|b\\b)(?:\\bb|a)",
]  # fmt: skip
ALPHABET = "ab/ \n_Aé"


def texts(rng: random.Random, count: int) -> list[str]:
    return ["", *("".join(rng.choices(ALPHABET, k=rng.randint(1, 5))) for _ in range(count))]


def assert_same(compiled: object, samples: list[str]) -> None:
    found = matched_texts(compiled)
    for text in samples:
        matches = compiled.search(text)
        if found.surely is found.perhaps:
            assert contains(found.surely, text) == matches, (compiled, text)
        else:
            assert contains(found.surely, text) <= matches <= contains(found.perhaps, text), (compiled, text)


@pytest.mark.parametrize("source", PATTERNS)
@pytest.mark.parametrize("whole", [False, True])
def test_the_language_has_the_texts_that_match(source, whole):
    assert_same(pattern(source, whole=whole), texts(random.Random(source), 60))


@pytest.mark.parametrize("source", ["a$", r"\ba\Z", r"^a$", "(?:a|b$)a?"])
def test_python_patterns(source):
    assert_same(pattern(source, Syntax.PYTHON), texts(random.Random(source), 60))


@pytest.mark.parametrize(
    "source", ["a", "^a.b", "a.*b$", "^.$", r"\bab\b", "[^a]$", "^(?!a)", r"^[^/]+$", "a(?=.)", "^..$"]
)
def test_javascript_patterns(source):
    compiled = pattern(source, Syntax.JAVASCRIPT)
    rng = random.Random(source)
    assert_same(compiled, [*texts(rng, 40), "a😀b", "😀", "a😀", "😀a", "😀b", "é😀"])


@pytest.mark.parametrize(
    ("word", "text"),
    [
        ("exactly", "a/b"),
        ("contains", "a"),
        ("begins", "a"),
        ("like", "a*b"),
        ("glob", "**/a"),
        ("glob", "a/*"),
        ("tool", "a|b*"),
    ],
)
def test_short_forms(word, text):
    assert_same(shorthand(word, text), texts(random.Random(text), 80))


@pytest.mark.parametrize("source", [r"(a)\1", r"(?:\ba)*", "(?<=ab)c"])
def test_what_cannot_be_translated(source):
    with pytest.raises(NotTranslatable):
        matched_texts(pattern(source))


def test_random_patterns():
    rng = random.Random(7)
    atoms = ["a", "b", "/", ".", "[^a]", r"\b", "^", "$", r"\w", r"\B", "(?!a)", "(?=b)", "(?<!b)", r"\s"]

    def make(depth: int) -> str:
        kind = rng.random()
        if depth == 0 or kind < 0.45:
            return rng.choice(atoms)
        if kind < 0.7:
            return make(depth - 1) + make(depth - 1)
        if kind < 0.85:
            return f"(?:{make(depth - 1)}|{make(depth - 1)})"
        return f"(?:{make(depth - 1)}){rng.choice(['?', '*', '+', '{1,2}'])}"

    translated = 0
    for _ in range(150):
        compiled = pattern(make(3))
        try:
            matched_texts(compiled)
        except NotTranslatable:
            continue
        translated += 1
        assert_same(compiled, texts(rng, 15))
    assert translated > 100

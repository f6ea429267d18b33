"""The words of a pattern are in every text that it matches, and a simple pattern means what its tree means.

The texts are made from the pattern's own tree, so that most of them match. `make fuzz` tries a million: HOOKLINE_FUZZ.
"""

from __future__ import annotations

import math
import os
import random

import pytest

from hookline.engine.word_filter import WordFilter
from hookline.errors import UndecidedError
from hookline.patterns import pattern as module
from hookline.patterns.pattern import BadPattern, Pattern, Syntax, pattern
from hookline.patterns.required_words import NO_WORDS, WORD_EDGE, fold_word
from hookline.patterns.simple_parser import parse_simple
from hookline.patterns.syntax_tree import (
    Alternation,
    BackReference,
    CharacterSet,
    Group,
    LookAround,
    RegexNode,
    Repeat,
    Sequence,
    complement,
)

TEXTS = int(os.environ.get("HOOKLINE_FUZZ", "6000"))
TEXTS_PER_PATTERN = 20
PARTS = 4  # tests, so that they run side by side
SEED = random.randrange(10**9) if "HOOKLINE_FUZZ" in os.environ else 0

LITERALS = [
    "a",
    "k",
    "S",
    "rm",
    "-rf",
    "/",
    "_",
    ".env",
    "secret_",
    "KEY",
    " ",
    "=",
    "7",
    "é",
    "ß",
    "K",
    "ſ",
    "😀",
    "-",
]
ATOMS = [
    ".", r"\d", r"\w", r"\s", r"\S", r"\D", r"\W", r"\.", r"\/", r"\-", r"\x2e", r"\b", "[abc]", "[a-z_]", "[^/]", "[Kk]",
    "[sS]", "[xyz.-]", r"[\s\d]", "[^a]", r"\B", r"\t", "[kK\u212a]", "[^\\x00-\\x1f]", r"\\",
]  # fmt: skip
NATIVE_ATOMS = [
    r"\pL",
    r"\PN",
    r"\p{Greek}",
    "[[:alpha:]]",
    r"\Qa.b\E",
    r"\x{e9}",
    r"\A",
    r"\z",
    "(?s:.*)",
    "(?i)",
    r"\C?",
]
JAVASCRIPT_ATOMS = [r"\u0041", r"\cJ", "[^]", r"\A", "]", "}", "{", r"\_"]
PYTHON_ATOMS = [r"\Z", r"\A", r"\u00e9", r"\N{DIGIT ONE}"]
QUANTIFIERS = ["*", "+", "?", "*?", "+?", "??", "{2}", "{0,2}", "{1,}", "{3,4}", "{2}?", "{0}"]


class Chance(random.Random):
    def source(self, syntax: Syntax, depth: int = 3) -> str:
        return "|".join(self.branch(syntax, depth) for _ in range(self.choice([1, 1, 1, 2, 3])))

    def branch(self, syntax: Syntax, depth: int) -> str:
        return "".join(self.part(syntax, depth) for _ in range(self.randint(0, 4)))

    def part(self, syntax: Syntax, depth: int) -> str:
        kind = self.random()
        if kind < 0.5:
            part = self.choice(LITERALS)
        elif kind < 0.7:
            own = {Syntax.NATIVE: NATIVE_ATOMS, Syntax.JAVASCRIPT: JAVASCRIPT_ATOMS, Syntax.PYTHON: PYTHON_ATOMS}[
                syntax
            ]
            part = self.choice(ATOMS + own)
        elif kind < 0.75:
            part = self.choice(["^", "$"])
        elif depth and kind < 0.93:
            opening = self.choice(["(", "(?:", "(?:", "(?i:"])
            part = f"{opening}{self.source(syntax, depth - 1)})"
        elif depth and kind < 0.97:
            part = f"({self.choice(['?=', '?!', '?<=', '?<!'])}{self.source(syntax, 1)})"
        else:
            part = f"({self.choice(LITERALS)})\\1"
        return part + (self.choice(QUANTIFIERS) if self.random() < 0.25 else "")

    def matching_text(self, node: RegexNode, groups: dict[int, str]) -> str:
        match node:
            case CharacterSet():
                return self.member(node)
            case Sequence(parts):
                return "".join(self.matching_text(part, groups) for part in parts)
            case Alternation(options):
                return self.matching_text(self.choice(options), groups)
            case Repeat(part, least, most):
                times = self.randint(least, min(least + 2, least + 2 if most is None else most))
                return "".join(self.matching_text(part, groups) for _ in range(times))
            case Group(part, number):
                groups[number] = self.matching_text(part, groups)
                return groups[number]
            case BackReference(numbers):
                return next((groups[number] for number in numbers if number in groups), "")
            case LookAround(part, negative=False):
                return self.matching_text(part, groups)
            case _:
                return ""

    def member(self, chars: CharacterSet) -> str:
        if chars.properties:
            return self.choice("aé1λ _")
        ranges = complement(chars.ranges) if chars.negated else chars.ranges
        if not ranges:
            return ""
        low, high = self.choice(ranges)
        code = self.choice([low, high, self.randint(low, min(high, low + 200)), min(max(low, ord("k")), high)])
        return chr(code)

    def texts(self, tree: RegexNode) -> list[str]:
        found = []
        for _ in range(TEXTS_PER_PATTERN):
            text = self.matching_text(tree, {})
            if self.random() < 0.2:
                text = "".join(self.choice([c, c.swapcase(), c.upper(), c.lower()]) for c in text)
            if self.random() < 0.3:
                text = self.around() + text + self.around()
            if self.random() < 0.05:
                text = text.replace(self.choice(text), "", 1) if text else self.around()
            found.append(text)
        return found

    def around(self) -> str:
        return "".join(self.choices([*LITERALS, "\n", "\ud800", "xx"], k=self.randint(0, 3)))


def without_words(source: str, syntax: Syntax, whole: bool) -> Pattern:
    """The same pattern through its tree, searched without a look at its words."""
    if syntax is Syntax.NATIVE:
        built = module._compile_native(source, whole)
    else:
        built = module._compile_tree(module._parse_source(source, syntax), whole)
    return Pattern(source, syntax, whole, built, NO_WORDS)


def spellings_of(compiled: Pattern, words: tuple[str, ...]) -> list[str | None]:
    """As the index finds them: a single word may be the text that every match has exactly like this."""
    text = compiled.required_text
    is_exact = text is not None and len(words) == 1 and words[0].strip(WORD_EDGE) == fold_word(text)
    return [text if is_exact else None for _ in words]


def search(one: Pattern, text: str) -> bool | None:
    try:
        return one.search(text)
    except UndecidedError:
        return None


@pytest.mark.parametrize("part", range(PARTS))
def test_the_words_are_in_every_text_that_matches(part: int) -> None:
    chance, texts, matches, simple = Chance(SEED * PARTS + part), 0, 0, 0
    while texts < TEXTS // PARTS:
        syntax, whole = chance.choice(list(Syntax)), chance.random() < 0.2
        source = chance.source(syntax)
        try:
            compiled, truth = pattern(source, syntax, whole=whole), without_words(source, syntax, whole)
            tree = module._parse_source(source, syntax)
        except BadPattern:
            continue
        simple += parse_simple(source, javascript=syntax is Syntax.JAVASCRIPT) is not None
        sets = compiled.words
        filters = [WordFilter(words, spellings_of(compiled, words)) for words in sets]
        for text in chance.texts(tree):
            texts += 1
            expected, found = search(truth, text), search(compiled, text)
            assert found == expected or None in (found, expected), (source, syntax, whole, text)
            if expected:
                matches += 1
                for words, filter in zip(sets, filters, strict=True):
                    assert list(filter.find(text, math.inf)), (source, syntax, whole, text, words)
    assert matches > texts / 5, "too few of the texts match"
    assert simple > texts / TEXTS_PER_PATTERN / 50


@pytest.mark.parametrize(
    ("source", "sets"),
    [
        ("rm -rf", [("rm -rf",)]),
        (r"SECRET_7\b", [("secret_7" + WORD_EDGE,)]),
        (r"\brm\b.*x", [(WORD_EDGE + "rm" + WORD_EDGE,), ("x",)]),
        (r"(?:foo\b)+", [("foo" + WORD_EDGE,)]),
        (r"\b", []),
        (r"\b(?:\b|foo)", []),
        (r"(?i)\brm\b", [("rm",)]),
        (r"/p7/.*\.py$", [("/p7/",), (".py",)]),
        (r"(?:/p7/.*|/src/.*)\.py$", [("/p7/", "/src/"), (".py",)]),
        ("ab+c", [("ab",), ("bc",)]),
        ("ab*c", [("a",), ("c",)]),
        ("x(?:ab)?y", [("x",), ("y",)]),
        ("x(?:ab){2}y", [("xababy",)]),
        ("a|", []),
        (".", []),
        ("", []),
        ("(?i)Key", [("key",)]),
        ("[kK]ey", [("ey",)]),
        ("(?i:K)ey", [("key",)]),
        ("[kx]ey", [("ey",)]),
        ("foo(?=bar)", [("foo",)]),
        (r"(['\"])x\1", [("x",)]),
        ("a{100}", [("a" * 48,)]),
    ],
)
def test_the_words_of_a_pattern(source: str, sets: list[tuple[str, ...]]) -> None:
    assert sorted(pattern(source).words) == sorted(sets)


def test_a_pattern_of_many_alternatives_has_no_words() -> None:
    assert pattern("|".join(f"word{n}" for n in range(65))).words == ()
    assert len(pattern("|".join(f"word{n}" for n in range(64))).words[0]) == 64


def test_a_letter_with_other_cases_in_python_is_no_word() -> None:
    """Python takes the dotless i for an i, RE2 does not."""
    compiled = pattern("(?i)xiy", Syntax.PYTHON)
    for text in ("xiy", "XIY", "x\u0131y", "x\u0130y"):
        assert not compiled.search(text) or all(
            list(WordFilter(words).find(text, math.inf)) for words in compiled.words
        )

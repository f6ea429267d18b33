"""Nothing that a pattern or a text says may hang us, crash us or raise what nobody expects."""

import contextlib
import random
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.patterns.pattern import BadPattern, Syntax, UndecidedError, pattern

MEGABYTE = 1_000_000
RANDOM = random.Random(7)
TEXTS = {
    "one letter": "a" * MEGABYTE,
    "one letter, then another": "a" * MEGABYTE + "!",
    "two letters": "".join(RANDOM.choices("ab", k=MEGABYTE)),
    "words": "".join(RANDOM.choices("abcxyz \n=-", k=MEGABYTE)),
    "newlines": "\n" * MEGABYTE,
    "beyond ASCII": "é😀" * (MEGABYTE // 6),
    "surrogates": "\ud800" * (MEGABYTE // 3),
}
SOURCES = [
    *[
        r"^(a+)+$",
        r"(x+x+)+y",
        r"(a|a)*b",
        r"(a|aa)+c",
        r"^(([a-z])+.)+[A-Z]([a-z])+$",
        r"(a|b|c|ab|bc){50}z",
        r"(.*)*c",
        r"(?:a?){500}c",
    ],
    *[
        r"a[ab]{900}c",
        r"[ab]*a[ab]{20}c",
        r"a?[^c]{500}.*c",
        r"(?:.{200}b)+c",
        r"[^c]{50}(?:a|ab|b)*[ab]{30}c",
        r".{1000}c",
    ],
    *[
        r"(?=(a+))\1b",
        r"(a*)*\1$",
        r"(\w+)\s\1",
        r"(?<=a+b+)c",
        r"(?<=(?:a+)+)c",
        r"(?=.*c)a",
        r"(?!.*c)(?=.*d)x",
        r"(a+)\1+c",
        r"(.)(.).*\2\1c",
    ],
    *[
        r"(?<!a{1,1000})c",
        r"(?:(?=.*c)|.)+d",
        r"(a?)[^c]{500}\1.+c\1",
        r"^(?=(.*a)*b)c",
        r"(?:(?:a*)*)*(?=c)",
        r"(.*)(.*)(.*)\1\2\3c",
    ],
]


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.timing
def test_a_decision_about_a_megabyte_comes_in_time(text):
    for source in SOURCES:
        compiled = pattern(source)
        started = time.perf_counter()
        with contextlib.suppress(UndecidedError):
            compiled.search(TEXTS[text])
        assert time.perf_counter() - started < 1, source


@pytest.mark.parametrize(
    "source", [r"^(a+)+$", r"(x+x+)+Y", r"(a|a)*B", r"(a|b|c|ab|bc){50}!!", r"AKIA[0-9A-Z]{16}", r"curl.*\|\s*sh"]
)
@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.timing
def test_what_re2_can_say_is_decided(source, text):
    expected = source == r"^(a+)+$" and text == "one letter"
    assert search_until_decided(source, TEXTS[text]) is expected


def search_until_decided(source, text, tries=20):
    """A busy machine may take the processor away for as long as a search may take."""
    for _ in range(tries - 1):
        with contextlib.suppress(UndecidedError):
            return pattern(source).search(text)
    return pattern(source).search(text)


@pytest.mark.parametrize("source", [r"b[0-9A-Zb]{16}\b", r"\bsecret[a-z]{12}$", r"é[^x]{20}!"])
def test_a_long_text_is_searched_to_its_end_by_windows(source):
    tail = {"b": "b" + "Z" * 16, "\\": " secret" + "q" * 12, "é": "é" + "é" * 20 + "!"}[source[0]]
    filler = "".join(RANDOM.choices("ab ", k=300_000)) + " "
    assert pattern(source).search(filler + tail)
    assert not pattern(source).search(filler + tail[:-1])


@pytest.mark.parametrize("syntax", Syntax)
@pytest.mark.parametrize(
    "source",
    [
        "((a{1000}){1000}){1000}",
        "(" * 10_000 + ")" * 10_000,
        "(?=" * 10_000 + ")" * 10_000,
        "(" * 10_000,
        "[" * 10_000,
        "a" * 2_000_000,
        "(?=a)" * 12_000,
        "(?:(?:(?:(?:a{100}){100}){100}){100})(?=b)",
        r"(?=x)\w{500}\w{500}\w{500}\w{500}\w{500}\w{500}",
        "(?:" * 90 + "a" + "{2})" * 90,
        "a{" + "9" * 500 + "}",
        r"\1" * 10_000,
        "(a)" * 10_000 + r"\1",
        "|" * 50_000,
        "(?i:" + "[a-z]" * 10_000 + ")",
    ],
)
@pytest.mark.timing
def test_a_monstrous_pattern_is_refused_or_read_in_time(source, syntax):
    started = time.perf_counter()
    with contextlib.suppress(BadPattern, UndecidedError):
        pattern(source, syntax).search("a" * 100)
    assert time.perf_counter() - started < 4


def test_a_set_of_many_ranges_cannot_be_repeated_without_end():
    with pytest.raises(BadPattern, match="too many"):
        pattern(r"(?=x)\w{500}", Syntax.PYTHON)
    assert pattern(r"(?=x)\w{3}", Syntax.PYTHON).search("xyz")


@given(
    source=st.one_of(st.text(max_size=20), st.binary(max_size=20).map(lambda data: data.decode("latin-1"))),
    syntax=st.sampled_from(Syntax),
)
def test_no_text_as_a_pattern_raises_anything_else(source, syntax):
    with contextlib.suppress(BadPattern, UndecidedError):
        pattern(source, syntax).search("some text 😀\ud800")


def test_thousands_of_random_patterns_raise_nothing_else():
    pieces = list("ab()[]{}*+?|^$.\\-,:=!<>&~#1209 \n\x00é😀\ud800") + [
        "(?",
        "(?<",
        "(?P<",
        "\\p{",
        "\\x{",
        "{1,",
        "[[:",
        "(?i",
        "\\k<",
        "\\Q",
        "{e<=2}",
    ]
    for _ in range(4_000):
        source = "".join(RANDOM.choices(pieces, k=RANDOM.randrange(1, 16)))
        for syntax in Syntax:
            with contextlib.suppress(BadPattern, UndecidedError):
                pattern(source, syntax).search("ab a-1 é😀")

"""What RE2 refuses is read by us; where both can read a pattern they must agree."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.patterns import re2_parser
from hookline.patterns.emitter import to_re2_superset, to_regex
from hookline.patterns.engines import BacktrackingEngine, LinearEngine
from hookline.patterns.pattern import BadPattern, pattern

SOURCES = [
    r"a|b",
    r"^a$",
    r"(?m)^a$",
    r"(?i)aBc",
    r"(?s)a.b",
    r"a.b",
    r"\d",
    r"\w",
    r"\s",
    r"\S",
    r"\W",
    r"\D",
    r"\bfoo\b",
    r"[a-c]",
    r"[^a-c]",
    r"[]a]",
    r"[^]a]",
    r"[a-]",
    r"[-a]",
    r"[[:alpha:]]",
    r"[[:^digit:]x]",
    r"\x41",
    r"\x{e9}",
    r"\101",
    r"\07",
    r"\a\f\t\n\r\v",
    r"\Qa.b\E+",
    r"(?P<n>a)",
    r"(?<n>a)b",
    r"a{2}",
    r"a{2,}",
    r"a{1,2}?",
    r"a{,2}",
    r"a{",
    r"{a}",
    r"(?U)a*",
    r"(?i:a)b",
    r"(?i)k",
    r"(?i)ſ",
    r"(?-i)a",
    r"(?i-s:A.)",
    r"\pL",
    r"\p{Greek}",
    r"[\p{Lu}a]",
    r"\P{L}",
    r"\p{^L}",
    r"\A\z",
    r"a\z",
    r"(?:)",
    r"()",
    r"a||",
    r"[\d\s]",
    r"[\]]",
    r"[\-a]",
    r"\.",
    r"\(",
    r"\/",
    r"(?i)[k-l]",
    r"(?i)[^k]",
    r"^*",
    r"(?:a*)*",
]
TEXTS = [
    "",
    "a",
    "b",
    "ab",
    "a\nb",
    "\na",
    "a\n",
    "ABC",
    "abc",
    "foo",
    "a foo",
    "foob",
    "0",
    " ",
    "\t",
    "\x0b",
    "é",
    "É",
    "α",
]
TEXTS += [
    "k",
    "K",
    "\u212a",
    "ſ",
    "s",
    "S",
    "a.b",
    "aXb",
    "a{",
    "{a}",
    "a{,2}",
    "]",
    "-",
    "/",
    "(",
    "\a\f\t\n\r\v",
    "aa",
    "aaa",
    "\x07",
]


def near_deadline() -> float:
    return time.perf_counter() + 10


def backtracking_engine(source: str) -> BacktrackingEngine:
    return BacktrackingEngine(to_regex(re2_parser.parse(source)), whole=False)


@pytest.mark.parametrize("source", SOURCES)
def test_both_engines_agree(source):
    linear, other = LinearEngine(source, whole=False), backtracking_engine(source)
    for text in TEXTS:
        assert other.search(text, near_deadline()) == linear.matches(text.encode()), text


ATOMS = st.sampled_from(
    ["a", "b", ".", "\\d", "\\w", "\\s", "[ab]", "[^a]", "^", "$", "\\b", "\\pL", "[[:alpha:]]", "é", "\\x41", "K"]
)


def nested_patterns(inner):
    wrapped = st.sampled_from(["(%s)", "(?:%s)", "(?i:%s)", "(?s:%s)", "(?m:%s)", "(?P<x>%s)"])
    return st.one_of(
        st.builds(lambda shape, part: shape % part, wrapped, inner),
        st.builds(
            lambda part, sign: f"(?:{part}){sign}", inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,3}"])
        ),
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join),
    )


@given(source=st.recursive(ATOMS, nested_patterns, max_leaves=8), text=st.text("abAB1 \néÉkſ\u212a", max_size=10))
def test_both_engines_agree_on_random_patterns(source, text):
    try:
        linear, other = LinearEngine(source, whole=False), backtracking_engine(source)
    except BadPattern:  # the same name twice, or a Unicode class in any case
        return
    found = linear.matches(text.encode())
    assert other.search(text, near_deadline()) == found
    assert LinearEngine(to_re2_superset(re2_parser.parse(source)), whole=False).matches(text.encode()) >= found


@pytest.mark.parametrize(
    ("source", "yes", "no"),
    [
        (r"^(?!.*prod).*deploy", ["deploy staging"], ["deploy prod", "prod deploy"]),
        (r"(?<!\w)rm(?!\w)", ["rm -rf", "x; rm"], ["farm", "rmdir"]),
        (r"(['\"])secret\1", ["'secret'", '"secret"'], ["'secret\""]),
        (r"(?P<q>['\"])x(?P=q)", ["'x'"], ["'x\""]),
        (r"(?<q>a)\k<q>", ["aa"], ["a"]),
        (r"(?i)(a)\1b", ["aAB"], ["ab"]),
        (r"(?:foo){e}(?=x)", ["foo{e}x"], ["foox", "fox"]),
        (r"a\Q(?R)\E(?=b)", ["a(?R)b"], ["ab"]),
        (r"(?=a$)a", ["a"], ["a\n"]),
        (r"(?=\d)[^x]", ["1"], ["\u0661"]),
        (r"(?m)^b(?=$)", ["a\nb\nc"], ["a\nbc"]),
        (r"[a&&b](?=c)", ["&c", "ac"], ["xc"]),
        (r"(?=b)\bb\b", ["a b"], ["ab", "éb_"]),
    ],
)
def test_look_around_and_back_references(source, yes, no):
    compiled = pattern(source)
    assert not compiled.is_linear
    assert [text for text in yes if not compiled.search(text)] == []
    assert [text for text in no if compiled.search(text)] == []


@pytest.mark.parametrize(
    "source",
    [
        "(",
        ")",
        "[",
        "a**",
        "*a",
        "a{2,1}",
        "[z-a]",
        "\\",
        "\\y",
        r"\L<x>",
        "(?R)",
        "(?1)",
        "(?&x)",
        "(?>a)",
        "(?(1)a|b)",
        r"\p{Nope}(?=a)",
    ]
    + [
        r"(a)\2",
        r"\k<x>",
        "(?P<a>x)(?P<a>y)(?=z)",
        r"\x{110000}(?=a)",
        "[[:nope:]](?=a)",
        r"\C(?=a)",
        "(?=a",
        "(?<=a)**",
        "(?z)",
    ],
)
def test_what_means_nothing_is_refused(source):
    with pytest.raises(BadPattern):
        pattern(source)


@pytest.mark.parametrize(
    ("source", "words"),
    [("eval\\((?!safe)", [("eval(",)]), (r"(['\"])x\1", [("x",)]), (r"(?<!a)b|(?=c)d", [("b", "d")])],
)
def test_what_a_match_needs_is_for_an_index(source, words):
    assert list(pattern(source).words) == words

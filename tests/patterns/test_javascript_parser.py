"""Compared with a real JavaScript engine: what it accepts, and what it finds in every text."""

import json

import pytest
import quickjs
from hypothesis import assume, given
from hypothesis import strategies as st

from hookline.patterns.pattern import BadPattern, Syntax, pattern

ANSWERS = """
(function (source, texts) {
  let expression;
  try { expression = new RegExp(JSON.parse(source)) } catch (error) { return "refused" }
  return JSON.stringify(JSON.parse(texts).map(text => expression.test(text)))
})
"""

TEXTS = (
    """
|a|b|aa|ab|ba|aab|abc|AB|A|K|k|ſ|s|S|ß|é|É|éÉ|-|/|8|9|18|1|0|\\c|\\|c|*|uu|u|x4|x|{|}|a{|a{1|a{1,|a{,2}|{1|[|]|a]|p{L}|pL|Q|E|z
|Z|e|k<n>|"a"|'a'|"a'|zaacbbbcac|abab|bb|cc|foo|a foo b|foobar|,b|a-z|&|^|.|$|(|)|?|a{ 1}|a{1 }|a{-1}|abba|xyyx|_|=|<|:|!
""".strip()
    .replace("\n", "")
    .split("|")
    + [
        *[
            "\n",
            "a\n",
            "\na",
            "a\nb",
            "a\rb",
            "\r",
            "\u2028",
            "a\u2028b",
            "\u2029",
            "\u00a0",
            "\ufeff",
            "\x0b",
            "\x1c",
            "\x85",
        ],
        *[
            "\u180e",
            "\u200b",
            "\u3000",
            "😀",
            "a😀",
            "\ud83d",
            "\ude00",
            "\ud83dx",
            "\ude00\ud83d",
            "\U0010d83d",
            "\U00010000",
        ],
        *["\x00", "\x01", "\x07", "\x08", "\x018", "\x1f", "\x11", "\u212a", "\u0130", "\u0131", "u" * 61, "|", "a|b"],
    ]
)

PATTERNS = (
    r"""
a ^$ $ a$ ^a ^ab$ ( ) [ ] a] { } a{ a{1 a{1, a{,2} {1} {1 a{2} a{2,1} a{2,} a{0} a** a*+ a*? a*?? a+?b ^* $* \b+ x{2}{3}
\b \B \d \D \w \W \s \S . [^] [] [^a] [a-z] [z-a] [\d-z] [a-\d] [\w-] [-a] [a-] [a-c-e] [[] [a&&b] [A-z]
\a \- \/ \cA \c \c1 [\c1] [\c_] [\c] [\c*] \x41 \x4 \u0041 \u004 \u{61} \u{2} \0 \00 \01 \07 \08 \1 \8 \9 \10 \18 \377 \400
[\1] [\8] [\0] [\b] [\B] [\k] \p{L} \P{L} \pL \Q \E \z \Z \A \e \\ \. \[ [\]] [\\] [a\]
(a)\1 (a)\2 \1(a) (a\1) (a) (?:a) (?=a) (?!a) (?<=a)b (?<!a)b (?=a)* (?=a)+ (?=a){2} (?<=a)* (?!a)? (?=a)*b () (?:)
(?<n>a) (?<n>a)\k<n> \k<n>(?<n>a) \k<n> \k (?<n>a)\k (?<n>a)\k<m> (?<n (?<n> (?<>a) (?<1>a) (?<$>a) (?<ñ>a) (?<n>a)(?<n>b)
(?<n>a)|(?<n>b) (?:(?<n>a)|(?<n>b))\k<n> (?<\u0061>b)\k<a> (?<\u{61}>b)\k<a> (?<a\u>b) (?<a)>b)
(?i) (?i:a) (?i:a)b (?-i:a) (?i-i:a) (?ii:a) (?-:a) (?ims-:a) (?m:^b) (?m:a$) (?s:.) (?x:a) (?P<n>a) (?>a) (?#a)
(?i:k) (?i:ſ) (?i:[^k]) (?i:ß) (?i:é) (?i:[A-z]) (?i:\w) (?i:\u212a) (?i:(a)\1) (?i:(é)\1) (?i:(?-i:a)b) (?i:ı) (?i:İ)
a| |a a|b || (?:a (?: (?= (?< (?<= (?<! (?! (? (?* a) \ [\ a\
😀 [😀] ^.$ ^..$ [\ud83d] \ud83d \ud83d\ude00 [^😀] ^[^a]$ [\ud800-\udfff] [\s\S] [^\s\S] [^\W\w] (?<𝒜>.)
(?<a>.)(?<b>.)\k<b>\k<a> (['"])a\1 (?=(a+))\1b (?=(a))b (?!(a))\1b (?<=(a))b\1 (?<=\1(a))b (?<=(a)\1)b (?<=a{2})b (?<=^|,)b
(z)((a+)?(b+)?(c))* (a)|b\1 (a)|\1b (?:(a)|(b))\1\2c (a|b)*\1 (?:a*)* (a*)* (a*)+b (?:a?)*?b (?:\1(a))* (?:(a)\1)*b
(?:(?=(a))){0}b\1 (?:^)* (?:$)+ (?:\b)?a (?:(?<=a))*b (?:(?=a))*b (?:(?!a))+b (?:^a)*b (?m:$*) (?m:^)*b (?m:$)+ (?:(a){2})?\1b (?=(a)){0}b\1 a{0,99999999999} \bfoo\b (?<![^,])b (?<=(?=a)b)c [^\n] x*\B \u2028
""".split()  # noqa: SIM905
    + ["a{ 1}", "a{1 }", "[ ]", "\n", "[\n]", ".\n.", "^.\u2028$", "(?=a b)", "", "\ud83d", "[\ud83d-\ud83f]"]
)


@pytest.fixture(scope="module")
def answers():
    return quickjs.Context().eval(ANSWERS)


def search_with_javascript(answers, source: str, texts: list[str]) -> list[bool] | None:
    told = answers(json.dumps(source), json.dumps(texts))
    return None if told == "refused" else json.loads(told)


def search_with_hookline(source: str, texts: list[str]) -> list[bool] | None:
    try:
        compiled = pattern(source, Syntax.JAVASCRIPT)
    except BadPattern:
        return None
    return [compiled.search(text) for text in texts]


@pytest.mark.parametrize("source", PATTERNS)
def test_finds_what_javascript_finds(answers, source):
    assert search_with_hookline(source, TEXTS) == search_with_javascript(answers, source, TEXTS)


@pytest.mark.parametrize("source", [r"(?:(a)|b)*\1", r"(?:a|(b))+\1c", r"(?:(?=(a)))?\1b"])
def test_a_reference_to_what_an_earlier_iteration_left_is_refused(source):
    with pytest.raises(BadPattern, match="earlier iteration"):
        pattern(source, Syntax.JAVASCRIPT)


def test_one_character_beyond_the_plane_is_two_units():
    assert pattern("^..$", Syntax.JAVASCRIPT).search("😀")
    assert not pattern("^.$", Syntax.JAVASCRIPT).search("😀")


@pytest.mark.parametrize("source", ["😀", r"\ud83d", r"[\ud83d-\ud83f]x"])
def test_a_pattern_that_names_surrogates_is_not_for_an_index(source):
    assert pattern(source, Syntax.JAVASCRIPT).words in ((), (("x",),))


ATOMS = st.sampled_from(
    [
        "a",
        "b",
        "c",
        ".",
        "\\w",
        "\\d",
        "\\s",
        "\\W",
        "[ab]",
        "[^a]",
        "[^]",
        "^",
        "$",
        "\\b",
        "\\B",
        "\\1",
        "\\2",
        "é",
        "😀",
        "\\n",
    ]
)


def nested_patterns(inner):
    wrapped = st.sampled_from(
        ["(%s)", "(?:%s)", "(?=%s)", "(?!%s)", "(?<=%s)", "(?<!%s)", "(?i:%s)", "(?s:%s)", "(?m:%s)"]
    )
    return st.one_of(
        st.builds(lambda shape, part: shape % part, wrapped, inner),
        st.builds(
            lambda part, sign: part + sign, inner, st.sampled_from(["*", "+", "?", "*?", "{2}", "{1,2}", "{0,1}", "{"])
        ),
        st.lists(inner, min_size=2, max_size=4).map("".join),
        st.lists(inner, min_size=2, max_size=3).map("|".join),
    )


SOURCES = st.recursive(ATOMS, nested_patterns, max_leaves=8)
SHORT_TEXTS = st.lists(st.text("abcAB1 \né😀\u2028", max_size=8), min_size=4, max_size=4)


def read(source: str):
    """The pattern, None where it is refused; what we alone refuse is not compared."""
    try:
        return pattern(source, Syntax.JAVASCRIPT)
    except BadPattern as refusal:
        assume("earlier iteration" not in refusal.why)
        return None


@given(source=SOURCES, texts=SHORT_TEXTS)
def test_agrees_with_javascript_on_random_patterns(answers, source, texts):
    compiled = read(source)
    found = compiled and [compiled.search(text) for text in texts]
    assert found == search_with_javascript(answers, source, texts)


@given(source=st.text("ab()[]{}*+?|^$.\\-,:=!<>kndwsbBux01 i", max_size=10))
def test_refuses_exactly_what_javascript_refuses(answers, source):
    assert (read(source) is None) == (search_with_javascript(answers, source, []) is None)

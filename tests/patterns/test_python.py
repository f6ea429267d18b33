import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.patterns.pattern import BadPattern, Syntax, pattern

SOURCES = r"""
a|b ^a$ a$ a\Z \Aa (?m)^a$ (?i)aB (?s)a.b (?is)A.B \d \w+ \s \S \W \D [\w-] [^\W_] [^\d] (?P<n>a)(?P=n) (a)\1 a{,2}b a{2} a{ {
[]a] [^]a] [\b] \x41 \u0041 \U00000041 \07 \101 (?#no)a (?a)\w (?:a$) $\n a$|b (?i:k)b (?=a)b (?<!a)b mcp__.*__write.* Edit|Write (?i)ß
""".split()
TEXTS = [
    "",
    "a",
    "b",
    "ab",
    "AB",
    "a\nb",
    "\na",
    "a\n",
    "a\n\n",
    "foo",
    "0",
    "\u0661",
    "é",
    "é_1",
    " ",
    "\xa0",
    "\x1c",
    "aa",
    "aab",
    "bb",
]
TEXTS += [
    "A",
    "\x07",
    "\x08",
    "]",
    "-",
    "_",
    "a{",
    "{",
    "\n",
    "kb",
    "Kb",
    "mcp__x__write_file",
    "Edit",
    "Write",
    "ẞ",
    "ß",
    "SS",
    "²",
]


@pytest.mark.parametrize("source", SOURCES)
def test_finds_what_python_finds(source):
    anywhere, whole = pattern(source, Syntax.PYTHON), pattern(source, Syntax.PYTHON, whole=True)
    for text in TEXTS:
        assert anywhere.search(text) == bool(re.search(source, text)), text
        assert whole.search(text) == bool(re.fullmatch(source, text)), text


@pytest.mark.parametrize(
    "source",
    [
        "(",
        "[",
        "a**",
        "*",
        "a{2,1}",
        "\\",
        r"\y",
        r"\Q",
        r"\z",
        "(?x)a",
        "(?<n>a)",
        "(?>a)",
        "a++",
        "a(?i)b",
        r"(a)\2",
        r"\xg",
    ],
)
def test_what_python_or_we_cannot_read_is_refused(source):
    with pytest.raises(BadPattern):
        pattern(source, Syntax.PYTHON)


ATOMS = st.sampled_from(["a", "b", ".", r"\d", r"\w", r"\s", r"\W", "[ab]", "[^a]", "^", "$", r"\Z", "é", "_"])


@settings(max_examples=200, deadline=None)
@given(
    source=st.recursive(
        ATOMS,
        lambda inner: st.one_of(
            inner.map("({})".format),
            inner.map("(?i:{})".format),
            inner.map("(?:{})*".format),
            st.lists(inner, min_size=2, max_size=3).map("".join),
            st.lists(inner, min_size=2, max_size=3).map("|".join),
        ),
        max_leaves=6,
    ),
    text=st.text("abAB1_ \né", max_size=6),
)
def test_agrees_with_python_on_random_patterns(source, text):
    assert pattern(source, Syntax.PYTHON).search(text) == bool(re.search(source, text))
    assert pattern(source, Syntax.PYTHON, whole=True).search(text) == bool(re.fullmatch(source, text))

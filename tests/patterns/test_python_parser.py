import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.patterns.pattern import BadPattern, Syntax, pattern

SOURCES = [
    r"a|b",
    r"^a$",
    r"a$",
    r"a\Z",
    r"\Aa",
    r"(?m)^a$",
    r"(?i)aB",
    r"(?s)a.b",
    r"(?is)A.B",
    r"\d",
    r"\w+",
    r"\s",
    r"\S",
    r"\W",
    r"\D",
    r"[\w-]",
    r"[^\W_]",
    r"[^\d]",
    r"(?P<n>a)(?P=n)",
    r"(a)\1",
    r"a{,2}b",
    r"a{2}",
    r"a{",
    r"{",
    r"[]a]",
    r"[^]a]",
    r"[\b]",
    r"\x41",
    r"\u0041",
    r"\U00000041",
    r"\07",
    r"\101",
    r"(?#no)a",
    r"(?a)\w",
    r"(?:a$)",
    r"$\n",
    r"a$|b",
    r"(?i:k)b",
    r"(?=a)b",
    r"(?<!a)b",
    r"mcp__.*__write.*",
    r"Edit|Write",
    r"(?i)ß",
]
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

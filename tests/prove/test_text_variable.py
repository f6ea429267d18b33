from __future__ import annotations

import pytest

pytest.importorskip("z3", reason="z3-solver is not installed: pip install 'hookline[prove]'")

from hookline.patterns.pattern import pattern
from hookline.prove.regular_language import contains
from hookline.prove.text_variable import TextVariable


def test_equal_patterns_are_one_match():
    variable = TextVariable(("prompt",))
    assert variable.match(pattern("a")) is variable.match(pattern("a"))
    assert variable.match(pattern("a")).holds is not variable.match(pattern("b")).holds


def test_a_pattern_that_cannot_be_translated_is_true_or_false():
    assert TextVariable(("prompt",)).match(pattern(r"(a)\1")).language is None


def test_the_common_form_is_for_common_texts_only():
    variable = TextVariable(("x",), pattern("^a"), pattern("b$"))
    assert len(variable.languages(common=False)) == 1
    assert all(contains(each, "ab") for each in variable.languages(common=True))

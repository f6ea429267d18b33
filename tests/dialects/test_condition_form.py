"""Whether two conditions say the same."""

from __future__ import annotations

import pytest

from hookline.dialects.condition_form import join_names, same_meaning, without_parts
from hookline.dialects.tool_names import match_tool_name
from hookline.hooks.conditions.logic import ALWAYS, All, AnyOf, Not
from hookline.hooks.conditions.text import Equals
from hookline.hooks.protocols import Condition
from hookline.hooks.tools import VOCABULARIES
from hookline.patterns.matchers import shorthand
from hookline.patterns.pattern import Syntax, pattern

OK, FAILED = Equals(("tool", "ok"), True), Equals(("tool", "ok"), False)


def tool(names: str, form: str = "tool", vocabulary: str = "cursor") -> Condition:
    return match_tool_name(shorthand(form, names), VOCABULARIES[vocabulary])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (All((OK, tool("Shell"))), All((tool("Shell"), OK))),
        (All((OK, All((tool("Shell"), ALWAYS)))), All((tool("Shell"), OK))),
        (All((OK,)), OK),
        (AnyOf((OK, FAILED)), AnyOf((FAILED, OK))),
        (Not(Not(OK)), OK),
        (tool("Write|Read"), tool("Read|Write")),
        (tool("Shell", "exactly"), tool("Shell")),
        (AnyOf((tool("Read"), tool("Write"))), tool("Read|Write")),
    ],
)
def test_order_nesting_and_spelling_make_no_difference(one: Condition, other: Condition) -> None:
    assert same_meaning(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (OK, FAILED),
        (OK, Not(OK)),
        (All((OK, FAILED)), AnyOf((OK, FAILED))),
        (tool("Shell"), tool("Read")),
        (tool("Shell"), tool("Shell", vocabulary="windsurf")),
        (tool("Shell"), match_tool_name(pattern("Shell", Syntax.JAVASCRIPT), VOCABULARIES["cursor"])),
        (tool("a*b", "exactly"), tool("a*b")),
    ],
)
def test_what_holds_for_other_calls_is_another_condition(one: Condition, other: Condition) -> None:
    assert not same_meaning(one, other)


def test_what_is_left_of_a_condition_without_some_of_its_parts() -> None:
    whole = All((tool("Shell"), OK))
    assert without_parts(whole, [OK]) == tool("Shell")
    assert without_parts(whole, [tool("Shell", "exactly"), OK]) == ALWAYS
    assert without_parts(whole, [FAILED]) is None


def test_names_of_one_vocabulary_become_one_list() -> None:
    assert join_names([tool("Read|Write"), OK, tool("Shell|Read")]) == [tool("Read|Write|Shell"), OK]

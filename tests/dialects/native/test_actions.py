"""`then`: which key names the action, chains, and actions with bad placeholders."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from dialects.native.native_actions import parse, parse_valid, rewrite
from hookline.dialects.native.actions import BARE_ACTIONS
from hookline.hooks.actions.chain import Chain
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.protocols import May


@pytest.mark.parametrize("word", BARE_ACTIONS)
def test_a_bare_word_is_the_action_without_options(word: str) -> None:
    assert parse_valid(word) == parse_valid({word: True})


@pytest.mark.parametrize("then", [{"tell": "agent", "run": "lint"}, {"tell": "always", "call": "lint"}], ids=str)
def test_tell_beside_a_program_or_call_is_an_option(then: dict[str, str]) -> None:
    assert next(iter(rewrite(then))) in ("run", "call")


@pytest.mark.parametrize(
    ("then", "codes"),
    [
        ({}, ["no-action"]),
        ({"reads": "json"}, ["no-action"]),
        ({"dnye": "x"}, ["unknown-key"]),
        ({"deny": "x", "log": "y"}, ["unknown-key"]),
        ("stop", ["wrong-type"]),
        ({"custom": {}}, ["no-action"]),
        ({"custom": {"no-such": {}}}, ["unknown-action"]),
        ([{"log": "a", "timeout": "soon"}], ["wrong-type"]),
    ],
    ids=str,
)
def test_problems(then: Any, codes: list[str]) -> None:
    action, found = parse(then)
    assert isinstance(action, InvalidAction)
    assert found == codes


@pytest.mark.parametrize(
    ("then", "may"),
    [
        ({"deny": "{{nope}}"}, May.DENY),
        ({"ask": "{{nope}}"}, May.ASK),
        ({"halt": "{{nope}}"}, May.DENY),
        ({"allow": "{{nope}}"}, May.NOTHING),
        ({"log": "{{nope}}"}, May.NOTHING),
        ({"judge": "ok?", "with": "{{nope}}"}, May.DENY),
        ({"script": "return", "variables": {"a": "{{nope}}"}}, May.DENY | May.ASK),
        ({"run": ["{{nope}}"]}, May.DENY),
        ({"run": ["{{nope}}"], "reads": "never"}, May.NOTHING),
        ({"call": "lint", "with": {"a": "{{nope}}"}}, May.NOTHING),
    ],
    ids=str,
)
def test_an_action_with_a_bad_placeholder_fails_when_it_runs(then: Any, may: May) -> None:
    action, codes = parse(then)
    assert codes == ["bad-template"]
    assert isinstance(action, InvalidAction)
    assert action.may == may


def test_after_a_tool_a_program_with_a_bad_placeholder_could_not_have_denied() -> None:
    action, _ = parse({"run": ["{{nope}}"]}, "tool.after")
    assert action is not None
    assert action.may == May.NOTHING


def test_a_step_has_its_own_keys() -> None:
    step = {
        "log": {"message": "a", "level": "info"},
        "name": "first",
        "on_error": "ask",
        "ends_chain": True,
        "timeout": "5s",
    }
    chain = parse_valid([step, "deny"])
    assert isinstance(chain, Chain)
    assert [each.name for each in chain.steps] == ["first", "deny"]
    assert (chain.steps[0].timeout, chain.steps[0].ends_chain) == (timedelta(seconds=5), True)
    assert rewrite([step, "deny"]) == {"chain": [step, {"deny": True}], "stop_on_failure": False}

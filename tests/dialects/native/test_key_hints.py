"""Keys of other formats and keys in the wrong place get a hint that can be written as it stands."""

from __future__ import annotations

import pytest

from hookline.config.reader import read_text
from hookline.dialects.native.actions import ACTIONS, OWN_HOOK_KEYS
from hookline.dialects.native.conditions import CONDITIONS
from hookline.dialects.native.dialect import DIALECT, HOOK_KEYS
from hookline.dialects.native.key_hints import action_hints, condition_hints, hook_hints


def problems_of(hook: str) -> list[tuple[str, str]]:
    document, _ = read_text(f"hooks:\n  - {hook}\n", "hookline.yaml")
    assert document is not None
    return [(problem.what, problem.hint) for problem in DIALECT.load(document).problems]


@pytest.mark.parametrize(
    ("hook", "hints"),
    [
        ("{event: tool.before, then: deny}", ["Write on: and an event."]),
        ("{on: tool.before, matcher: bash, then: deny}", ["Write when: {tool: name}."]),
        ("{on: tool.before, if: {tool: bash}, then: deny}", ["Write when: and a condition."]),
        ("{on: tool.before, do: deny}", ["Write then: and an action."]),
        ("{on: tool.before, deny: x}", ["It belongs in then: then: {deny: …}."]),
        ("{on: tool.before, tool: bash, then: deny}", ["It belongs in when: when: {tool: …}."]),
        ("{on: tool.before, once: true, then: deny}", ["Write max_fires: 1."]),
        ("{on: tool.before, then: {block: x}}", ["Write deny: reason."]),
        (
            "{on: tool.before, then: {ask: Now?, default: deny}}",
            ["Write ask: {question: …, default: deny, within: 2m}."],
        ),
        (
            "{on: tool.before, then: {ask: Now?, timeout: 5s}}",
            ["Write ask: {question: …, default: deny, within: 2m}."],
        ),
        (
            "{on: tool.before, then: {deny: no, really}}",
            ['Quote the text if the comma is part of it: deny: "no, really".'],
        ),
        (
            "{on: tool.before, then: {deny: No, never: do this}}",
            ['Quote the text if the comma is part of it: deny: "No, never: do this".'],
        ),
        (
            "{on: tool.before, then: {deny: x, log: y}}",
            ["then takes one action. For several, write a list: [{deny: …}, {log: …}]."],
        ),
        (
            "{on: tool.before, then: {deny, ask}}",
            ["then takes one action. For several, write a list: [{deny: …}, {ask: …}]."],
        ),
        (
            "{on: tool.before, then: {run: x, timeout: 5s}, on_error: open}",
            ["It is a key of the hook: write timeout beside then."],
        ),
        (
            "{on: tool.before, when: {command: rm}, then: deny}",
            ["It is a field of a tool's input: input: {command: …}."],
        ),
        (
            "{on: tool.before, when: {glob: '*.py'}, then: deny}",
            ["Write it as the test of a field: input: {path: {glob: …}}."],
        ),
        ("{on: tool.before, when: {input: {path: {regex: x}}}, then: deny}", ["Write matches: pattern."]),
        ('{on: tool.before, order: "5", then: deny}', ["Write 5 without quotes."]),
    ],
)
def test_a_hint_says_what_to_write(hook: str, hints: list[str]) -> None:
    assert [hint for _, hint in problems_of(hook)] == hints


def test_a_wrong_event_does_not_hide_other_problems() -> None:
    found = problems_of("{on: tool.befor, when: {input: {command: '('}}, then: {dnye: x}}")
    assert [what.split(":")[0] for what, _ in found] == ["hooks[0].on", "hooks[0].when.input.command", "hooks[0].then"]


def test_the_keys_of_a_hook_that_no_action_has() -> None:
    assert set(OWN_HOOK_KEYS) == set(HOOK_KEYS) - {"then"}


def test_no_hint_is_for_a_key_that_exists() -> None:
    assert not set(hook_hints(CONDITIONS, ACTIONS)) & set(HOOK_KEYS)
    assert not set(condition_hints()) & set(CONDITIONS)
    assert not set(action_hints(ACTIONS, OWN_HOOK_KEYS, "")) & set(ACTIONS)

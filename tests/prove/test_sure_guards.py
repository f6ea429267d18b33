from __future__ import annotations

import pytest

from hookline.hooks.outcome import Verdict
from hookline.project import load_text
from hookline.prove.sure_guards import find_guards

DENY = frozenset((Verdict.DENY,))
STOP = frozenset((Verdict.DENY, Verdict.ASK))


def guards(hooks: str, stopping: frozenset[Verdict] = DENY) -> tuple[list[str], list[str]]:
    book = load_text(f"hooks:\n{hooks}", "hookline.yaml", "native")
    found = find_guards(book.hooks, stopping)
    return [hook.id for hook in found.sure], list(found.unsure.values())


@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ("then: {deny: no}", None),
        ("then: {deny: 'no {{tool.name}}'}", None),
        ("then: [{log: seen}, {deny: no}]", None),
        ("then: {halt: stop}", None),
        ("then: {ask: sure?}", "it does not deny"),
        ("then: {run: 'exit 1'}, on_error: closed", "its answer comes from the action run"),
        ("then: [{run: 'true'}, {deny: no}], on_error: closed", "its answer comes from the action chain"),
        ("then: {deny: no}, max_fires: 3", "it does not fire every time (max_fires)"),
        ("then: {deny: no}, cooldown: 10s", "it does not fire every time (cooldown)"),
    ],
)
def test_a_hook_is_sure_if_it_always_stops(rest, why):
    sure, unsure = guards(f"  - {{id: a, on: tool.before, when: {{tool: bash}}, {rest}}}\n")
    assert (sure, unsure) == ((["a"], []) if why is None else ([], [why]))


def test_an_ask_counts_if_it_is_enough():
    hooks = "  - {id: a, on: tool.before, then: {ask: sure?}}\n"
    assert guards(hooks, STOP)[0] == ["a"]


def test_a_disabled_hook_and_one_in_the_background_never_count():
    hooks = (
        "  - {id: a, on: tool.before, then: {deny: no}, enabled: false}\n"
        "  - {id: b, on: tool.before, then: {run: 'true'}, background: true}\n"
    )
    assert guards(hooks) == ([], [])


def test_an_earlier_change_of_what_it_reads_makes_a_hook_unsure():
    change = "  - {id: c, on: tool.before, then: {set: {tool.input.path: other}}}\n"
    deny = "  - {id: d, on: tool.before, when: {input: {path: x}}, then: {deny: no}}\n"
    other = "  - {id: e, on: tool.before, when: {tool: bash}, then: {deny: no}}\n"
    assert guards(change + deny)[1] == ["c may change the event before it"]
    assert guards(deny + change)[0] == ["d"]
    assert "d" not in guards(change + deny + other)[0]


def test_a_hook_that_may_end_its_group_makes_later_ones_unsure():
    ending = "  - {id: c, on: tool.before, then: {run: 'exit 1'}, on_error: stop}\n"
    assert guards(ending + "  - {id: d, on: tool.before, then: {deny: no}}\n")[1][-1] == (
        "c may end the hooks of its file before it"
    )

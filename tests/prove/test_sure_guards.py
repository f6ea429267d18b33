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
    assert guards(change + deny)[1] == ["c may change the event, or end the hooks of its file, before it"]
    assert guards(deny + change)[0] == ["d"]
    assert "d" not in guards(change + deny + other)[0]


@pytest.mark.parametrize(
    ("earlier", "is_sure"),
    [
        ("{id: c, on: tool.before, then: [{log: seen}, {set: {metadata.other: x}}]}", True),
        ("{id: c, on: tool.before, then: [{log: seen}, {set: {tool.input.other: x}}]}", False),
        ("{id: c, on: tool.before, then: [{log: seen}, {set: {tool.input.path: x}}]}", False),
        ("{id: c, on: tool.before, then: [{log: seen}, {run: rewrite.sh, reads: claude}], on_error: closed}", False),
        ("{id: c, on: tool.before, then: {run: rewrite.sh, reads: claude}, on_error: closed}", False),
    ],
)
def test_a_program_may_change_anything(earlier, is_sure):
    deny = "  - {id: d, on: tool.before, when: {input: {path: x}}, then: {deny: no}}\n"
    assert ("d" in guards(f"  - {earlier}\n{deny}")[0]) is is_sure


def test_a_change_that_makes_another_change_happen_counts_too():
    hooks = (
        "  - {id: c, on: tool.before, then: {set: {tool.input.command: x}}}\n"
        "  - {id: a, on: tool.before, when: {tool: bash}, then: {set: {tool.input.path: other}}}\n"
        "  - {id: d, on: tool.before, when: {input: {path: x}}, then: {deny: no}}\n"
    )
    found = find_guards(load_text(f"hooks:\n{hooks}", "hookline.yaml", "native").hooks, DENY)
    ((hook, before),) = found.sure_unless
    assert (hook.id, {each.id for each in before}) == ("d", {"a", "c"})


def test_a_hook_that_may_end_its_group_makes_later_ones_unsure():
    ending = "  - {id: c, on: tool.before, then: {run: 'exit 1'}, on_error: stop}\n"
    assert guards(ending + "  - {id: d, on: tool.before, then: {deny: no}}\n")[1][-1] == (
        "c may change the event, or end the hooks of its file, before it"
    )

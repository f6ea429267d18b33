"""The prover gives the same answer as deciding every event one by one."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("z3", reason="z3-solver is not installed: pip install 'hookline[prove]'")

from hookline.engine import match_budget
from hookline.patterns import pattern
from hookline.project import load_text
from hookline.prove.properties import parse_property
from hookline.prove.prover import ProofAnswer, ProofResult, prove
from prove.brute_force import DIRECTORY, ChangingSet, RandomSet, event_that_passes, expected_result

PROVED, REFUTED, UNPROVED = ProofResult.PROVED, ProofResult.COUNTER_EXAMPLE, ProofResult.NOT_PROVED
ENV = r"{id: env, on: tool.before, when: {tool: [write_file, edit_file], input: {path: '\.env$'}}, then: {deny: no}}"


@pytest.fixture(autouse=True)
def patient_matching(monkeypatch):
    """On a busy machine, a search of two characters may wait for its turn for longer than a decision may take."""
    monkeypatch.setattr(pattern, "SEARCH_SECONDS", 60.0)
    monkeypatch.setattr(match_budget, "MATCH_SECONDS", 60.0)
    monkeypatch.setattr(match_budget, "WALL_SECONDS", 45.0)


def answer(hooks: list[str], text: str, dialect: str = "native", **options: object) -> ProofAnswer:
    config = "hooks:\n" + "".join(f"  - {hook}\n" for hook in hooks) if dialect == "native" else hooks[0]
    book = load_text(config, "hookline.yaml" if dialect == "native" else "hub.json", dialect)
    assert not [problem for problem in book.problems if problem.severity == "error"], book.problems
    return prove(book, parse_property(text, **options), Path("/project"), timedelta(seconds=60))


def few(seeds: int) -> list[Any]:
    """The first four of the seeds; the others are slow."""
    return [*range(4), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(4, seeds))]


def assert_same_answer(random_set: RandomSet) -> None:
    found = prove(random_set.book, random_set.property, DIRECTORY, timedelta(minutes=10))
    expected, event = expected_result(random_set)
    assert found.result is expected, f"{random_set.config}{random_set.text}\n{found}\n{event}"


@pytest.mark.parametrize("seed", [*few(12), 106, 147, 239, 288, 435])
def test_the_answer_is_that_of_brute_force(seed):
    assert_same_answer(RandomSet(seed))


@pytest.mark.parametrize("seed", few(12))
def test_a_guard_with_flos_names_takes_no_guess_about_hooklines_own_tools(seed):
    assert_same_answer(RandomSet(seed, dialect="flo"))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 1000, 40))
def test_the_answer_is_that_of_brute_force_for_a_thousand_sets(start):
    for seed in range(start, start + 40):
        assert_same_answer(RandomSet(seed, dialect="flo" if seed % 4 == 3 else "native"))


def assert_no_event_passes(random_set: RandomSet) -> None:
    found = prove(random_set.book, random_set.property, DIRECTORY, timedelta(minutes=10))
    if found.result is PROVED:
        event = event_that_passes(random_set)
        assert event is None, f"{random_set.config}{random_set.text}\n{event}"


@pytest.mark.parametrize("seed", few(24))
def test_nothing_passes_hooks_that_change_the_input_after_a_proof(seed):
    assert_no_event_passes(ChangingSet(seed))


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, 400, 40))
def test_nothing_passes_four_hundred_sets_that_change_the_input(start):
    for seed in range(start, start + 40):
        assert_no_event_passes(ChangingSet(seed))


@pytest.mark.parametrize(
    "text",
    [
        r'tool: [write_file, edit_file], input: {path: "\.env$"}',
        r"kind: [write, edit], input: {path: '(^|/)\.env$'}",
        "kind: write, input: {path: {glob: '**/.env'}}",
        "tool: Write, input: {file_path: {exactly: .env}}",
        "tool: delete_file, kind: write, input: {path: {is: a/.env}}",
        "tool: 'mcp.files.write_*', input: {path: '[.]env$'}, kind: write",
    ],
)
def test_a_guard_holds_for_every_agent_and_spelling(text):
    assert answer([ENV], text).result is PROVED


@pytest.mark.parametrize(
    ("text", "is_vacuous"),
    [
        ("kind: shell, tool: write_file", True),
        ("kind: write, input: {path: $a}", True),
        (r"kind: write, input: {path: '\.env$'}", False),
    ],
)
def test_a_condition_that_no_event_meets_is_told(text, is_vacuous):
    found = answer([ENV], text)
    assert (found.result, found.is_vacuous) == (PROVED, is_vacuous)


@pytest.mark.parametrize("text", [r"input: {path: '\.env$'}", r"kind: write, input: {path: '\.env'}", "kind: write"])
def test_what_a_guard_does_not_cover_is_found(text):
    found = answer([ENV], text)
    assert found.result is REFUTED
    assert found.facts["tool"]["name"]


def test_delete_file_is_found_where_a_guard_thought_only_of_write_and_edit():
    by_name = "{id: g, on: tool.before, when: {fact: {tool.name: '^(write|edit)_file$'}}, then: {deny: no}}"
    others = "{id: k, on: tool.before, when: {not: {any: [{fact: {tool.name: delete}}, {tool: write_file}]}}, then: {deny: no}}"
    found = answer([by_name, others], r"tool: [write_file, delete_file], input: {path: '\.env$'}, kind: write")
    assert found.result is REFUTED
    found = answer([by_name], r"tool: delete_file, input: {path: '\.env$'}")
    assert found.facts["tool"]["name"] == "delete_file"


def test_hooks_prove_a_property_together():
    hooks = [
        "{id: a, on: tool.before, when: {kind: shell, input: {command: '^[a-m]'}}, then: {deny: no}}",
        "{id: b, on: tool.before, when: {kind: shell, input: {command: '^[n-z]'}}, then: {deny: no}}",
    ]
    assert answer(hooks, "kind: shell, input: {command: '^[a-z]'}").result is PROVED
    found = answer(hooks, "kind: shell, input: {command: '^[a-z0]'}")
    assert found.facts["tool"]["input"]["command"].startswith("0")


def test_a_path_has_many_spellings():
    """One spelling of a reading may match what another spelling of it does not."""
    hooks = [
        "{id: a, on: tool.before, when: {input: {path: '^a'}, not: {input: {path: 'b'}}}, then: {deny: no}}",
        "{id: b, on: tool.before, when: {input: {path: '^a.*b'}}, then: {deny: no}}",
    ]
    assert answer(hooks, "kind: write, input: {path: '^a'}").result is not PROVED
    assert answer(hooks, "kind: write, input: {content: '^a'}").result is REFUTED


def test_the_same_condition_needs_no_translation():
    hook = "{id: a, on: tool.before, when: {kind: shell, runs: rm}, then: {deny: no}}"
    assert answer([hook], "kind: shell, runs: rm, input: {command: sudo}").result is PROVED
    assert answer([hook], "kind: shell, input: {command: rm}").result is REFUTED


@pytest.mark.parametrize(
    ("hook", "reason"),
    [
        ("{id: p, on: tool.before, when: {kind: shell}, then: {run: check.sh}, on_error: closed}", "the action run"),
        ("{id: p, on: tool.before, when: {kind: shell}, then: {deny: no}, max_fires: 2}", "max_fires"),
        (
            r"{id: p, on: tool.before, when: {kind: shell, input: {command: '(x|)\1'}}, then: {deny: no}}",
            "back-reference",
        ),
    ],
)
def test_what_cannot_be_translated_is_named_and_is_no_proof(hook, reason):
    found = answer([hook], "kind: shell, input: {command: x}")
    assert found.result is UNPROVED
    assert any(each.startswith("p (hookline.yaml:2): ") and reason in each for each in found.reasons)


def test_a_hook_that_cannot_be_translated_does_not_hinder_a_proof_without_it():
    program = "{id: p, on: tool.before, then: {run: check.sh}, on_error: open}"
    assert answer([program, ENV], r"kind: write, input: {path: '\.env$'}").result is PROVED


def test_a_call_without_a_field_that_it_needs_is_found():
    hook = "{id: k, on: tool.before, when: {kind: write, input: {path: '.*'}}, then: {deny: no}}"
    found = answer([hook], "tool: write_file")
    assert found.result is REFUTED
    assert "path" not in found.facts["tool"]["input"]


def test_a_change_before_a_guard_is_no_proof():
    change = "{id: c, on: tool.before, when: {kind: write}, then: {set: {tool.input.path: safe.txt}}}"
    assert answer([change, ENV], r"kind: write, input: {path: '\.env$'}").result is not PROVED
    assert answer([ENV, change], r"kind: write, input: {path: '\.env$'}").result is PROVED


@pytest.mark.parametrize(
    ("changed", "condition", "tool"),
    [
        ("path", r"input: {command: '\.env$'}", "bash"),
        ("foo", r"input: {command: '\.env$'}", "bash"),
        ("content", r"input: {command: '\.env$'}", "bash"),
        ("foo", r"input: {path: '\.env$'}", "write_file"),
        ("file_path", "input: {path: {is: .env}}", "write_file"),
        ("foo", "input: {path: {exists: true}}", "write_file"),
        ("path", r"fact: {tool.input.file_path: '\.env$'}", "write_file"),
    ],
)
def test_a_change_of_a_field_that_may_be_read_for_another_is_no_proof(changed, condition, tool):
    change = f"{{id: c, on: tool.before, when: {{tool: {tool}}}, then: {{set: {{input.{changed}: x}}}}}}"
    guard = f"{{id: g, on: tool.before, when: {{{condition}}}, then: {{deny: no}}}}"
    found = answer([change, guard], f"tool: {tool}, {condition}")
    assert found.result is not PROVED
    assert found.result is REFUTED or any("c may change the event" in reason for reason in found.reasons)
    assert answer([guard, change], f"tool: {tool}, {condition}").result is PROVED


def test_a_change_of_other_tools_does_not_matter():
    change = "{id: c, on: tool.before, when: {tool: bash}, then: {set: {tool.input.path: safe.txt}}}"
    assert answer([change, ENV], r"kind: write, input: {path: '\.env$'}").result is PROVED
    unclear = "{id: c, on: tool.before, when: {input: {path: ^src/}}, then: {set: {tool.input.path: safe.txt}}}"
    assert answer([unclear, ENV], r"kind: write, input: {path: '\.env$'}").result is not PROVED
    named = "{id: c, on: tool.before, when: {tool: frob}, then: {set: {tool.input.path: safe.txt}}}"
    assert answer([named, ENV], r"kind: write, input: {path: '\.env$'}").result is not PROVED


def test_an_ask_is_enough_only_if_you_say_so():
    hook = "{id: a, on: tool.before, when: {kind: shell}, then: {ask: sure?}}"
    assert answer([hook], "kind: shell").result is REFUTED
    assert answer([hook], "kind: shell", ask_is_enough=True).result is PROVED


def test_other_events_and_dialects():
    flo = '{"hooks": {"UserPromptSubmit": [{"action": "deny", "reason": "no"}], "PreToolUse": [{"matcher": "^bash$", "inputMatchers": {"command": "^rm"}, "action": "deny"}]}}'
    assert answer([flo], "prompt: deploy", "flo", event="prompt.submit").result is PROVED
    agents = "fact: {host.name: {exactly: [claude-code, opencode]}}, input: {command: '^rm -rf'}"
    assert answer([flo], f"kind: shell, {agents}", "flo").result is PROVED
    assert (
        answer([flo], "tool: bash, fact: {tool.name: {exactly: bash}}, input: {command: '^rm -rf'}", "flo").result
        is PROVED
    )
    assert answer([flo], f"kind: shell, {agents.replace('^rm -rf', 'rm')}", "flo").result is REFUTED


def test_an_own_tool_that_flos_matcher_does_not_name_is_found():
    flo = '{"hooks": {"PreToolUse": [{"matcher": "^bash$", "action": "deny"}]}}'
    for own in ("", ", fact: {host.name: {exactly: [hookline, python]}}"):
        found = answer([flo], f"kind: shell{own}", "flo")
        assert found.result is REFUTED
        assert found.facts is not None
        assert found.facts["tool"]["name"] not in ("bash", "Bash")


def test_fires_that_are_only_counted_have_no_limit():
    gate = "{id: g, on: tool_start, condition: {type: tool_name, match: shell.*}, action: {type: gate, reason: no}}"
    book = load_text(f"runtime:\n  hooks:\n    - {gate}\n", "app.yaml", "digitorn")
    found = prove(book, parse_property("kind: shell, input: {command: x}"), Path("/project"), timedelta(minutes=1))
    assert found.result is PROVED


def test_unicode_and_case():
    hook = "{id: a, on: tool.before, when: {kind: shell, input: {command: '(?i)^straße'}}, then: {deny: no}}"
    assert answer([hook], "kind: shell, input: {command: '^STRAßE'}").result is PROVED
    found = answer([hook], "kind: shell, input: {command: '^STRASSE'}")
    assert found.result is REFUTED


def test_time_is_limited():
    book = load_text(f"hooks:\n  - {ENV}\n", "hookline.yaml", "native")
    found = prove(book, parse_property("kind: write"), Path("/"), timedelta(microseconds=1))
    assert found.result is UNPROVED
    assert "no answer within" in found.reasons[0]


def test_too_many_states_are_not_proved(monkeypatch):
    monkeypatch.setattr("hookline.prove.prover._MAX_LANGUAGES", 100)
    many = "input: {command: '(a|b|c|d|e){900}'}"
    guards = [
        f"{{id: many, on: tool.before, when: {{tool: bash, {many}}}, then: {{deny: no}}}}",
        f"{{id: others, on: tool.before, when: {{tool: bash, not: {{{many}}}}}, then: {{deny: no}}}}",
    ]
    found = answer(guards, "tool: bash, input: {command: '(a|b){1,500}x.*y'}")
    assert found.result is ProofResult.NOT_PROVED
    assert "the patterns together have too many states to search them all" in found.reasons

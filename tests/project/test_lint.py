import pytest

from hookline.config.problem import Severity
from hookline.hooks.hook import Hook
from hookline.project import load_text
from hookline.project.lint import lint_hooks


def hooks_of(*hooks: str, file: str = "hookline.yaml") -> tuple[Hook, ...]:
    book = load_text("hooks:\n" + "".join(f"  - {{{hook}}}\n" for hook in hooks), file)
    assert all(problem.severity is Severity.WARNING for problem in book.problems)
    return book.hooks


def lint_codes(*hooks: str) -> list[tuple[str, int]]:
    return [(problem.code, problem.line) for problem in lint_hooks(hooks_of(*hooks))]


def lint_texts(*hooks: str) -> str:
    return "\n".join(str(problem) for problem in lint_hooks(hooks_of(*hooks)))


@pytest.mark.parametrize(
    "hook",
    [
        "on: turn.end, then: {deny: no}",
        "on: turn.end, then: {deny: 'no {{turn.number}}'}",
        "on: tool.after, then: allow",
        "on: prompt.submit, then: {ask: sure?}",
        "on: session.end, then: {tell: bye}",
        "on: session.end, then: compact",
        "on: turn.end, then: {set: {prompt: x}}",
        "on: turn.end, then: [{deny: no}, allow]",
    ],
)
def test_an_answer_that_the_event_does_not_accept_never_acts(hook: str) -> None:
    assert lint_codes(f"id: x, {hook}") == [("never-acts", 2)]
    assert "x can never act" in lint_texts(f"id: x, {hook}")


@pytest.mark.parametrize(
    ("hook", "part"),
    [
        ("on: tool.after, then: {set: {result: x, input.path: y}}", "a change of tool.input.path"),
        ("on: turn.end, then: [{log: hi}, {deny: no}]", "deny"),
        ("on: turn.end, then: [{tell: hi}, {deny: no}]", "deny"),
        ("on: turn.end, then: {run: 'exit 1', reads: nonzero}, on_error: open", "deny"),
    ],
)
def test_a_part_that_the_event_does_not_accept_is_named(hook: str, part: str) -> None:
    assert lint_codes(f"id: x, {hook}") == [("never-acts", 2)]
    assert f"a part of x has no effect: {hook.split(',')[0][4:]} does not accept {part}." in lint_texts(
        f"id: x, {hook}"
    )


@pytest.mark.parametrize("then", ["{replace: {in: result, pattern: secret, with: x}}", "{run: lint}"])
def test_a_failure_that_should_stop_what_cannot_be_stopped_is_named(then: str) -> None:
    hook = "id: x, on: turn.end, then: {run: lint}, on_error"
    assert lint_codes(f"{hook}: ask") == [("never-acts", 2)]
    assert "the on_error of x has no effect: turn.end does not accept ask." in lint_texts(f"{hook}: ask")
    hook = f"id: x, on: tool.after, then: {then}, on_error"
    assert lint_codes(f"{hook}: closed") == []
    assert lint_codes(f"{hook}: open") == []
    assert lint_codes("id: x, on: tool.after, then: {run: lint, reads: nonzero}, on_error: closed") == []
    assert lint_codes("id: x, on: tool.after, then: deny, on_error: closed") == []
    assert lint_codes("on: tool.before, then: {run: lint}, on_error: closed") == []


@pytest.mark.parametrize(
    "hook",
    [
        "on: tool.before, then: {deny: no}",
        "on: tool.before, then: {ask: sure?}",
        "on: stop, then: {deny: go on}",
        "on: turn.end, then: {log: hi}",
        "on: turn.end, then: {set: {metadata.seen: true}}",
        "on: turn.end, then: {tell: hi}",
        "on: turn.end, then: {run: 'exit 0'}",
        "on: turn.end, then: {script: 'return null'}, on_error: open",
        "on: tool.after, then: {run: 'exit 2', reads: exit2}, on_error: open",
        "on: tool.after, when: {failed: true}, then: {set: {result: x}}",
        "on: tool.before, when: never, then: {deny: no}",
        "on: turn.end, enabled: false, then: {deny: no}",
        "on: prompt.submit, then: {run: 'cat', env: {TOOL: '{{tool.name}}'}}, on_error: open",
    ],
)
def test_what_can_act_is_not_criticised(hook: str) -> None:
    assert lint_texts(f"id: x, {hook}") == ""


@pytest.mark.parametrize(
    "hook",
    [
        "on: tool.before, when: {result: secret}, then: {deny: no}",
        "on: tool.before, when: {failed: true}, then: {deny: no}",
        "on: tool.before, when: {not: {fact: {tool.ok: true}}}, then: {deny: no}",
        "on: prompt.submit, when: {input: {path: x}}, then: {deny: no}",
        "on: prompt.submit, then: {log: 'tool {{tool.name}}'}",
        "on: prompt.submit, then: {run: 'echo {{tool.name}}'}, on_error: open",
        "on: prompt.submit, then: [{log: '{{tool.name}}'}]",
        "on: turn.end, when: {tool: bash, input: {command: rm}}, then: {log: x}",
    ],
)
def test_a_fact_that_the_event_never_has_is_named_once(hook: str) -> None:
    assert lint_codes(f"id: x, {hook}") == [("unknown-fact", 2)]
    assert "These events have it: tool." in lint_texts(f"id: x, {hook}")


@pytest.mark.parametrize(("fact", "meant"), [("tool.inputt.command", "tool.input"), ("agent.nmae", "agent.name")])
def test_a_guard_on_a_misspelled_fact_is_an_error(fact: str, meant: str) -> None:
    (found,) = lint_hooks(hooks_of(f"id: x, on: tool.before, when: {{fact: {{{fact}: a}}}}, then: {{deny: no}}"))
    assert (found.severity, found.hint) == (Severity.ERROR, f"Did you mean {meant}?")
    (found,) = lint_hooks(hooks_of(f"id: x, on: tool.before, when: {{fact: {{{fact}: a}}}}, then: {{log: a}}"))
    assert found.severity is Severity.WARNING


@pytest.mark.parametrize(
    "when",
    [
        "{any: []}",
        "{tool: bash, any: []}",
        "{not: {}}",
        "{not: {not: {any: []}}}",
        "{tool: bash, not: {tool: bash}}",
        "{all: [{tool: bash}, {tool: write_file}]}",
        "{tool: bash, kind: write}",
        "{tool: bash, all: [{any: [{tool: read_file}, {kind: edit}]}]}",
    ],
)
def test_a_condition_that_never_holds(when: str) -> None:
    (warning,) = lint_hooks(hooks_of(f"id: x, on: tool.before, when: {when}, then: {{log: x}}"))
    assert (warning.code, warning.severity) == ("never-true", Severity.WARNING)
    (error,) = load_text(f"hooks: [{{id: x, on: tool.before, when: {when}, then: deny}}]", "hookline.yaml").problems
    assert (error.code, error.severity) == ("never-true", Severity.ERROR)


@pytest.mark.parametrize(
    "when",
    [
        "{}",
        "{not: {any: []}}",
        "{any: [{tool: bash}]}",
        "[]",
        "{tool: bash, kind: shell}",
        "{all: [{tool: [bash, read_file]}, {kind: read}]}",
        "{tool: mcp.git.push, kind: shell}",
        "{tool: bash, not: {tool: write_file}}",
    ],
)
def test_a_condition_that_may_hold(when: str) -> None:
    assert lint_codes(f"id: x, on: tool.before, when: {when}, then: {{deny: no}}") == []


def test_a_hook_behind_an_unconditional_deny_is_never_asked() -> None:
    hooks = (
        "id: first, on: tool.before, when: {tool: bash}, then: {ask: sure?}",
        "id: wall, on: tool.before, then: {deny: no}",
        "id: later, on: tool.before, when: {tool: bash}, then: {log: hi}",
        "id: elsewhere, on: tool.after, then: {log: hi}",
    )
    assert lint_codes(*hooks) == [("shadowed", 4)]
    assert "later never runs: wall on line 3 denies every tool.before first." in lint_texts(*hooks)


@pytest.mark.parametrize(("then", "ends_all"), [("deny: no", False), ("halt: no", True)])
def test_a_deny_ends_its_own_group_only_and_a_halt_ends_all(then: str, ends_all: bool) -> None:
    wall = f"id: wall, on: tool.before, order: -10, then: {{{then}}}"
    guard = '{"hooks": {"PreToolUse": [{"matcher": "bash", "action": "deny"}]}}'
    hooks = (*hooks_of(wall), *load_text(guard, "hub.json").hooks)
    assert ("shadowed" in [problem.code for problem in lint_hooks(hooks)]) is ends_all
    same_dialect = (wall, "id: later, on: tool.before, group: audit, then: {log: hi}")
    assert (lint_codes(*same_dialect) == [("shadowed", 3)]) is ends_all


def test_the_order_in_which_they_are_asked_counts() -> None:
    wall = "id: wall, on: tool.before, order: 10, then: {deny: no}"
    later = "id: later, on: tool.before, when: {tool: bash}, then: {log: hi}"
    assert lint_codes(wall, later) == []
    assert lint_codes(wall.replace("10", "-10"), later) == [("shadowed", 3)]


def test_a_narrower_pattern_behind_a_wider_deny_is_never_asked() -> None:
    wide = "id: wide, on: tool.before, when: {tool: bash, input: {command: rm}}, then: {deny: no}"
    narrow = "id: narrow, on: tool.before, when: {input: {command: rm, cwd: /etc}, tool: bash}, then: {deny: no}"
    other = "id: other, on: tool.before, when: {tool: bash, input: {command: mv}}, then: {deny: no}"
    assert lint_codes(wide, narrow, other) == [("shadowed", 3)]
    assert lint_codes(narrow, wide, other) == []


@pytest.mark.parametrize(
    "wall",
    [
        "then: {deny: no}, max_fires: 1",
        "then: {deny: no}, cooldown: 1m",
        "then: {deny: no}, scope: {agent: reviewer}",
        "then: {deny: no}, enabled: false",
        "then: {deny: 'no {{tool.name}}'}",
        "then: {ask: sure?}",
        "when: {fact: {tool.input.x: [1]}}, then: {deny: no}",
    ],
)
def test_a_deny_that_may_let_something_through_throws_no_shadow(wall: str) -> None:
    assert lint_codes(f"id: wall, on: tool.before, {wall}", "id: later, on: tool.before, then: {log: hi}") == []


def test_a_deny_in_the_background_never_counts() -> None:
    later = "id: later, on: tool.before, then: {log: hi}"
    assert lint_codes("id: wall, on: tool.before, then: {deny: no}, background: true", later) == [("never-acts", 2)]


def test_a_deny_in_the_same_scope_throws_a_shadow() -> None:
    wall = "id: wall, on: tool.before, scope: {agent: reviewer}, then: {deny: no}"
    assert lint_codes(wall, "id: x, on: tool.before, scope: {agent: reviewer}, then: {log: hi}") == [("shadowed", 3)]
    assert lint_codes(wall, "id: x, on: tool.before, scope: {agent: writer}, then: {log: hi}") == []


@pytest.mark.parametrize("allow_first", [True, False])
def test_an_allow_and_a_deny_of_the_same_contradict_each_other(allow_first: bool) -> None:
    allow = "id: yes, on: tool.before, when: {tool: bash, input: {command: ls}}, then: allow"
    deny = "id: no, on: tool.before, when: {input: {command: ls}, tool: bash}, then: {deny: no}"
    hooks = (allow, deny) if allow_first else (deny, allow)
    assert lint_codes(*hooks) == [("contradicts", 2 if allow_first else 3)]
    assert "the allow of yes has no effect: no on line" in lint_texts(*hooks)


def test_an_exception_from_a_wider_allow_is_no_contradiction() -> None:
    allow = "id: yes, on: tool.before, when: {tool: bash}, then: allow"
    deny = "id: no, on: tool.before, when: {tool: bash, input: {command: rm}}, then: {deny: no}"
    assert lint_codes(allow, deny) == []


@pytest.mark.parametrize(
    ("tool", "native_name"),
    [
        ("Bash", "bash"),
        ("run_shell_command", "bash"),
        ("[Write, Edit]", "write_file"),
        ("filesystem.read", "read_file"),
    ],
)
def test_another_agents_name_for_a_tool_is_pointed_out(tool: str, native_name: str) -> None:
    hook = f"id: x, on: tool.before, when: {{tool: {tool}}}, then: {{deny: no}}"
    assert lint_codes(hook) == [("other-name", 2)]
    assert f"Use {native_name} to match" in lint_texts(hook)


@pytest.mark.parametrize(
    "tool", ["bash", "[bash, Bash]", "'edit_file|Edit'", "my_tool", "'*'", "'Ba*'", "mcp__x__Bash"]
)
def test_our_own_names_and_patterns_are_not(tool: str) -> None:
    assert lint_codes(f"id: x, on: tool.before, when: {{tool: {tool}}}, then: {{deny: no}}") == []


def test_a_hook_that_says_whose_names_it_uses_may_use_them() -> None:
    assert lint_codes("id: x, on: tool.before, names: claude_code, when: {tool: Bash}, then: {deny: no}") == []


def test_an_id_used_in_two_files_is_pointed_out_once() -> None:
    one = hooks_of("id: same, on: [tool.before, tool.after], then: {log: hi}", "on: stop, then: {log: bye}")
    other = hooks_of(
        "id: same, on: [tool.before, tool.after], then: {log: hi}",
        "on: stop, then: {log: bye}",
        file="sub/hookline.yaml",
    )
    problems = lint_hooks((*one, *other))
    assert [(problem.code, problem.file, problem.line) for problem in problems] == [
        ("duplicate-id", "sub/hookline.yaml", 2)
    ]
    assert "same in hookline.yaml:2" in problems[0].what


def test_everything_is_a_warning() -> None:
    problems = lint_hooks(
        hooks_of("on: turn.end, then: {deny: no}", "on: tool.before, when: {any: []}, then: {log: x}")
    )
    assert {problem.severity for problem in problems} == {Severity.WARNING}


def test_thousands_of_hooks_are_criticised_in_time() -> None:
    hooks = hooks_of(
        *(
            f"id: h{n}, on: tool.before, when: {{tool: t{n % 40}, input: {{path: d{n // 40}}}}}, then: {{deny: no}}"
            for n in range(2000)
        ),
        "id: last, on: tool.before, when: {tool: t3, input: {path: d7, content: x}}, then: {deny: no}",
    )
    assert [(problem.code, problem.line) for problem in lint_hooks(hooks)] == [("shadowed", 2002)]


@pytest.mark.parametrize(
    ("then", "what"),
    [
        ("{run: 'eval {{input.command}}'}", "text that eval may run as code"),
        ("{run: 'true', only_if: 'echo {{input.command}} | sh'}", "sh would run code from stdin"),
        ("[{run: '{{input.command}} --version'}]", "a placeholder in the program's name"),
        ("{run: [bash, -c, 'eval {{input.command}}']}", "text that eval may run as code"),
    ],
)
def test_shell_text_that_may_run_a_value_is_named(then: str, what: str) -> None:
    assert lint_codes(f"id: x, on: tool.before, then: {then}, on_error: closed") == [("value-as-code", 2)]
    assert what in lint_texts(f"id: x, on: tool.before, then: {then}, on_error: closed")


@pytest.mark.parametrize(
    "run",
    [
        "'ruff check -- {{input.path}}'",
        "'eval \"$X\"'",
        "[bash, -c, 'wc -l {{input.path}}']",
        "{literal: 'eval {{x}}'}",
    ],
)
def test_a_value_that_stays_data_is_not(run: str) -> None:
    assert lint_codes(f"id: x, on: tool.before, then: {{run: {run}}}, on_error: closed") == []


@pytest.mark.parametrize(
    ("then", "codes"),
    [
        ("{set: {input.command: 'cd {{input.dir}} && {{input.command}}'}}", [("value-as-code", 2)]),
        ("{set: {input.command: 'echo {{messages.-1.content}}'}}", [("value-as-code", 2)]),
        ("{set: {input.command: 'nice {{input.command}}'}}", []),
        ("{set: {input.command: 'cd {{workspace}} && make'}}", []),
        ("{set: {input.path: 'x/{{input.path}}'}}", []),
    ],
)
def test_a_value_that_set_puts_into_a_command_is_named(then: str, codes: list[tuple[str, int]]) -> None:
    assert lint_codes(f"id: x, on: tool.before, then: {then}, on_error: closed") == codes


def test_a_value_that_a_called_shell_runs_as_code_is_named() -> None:
    hook = "id: x, on: tool.before, then: {call: bash, with: {command: 'eval {{input.path}}'}}, on_error: closed"
    assert lint_codes(hook) == [("value-as-code", 2)]

"""Case files: loading them and running the cases."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.errors import ConfigError
from hookline.testing import find_case_files, load_cases, run_case

DENIES = "{hooks: [{id: a, on: tool.before, when: {tool: bash}, then: {deny: no}}]}"
CALL = "{name: PreToolUse, tool: {name: bash, input: {command: ls}}}"


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def result_of(path: Path, text: str):
    (case,) = load_cases(write(path / "case.yaml", text))
    return run_case(case)


def keys_of(result) -> list[str]:
    return [difference.key for _, difference in result.differences]


def expecting(expect: str, config: str = DENIES, event: str = CALL) -> str:
    return f"config: {config}\nevent: {event}\nexpect: {expect}\n"


def test_a_difference_says_what_was_expected_what_came_and_why(tmp_path):
    result = result_of(tmp_path, "note: it is allowed\n" + expecting("{verdict: allow, by: b}"))
    assert not result.ok
    report = str(result)
    assert "case.yaml:1  it is allowed" in report
    assert "  verdict\n    expected  allow\n    got       deny\n" in report
    assert "a (hookline.yaml:3): " in report


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("confg: {hooks: []}\n" + expecting("{halt: true}"), "unknown-key", 1),
        (expecting("{verdit: deny}"), "unknown-key", 3),
        (expecting("{verdict: denied}"), "unknown-word", 3),
        (expecting("{}"), "empty", 3),
        (expecting("{notes: [{to: agent}]}"), "unknown-key", 3),
        (expecting("{halt: 1}"), "wrong-type", 3),
        (expecting("{failures: [{kind: timed_out}]}"), "unknown-word", 3),
        (f"event: {CALL}\nexpect: {{halt: true}}\n", "no-config", 1),
        ("file: a.yaml\n" + expecting("{halt: true}"), "two-configs", 1),
        ("hooks: [{id: a, on: stop, then: {deny: x}}]\n", "no-cases", 1),
        (f"config: {DENIES}\nevent: {CALL}\n", "missing-key", 1),
        (f"config: {DENIES}\n", "no-event", 1),
        (f"config: {DENIES}\nexpect: {{verdict: deny}}\n", "unknown-key", 2),
        (expecting("{halt: true}", event="{name: PreToolUze}"), "unknown-event", 2),
        (expecting("{halt: true}", event="{tool: {}}"), "missing-key", 2),
        ("files: {../a: x}\n" + expecting("{halt: true}"), "bad-path", 1),
        ("files: {/etc/a: x}\n" + expecting("{halt: true}"), "bad-path", 1),
        ("tools: {t: {content: 1, error: x}}\n" + expecting("{halt: true}"), "no-answer", 1),
        ("dialect: nativ\n" + expecting("{halt: true}"), "unknown-word", 1),
        (f"config: {DENIES}\nsteps:\n  - {{event: stop, expect: {{halt: false}}, after: 1s}}\n", "unknown-key", 3),
        (f"config: {DENIES}\nsteps:\n  - {{event: stop, expect: {{halt: false}}, advance: 1}}\n", "wrong-type", 3),
        (f"config: {DENIES}\nevent: stop\nsteps: [{{event: stop, expect: {{halt: false}}}}]\n", "two-events", 2),
    ],
)
def test_what_is_wrong_in_a_case_file_is_a_problem_with_its_line(tmp_path, text, code, line):
    with pytest.raises(ConfigError) as error:
        load_cases(write(tmp_path / "case.yaml", text))
    assert (code, line) in [(problem.code, problem.line) for problem in error.value.problems]


def test_an_error_in_the_config_fails_a_case_that_does_not_expect_it(tmp_path):
    broken = "{hooks: [{id: a, on: nowhere, then: deny}]}"
    assert keys_of(result_of(tmp_path, expecting("{verdict: silent}", broken))) == ["problems"]
    assert result_of(tmp_path, expecting("{problems: [{code: unknown-event}]}", broken)).ok
    assert keys_of(result_of(tmp_path, expecting("{problems: [{code: unknown-key}]}", broken))) == ["problems"]
    assert keys_of(result_of(tmp_path, expecting("{problems: [{code: unknown-event}]}"))) == ["problems"]


def test_an_empty_list_of_problems_expects_no_warning_either(tmp_path):
    action = "{type: log, message: x}"
    warned = f"{{runtime: {{hooks: [{{id: x, on: turn_end, nope: 1, action: {action}}}]}}}}\ndialect: digitorn"
    assert result_of(tmp_path, expecting("{verdict: silent}", warned, "turn_end")).ok
    assert keys_of(result_of(tmp_path, expecting("{problems: []}", warned, "turn_end"))) == ["problems"]
    assert result_of(tmp_path, expecting("{problems: []}")).ok


def test_a_config_that_cannot_be_read_is_a_problem_too(tmp_path):
    assert result_of(tmp_path, "config: '{'\nexpect: {problems: [{severity: error}]}\n").ok
    assert result_of(tmp_path, "file: none.yaml\nexpect: {problems: [{code: no-file}]}\n").ok


def test_a_file_is_found_beside_the_case(tmp_path):
    write(tmp_path / "hooks.yaml", DENIES)
    assert result_of(tmp_path / "cases", f"file: ../hooks.yaml\nevent: {CALL}\nexpect: {{by: a}}\n").ok


def test_files_alone_are_a_project_with_a_home_of_its_own(tmp_path):
    text = (
        f"files: {{home/.config/hookline/hookline.yaml: '{DENIES}', hookline.yaml: '{DENIES.replace('id: a', 'id: b')}'}}\n"
        f"event: {CALL}\nexpect: {{asked: [a], facts: {{cwd: <scratch>, workspace: <scratch>}}}}\n"
    )
    assert result_of(tmp_path, text).ok


def test_a_scratch_directory_is_gone_afterwards(tmp_path):
    result = result_of(tmp_path, expecting("{verdict: deny}"))
    assert not Path(result.decisions[0].event.facts["cwd"]).exists()


def test_a_variable_may_name_the_scratch_directory(tmp_path):
    config = "{hooks: [{id: a, on: tool.before, then: {run: greet}, on_error: closed}]}"
    case = expecting("{verdict: deny, reason: hi (exit code 1)}", config)
    files = 'files: {bin/greet: "#!/bin/sh\\necho hi; exit 1"}\nenv: {PATH: "<scratch>/bin:/usr/bin:/bin"}\n'
    assert result_of(tmp_path, files + case).ok


def test_a_directory_holds_the_cases_of_its_files(tmp_path):
    write(tmp_path / "a.yaml", expecting("{verdict: deny}"))
    write(
        tmp_path / "b/c.yml",
        "cases:\n" + "".join(f"  - {{event: stop, config: {DENIES}, expect: {{halt: false}}}}\n" * 2),
    )
    assert [case.name for case in load_cases(tmp_path)] == ["a.yaml:1", "c.yml:2", "c.yml:3"]


def test_the_usual_places_are_looked_into(tmp_path):
    names = ["tests/hooks/a.yaml", "tests/hooks/b/c.yaml", "hooks_tests/d.yaml", ".hookline/tests/e.yaml"]
    for name in (*names, "tests/other.yaml", ".hookline/hooks.yaml"):
        write(tmp_path / name, "")
    assert {str(path.relative_to(tmp_path)) for path in find_case_files(tmp_path)} == set(names)

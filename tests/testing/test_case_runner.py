"""The tools that users test their hooks with."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from hookline.errors import ConfigError, HooklineError, UnavailableError
from hookline.hooks.event import Event
from hookline.hooks.host import Command, ToolResult
from hookline.testing import FakeClock, ScriptedHost, find_case_files, fire, hook_cases, load_cases, run_case
from hookline.testing.expectation import is_same, is_subset

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


EVERY_KEY = """\
config: |
  hooks:
    - {id: say, on: tool.before, when: {tool: bash}, then: {tell: hi}}
    - {id: set, on: tool.before, when: {tool: bash}, then: {set: {input.a: 1}, remove: [input.b]}}
    - {id: tool, on: tool.before, when: {tool: bash}, then: {call: other, with: {x: 1}}, on_error: open}
    - {id: shout, on: tool.before, when: {tool: bash}, then: {notify: {message: m, title: t}}, on_error: open}
    - {id: log, on: tool.before, when: {tool: bash}, then: {log: written}}
    - {id: file, on: tool.before, when: {tool: bash}, then: {run: 'echo "$NAME" > f', reads: never}, on_error: open}
    - {id: fails, on: tool.before, when: {tool: bash}, then: {call: missing}, on_error: open}
    - {id: short, on: tool.before, when: {tool: bash}, then: {compact: {keep_recent: 3}}}
    - {id: asks, on: tool.before, when: {tool: bash}, then: {ask: sure?}}
tools: {other: {content: 1}}
env: {NAME: value}
event: {name: tool.before, tool: {name: bash, input: {b: 2, c: 3}}}
expect:
"""
AS_IT_IS = {
    "verdict": ("ask", "deny"),
    "reason": ("sure?", "sure"),
    "reason_contains": ("[su, re]", "[su, no]"),
    "by": ("asks", "null"),
    "halt": ("false", "true"),
    "facts": ("{tool: {input: {a: 1, c: 3}}}", "{tool: {input: {a: true}}}"),
    "removed": ("[tool.input.b]", "[tool.input.b, tool.input.c]"),
    "notes": ("[{for: agent, text: hi}]", "0"),
    "notes_contain": ("h", "[h, x]"),
    "requests": ("[{keep_recent: 3}]", "[{keep_recent: 4}]"),
    "asked": ("[say, set, tool, shout, log, file, fails, short, asks]", "[say, set]"),
    "not_asked": ("[nobody]", "[say]"),
    "failures": ("[{hook: fails, kind: unavailable}]", "0"),
    "called": ("[{tool: other, input: {x: 1}}]", "[{tool: other, input: {x: 2}}]"),
    "published": ("[{message: m, title: t, hook: shout}]", "[{message: n}]"),
    "log_contains": ("'[log] written'", "unwritten"),
    "files": ('{f: "value\\n"}', "{f: value}"),
    "no_files": ("[g]", "[f]"),
}


@pytest.mark.parametrize("key", AS_IT_IS)
def test_each_key_holds_for_what_happened_and_only_for_that(tmp_path, key):
    true, false = AS_IT_IS[key]
    assert keys_of(result_of(tmp_path, f"{EVERY_KEY}  {key}: {true}\n")) == []
    assert keys_of(result_of(tmp_path, f"{EVERY_KEY}  {key}: {false}\n")) == [key]


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


def test_same_means_the_same_type_too():
    assert is_same({"a": [1, "x"]}, {"a": (1, "x")})
    assert not is_same(1, True)
    assert not is_same({"a": [1]}, {"a": [True]})
    assert is_subset({"a": {}}, {"a": {"b": 1}, "c": 2})
    assert not is_subset({"a": [1]}, {"a": [1, 2]})


def test_fire_takes_text_a_mapping_or_a_file(tmp_path):
    event = {"name": "PreToolUse", "tool": {"name": "Bash"}}
    config = {"hooks": [{"id": "a", "on": "tool.before", "when": {"tool": "bash"}, "then": {"deny": "no"}}]}
    for given in (DENIES, "hooks:\n  - {id: a, on: tool.before, when: {tool: bash}, then: {deny: no}}\n", config):
        assert fire(given, event).reason == "no"
    assert fire(write(tmp_path / "hooks.yaml", DENIES), Event("tool.before", {"tool": {"name": "bash"}})).by == "a"


def test_fire_refuses_a_config_with_an_error_and_an_event_that_is_none():
    with pytest.raises(ConfigError, match="there is no event"):
        fire("{hooks: [{id: a, on: nowhere, then: deny}]}", {"name": "stop"})
    with pytest.raises(HooklineError, match="there is no event 'nowhere'"):
        fire(DENIES, {"name": "nowhere"})


def test_fire_works_inside_of_a_running_loop():
    async def test() -> str:
        return fire(DENIES, {"name": "tool.before", "tool": {"name": "bash"}}).reason

    assert asyncio.run(test()) == "no"


def test_fire_asks_the_host_that_it_is_given():
    host = ScriptedHost({"other": ToolResult("found")})
    calls = "{hooks: [{id: a, on: stop, then: {call: other, with: {x: 1}, tell: always}, on_error: open}]}"
    assert [note.text for note in fire(calls, {"name": "stop"}, host=host).notes] == ["found"]
    assert [(call.tool, call.input) for call in host.called] == [("other", {"x": 1})]


def test_the_plugin_gives_tests_the_same_fire(hookline_fire):
    assert hookline_fire is fire


def test_a_clock_goes_only_as_far_as_it_is_turned():
    clock = FakeClock()
    before, wall = clock.now(), clock.wall()
    clock.advance(timedelta(minutes=1))
    assert (clock.now() - before, clock.wall() - wall) == (60, 60)


def test_the_model_says_what_was_scripted_and_then_nothing():
    async def test() -> list[str]:
        host = ScriptedHost(answers=["one", "two"])
        said = [await host.complete("a"), await host.complete("b")]
        with pytest.raises(UnavailableError):
            await host.complete("c")
        return said + host.prompts

    assert asyncio.run(test()) == ["one", "two", "a", "b"]


@pytest.mark.parametrize(
    ("inherit", "without", "seen"),
    [(True, (), "x"), (False, (), ""), (("NAME",), (), "x"), (("OTHER",), (), ""), (True, ("NAME",), "")],
)
def test_a_program_inherits_the_scripted_environment_as_it_would_ours(inherit, without, seen):
    command = Command('printf "%s" "$NAME"', inherit_env=inherit, without_env=without)
    finished = asyncio.run(ScriptedHost(env={"NAME": "x"}).run_program(command))
    assert finished.stdout == seen


def test_cases_become_pytest_tests_by_one_import(tmp_path):
    write(tmp_path / "hooks/good.yaml", expecting("{verdict: deny}"))
    write(tmp_path / "hooks/bad.yaml", expecting("{verdict: allow}"))
    write(tmp_path / "hooks/odd.yaml", expecting("{verdikt: allow}"))
    write(tmp_path / "test_it.py", "from hookline.testing import hook_cases\ntest_hooks = hook_cases('hooks')\n")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_it.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert "2 failed, 1 passed" in done.stdout
    assert "test_hooks[bad.yaml]" in done.stdout
    assert "expected  allow" in done.stdout
    assert "Did you mean verdict?" in done.stdout


def test_no_cases_are_no_tests(tmp_path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(HooklineError, match="there are no cases"):
        hook_cases(tmp_path / "empty")
    with pytest.raises(HooklineError, match="neither here nor beside"):
        hook_cases("there/is/no/such/place")


def test_the_plugin_imports_nothing_of_ours_at_start():
    source = "import sys, hookline.pytest_plugin; print([n for n in sys.modules if n.startswith('hookline.')])"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "['hookline.pytest_plugin']"

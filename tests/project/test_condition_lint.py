"""Conditions that cannot hold, or hold for something else than their author means."""

from __future__ import annotations

import json

import pytest

from hookline.config.problem import Problem, Severity
from hookline.project import load_text
from hookline.project.lint import lint_hooks

NEW_CODES = ("never-matches", "glob-or-regex", "unknown-tool", "unknown-field", "exact-command")


def lint(text: str, file: str, dialect: str) -> list[Problem]:
    return [each for each in lint_hooks(load_text(text, file, dialect).hooks) if each.code in NEW_CODES]


def lint_native(when: str) -> list[tuple[str, Severity, str]]:
    found = lint(f"hooks: [{{id: x, on: tool.before, when: {when}, then: deny}}]", "hookline.yaml", "native")
    return [(each.code, each.severity, each.hint) for each in found]


@pytest.mark.parametrize(
    ("when", "code", "severity", "hint"),
    [
        (r'{input: {command: "\brm"}}', "never-matches", Severity.ERROR, r"Use single quotes: '\brm'."),
        ("{input: {command: 'a^b'}}", "never-matches", Severity.ERROR, "Write \\^"),
        ("{input: {command: 'a$b'}}", "never-matches", Severity.ERROR, "Write \\^"),
        ("{prompt: 'x$y'}", "never-matches", Severity.ERROR, "Write \\^"),
        ("{any: [{input: {command: 'x^y'}}, {turn: 0}]}", "never-matches", Severity.ERROR, "Write \\^"),
        ("{input: {path: {glob: '{{workspace}}/**'}}}", "never-matches", Severity.ERROR, "write **."),
        ("{input: {path: {glob: '{{cwd}}/src/*.py'}}}", "never-matches", Severity.ERROR, "write src/*.py."),
        ("{input: {path: '{{workspace}}/src'}}", "never-matches", Severity.ERROR, "write ^src."),
        (r'{input: {path: "C:\temp"}}', "never-matches", Severity.ERROR, r"Use single quotes: 'C:\\temp'."),
        (r'{input: {path: {glob: "C:\new/**"}}}', "never-matches", Severity.ERROR, r"Use single quotes: 'C:\new/**'."),
        ("{input: {command: 'rm {{input.path}}'}}", "never-matches", Severity.WARNING, "Write the text itself."),
        ("{input: {command: {starts: git push}}}", "exact-command", Severity.WARNING, "Write command: 'git push', or"),
        ("{tool: '^Write$'}", "glob-or-regex", Severity.ERROR, "Write Write, or a regular expression as /^Write$/."),
        (r"{input: {path: {glob: '^src/.*\.py$'}}}", "glob-or-regex", Severity.WARNING, "Write matches:"),
        ("{input: {path: 'src/file*'}}", "glob-or-regex", Severity.WARNING, "Write src/file.* if"),
        ("{tool: 'write_file|edit_file.*'}", "glob-or-regex", Severity.WARNING, "Write write_file|edit_file*, or"),
        ("{input: {path: {glob: '$HOME/.ssh/**'}}}", "never-matches", Severity.ERROR, "Write glob: '~/.ssh/**'."),
        (r"{input: {path: '^~/\.ssh/'}}", "never-matches", Severity.WARNING, "Write glob: '~/.ssh/**'."),
        ("{input: {path: {begins: ~/.ssh/}}}", "never-matches", Severity.WARNING, "Write glob: '~/.ssh/**'."),
        ("{input: {command: {glob: '*rm*'}}}", "glob-or-regex", Severity.ERROR, "Write like: '*rm*'"),
        ("{tool: webFetch}", "unknown-tool", Severity.WARNING, "Did you mean WebFetch?"),
        ("{tool: raed_file}", "unknown-tool", Severity.ERROR, "Did you mean read_file?"),
        ("{tool: lint}", "unknown-tool", Severity.WARNING, "Did you mean List?"),
        ("{tool: web_searchs}", "unknown-tool", Severity.WARNING, "Did you mean web_search?"),
        ("{tool: BASH}", "unknown-tool", Severity.ERROR, "Did you mean bash?"),
        ("{tool: 'bash{2'}", "never-matches", Severity.ERROR, "Write the tool's name"),
        ("{tool: '[bash'}", "never-matches", Severity.ERROR, "Write the tool's name"),
        ("{tool: 'x^bash'}", "never-matches", Severity.ERROR, "Write the tool's name"),
        ('{tool: "bash\\u200b"}', "never-matches", Severity.ERROR, "Remove the line break or the character."),
        ('{input: {command: "rm\\n"}}', "never-matches", Severity.ERROR, "write |- instead of |"),
        ("{input: {command: 'rm(?!)'}}", "never-matches", Severity.ERROR, "Write \\^"),
        ("{tool: '/bash{2/'}", "never-matches", Severity.ERROR, "Write the tool's name"),
        ("{tool: '{{x}}'}", "never-matches", Severity.ERROR, "Write the text itself."),
        ("{input: {command: 1}}", "never-matches", Severity.ERROR, "in quotes"),
        ("{input: {command: false}}", "never-matches", Severity.ERROR, "in quotes"),
        ("{input: {commnd: x}}", "unknown-field", Severity.ERROR, "Did you mean command?"),
        ("{input: {Command: x}}", "unknown-field", Severity.ERROR, "Did you mean command?"),
        ("{tool: bsh}", "unknown-tool", Severity.ERROR, "Did you mean bash?"),
        ("{tool: [bash, wirte_file]}", "unknown-tool", Severity.ERROR, "Did you mean write_file?"),
        ("{kind: shell, input: {commnd: x}}", "unknown-field", Severity.ERROR, "Did you mean command?"),
        ("{input: {file_pth: x}}", "unknown-field", Severity.ERROR, "Did you mean file_path?"),
        ("{secrets: {in: input.contnet}}", "unknown-field", Severity.ERROR, "Did you mean content?"),
        (
            "{any: [{tool: bash}, {secrets: {in: [input.content, input.file_pth]}}]}",
            "unknown-field",
            Severity.ERROR,
            "Did you mean file_path?",
        ),
        ("{kind: shell, input: {path: x}}", "unknown-field", Severity.WARNING, "Its fields are command, cwd, timeout."),
        ("{tool: bash, input: {path: x}}", "unknown-field", Severity.WARNING, "Its fields are command, cwd, timeout."),
        ("{kind: [read, write], input: {pth: x}}", "unknown-field", Severity.ERROR, "Did you mean path?"),
        ("{tool: bash, not: {input: {comand: x}}}", "unknown-field", Severity.ERROR, "Did you mean command?"),
        (
            "{all: [{kind: shell}, {any: [{input: {cmmand: x}}]}]}",
            "unknown-field",
            Severity.ERROR,
            "Did you mean command?",
        ),
    ],
)
def test_a_condition_that_does_not_do_what_it_says(when: str, code: str, severity: Severity, hint: str) -> None:
    (found,) = lint_native(when)
    assert found[:2] == (code, severity)
    assert hint in found[2]


@pytest.mark.parametrize(
    "when",
    [
        r"{input: {command: '\brm\s+-rf'}}",
        "{tool: bash, input: {command: '^git push$'}}",
        "{tool: bash, input: {description: x}}",
        "{tool: bash, input: {cmd: x}}",
        "{kind: write, input: {path: '^src/'}}",
        "{kind: [shell, read], input: {path: x}}",
        "{tool: 'mcp*', input: {anything: x}}",
        "{tool: deploy, input: {stage: prod}}",
        "{tool: '[b]sh'}",
        "{input: {count: 3}}",
        "{tool: deploy, input: {context: x}}",
        r"{input: {command: 'rm(?! -i)'}}",
        "{tool: /^bash$/}",
        "{tool: 'write_*|edit_*'}",
        "{tool: 'mcp.github.*'}",
        "{input: {path: {glob: 'src/**/*.{py,pyi}'}}}",
        r"{input: {path: '(^|/)\.env$'}}",
        r"{input: {content: '\{\{name\}\}'}}",
        "{input: {path: {glob: '~/.ssh/**'}}}",
        "{input: {path: {glob: '{.env,.env.*,*.pem}'}}}",
        "{tool: PowerShell}",
        "{tool: send_message}",
        "{tool: task_list}",
        "{input: {path: '~$'}}",
    ],
)
def test_a_condition_that_does_what_it_says(when: str) -> None:
    assert lint_native(when) == []


def test_a_backslash_of_json_is_written_twice() -> None:
    rule = {"id": "x", "inputMatchers": {"command": "\brm"}, "action": "deny"}
    (found,) = lint(json.dumps({"hooks": {"PreToolUse": [rule]}}), "hub.json", "flo")
    assert found.hint == "In JSON, write the backslash twice: \\\\b."


def test_a_regular_expression_with_a_backslash_is_no_module() -> None:
    action = {"type": "gate"}
    hook = {
        "id": "x",
        "on": "tool_start",
        "condition": {"type": "tool_name", "match": r"filesystem\..*"},
        "action": action,
    }
    (found,) = lint(json.dumps({"runtime": {"hooks": [hook]}}), "digitorn.yaml", "digitorn")
    assert (found.severity, found.hint) == (Severity.ERROR, "Write filesystem.*.")


def test_where_names_are_compared_literally_the_hint_has_no_pattern() -> None:
    hook = {"matcher": "Bsh", "command": "exit 1", "continueOnFailure": False}
    (found,) = lint(json.dumps({"hooks": {"PreToolUse": [hook]}}), ".microai/settings.json", "microai")
    assert found.hint.endswith('write "matcher": "*" and "condition": "test $TOOL_NAME = Bsh".')


@pytest.mark.parametrize(
    ("matcher", "hint"),
    [
        ("write_*", "Write write_.* if * should match any text."),
        ("^bsh$", "Did you mean bash? If bsh is a tool of your own, write [b]sh."),
        ("Bash", "Did you mean bash?"),
        ("shell.run", "Did you mean bash?"),
        ("FileWriter", "Did you mean write_file?"),
    ],
)
def test_a_matcher_of_flo(matcher: str, hint: str) -> None:
    rule = {"id": "x", "matcher": matcher, "action": "deny"}
    (found,) = lint(json.dumps({"hooks": {"PreToolUse": [rule]}}), "hub.json", "flo")
    assert found.hint == hint


def test_a_field_of_flo_is_written_without_the_way_to_it() -> None:
    rule = {"id": "x", "matcher": "^bash$", "inputMatchers": {"input.command": "rm"}, "action": "deny"}
    (found,) = lint(json.dumps({"hooks": {"PreToolUse": [rule]}}), "hub.json", "flo")
    assert (found.severity, found.hint) == (Severity.ERROR, "Did you mean command?")


@pytest.mark.parametrize(
    "matcher",
    [
        *("BashExecutor ", " BashExecutor", "BashExecutor,FileWriter", "/BashExecutor/", "tool_name=BashExecutor"),
        *("BashExecutor | FileWriter", "BashExecutor(rm:*)", "BashExecutor(rm -rf *)"),
        *("^BashExecutor $", "^ BashExecutor$", "^(BashExecutor )$", "( BashExecutor|x)"),
    ],
)
def test_a_matcher_that_no_tool_s_name_matches_is_an_error(matcher: str) -> None:
    group = {"matcher": matcher, "hooks": [{"type": "command", "command": "exit 2"}]}
    (found,) = lint(json.dumps({"hooks": {"PreToolUse": [group]}}), ".ai_agents/settings.json", "ai_agents")
    assert (found.code, found.severity) == ("never-matches", Severity.ERROR)


@pytest.mark.parametrize("matcher", ["(^| )bash", "[^ ]bash", "my bash", "^(my bash|x)$", "bash[ _]run", "^my [a-z]+$"])
def test_a_name_may_have_spaces_inside(matcher: str) -> None:
    rule = {"id": "x", "matcher": matcher, "action": "deny"}
    assert lint(json.dumps({"hooks": {"PreToolUse": [rule]}}), "hub.json", "flo") == []


@pytest.mark.parametrize(
    ("written", "meant"),
    [("/rm -rf/", "rm -rf"), ("/rm\\s+-rf/i", "rm\\s+-rf"), ("/\\bsudo\\b/", "\\bsudo\\b")],
)
def test_the_slashes_of_javascript_are_no_part_of_a_pattern(written: str, meant: str) -> None:
    rule = {"id": "x", "matcher": "^bash$", "inputMatchers": {"command": written}, "action": "deny"}
    (found,) = lint(json.dumps({"hooks": {"PreToolUse": [rule]}}), "hub.json", "flo")
    assert (found.severity, found.hint) == (Severity.ERROR, f"Write '{meant}'.")


@pytest.mark.parametrize(
    "pattern", ["/etc/", "/[.]ssh/", "/(etc|usr)/", "/home/[^/]+/", "/bin/su", "/my dir/", "/tmp/x -f /y"]
)
def test_slashes_of_a_path_are_fine(pattern: str) -> None:
    rule = {"id": "x", "matcher": "^bash$", "inputMatchers": {"command": pattern}, "action": "deny"}
    assert lint(json.dumps({"hooks": {"PreToolUse": [rule]}}), "hub.json", "flo") == []


@pytest.mark.parametrize("field", ["tool.command", "toolInput.command", "toolParams.command"])
def test_the_way_to_a_field_is_no_part_of_its_name(field: str) -> None:
    rule = {"id": "x", "matcher": "^bash$", "inputMatchers": {field: "rm"}, "action": "deny"}
    (found,) = lint(json.dumps({"hooks": {"PreToolUse": [rule]}}), "hub.json", "flo")
    assert (found.severity, found.hint) == (Severity.ERROR, "Did you mean command?")


def test_a_rule_with_a_test_of_the_input_is_no_matcher() -> None:
    rule = {"id": "x", "matcher": "bash(rm:*)", "action": "deny"}
    (found,) = lint(json.dumps({"hooks": {"PreToolUse": [rule]}}), "hub.json", "flo")
    assert 'Write "matcher": "^bash$", and inputMatchers' in found.hint


def test_a_part_of_a_tool_s_name_is_no_typo_where_names_are_searched() -> None:
    rule = {"id": "x", "matcher": "write_", "action": "deny"}
    assert lint(json.dumps({"hooks": {"PreToolUse": [rule]}}), "hub.json", "flo") == []


def test_a_glob_in_ai_agents_is_a_regular_expression() -> None:
    group = {"matcher": "File*", "hooks": [{"type": "command", "command": "exit 0"}]}
    (found,) = lint(json.dumps({"hooks": {"PreToolUse": [group]}}), ".ai_agents/settings.json", "ai_agents")
    assert (found.code, found.hint) == ("glob-or-regex", "Write File.* if * should match any text.")


def test_a_regular_expression_in_digitorn_is_a_glob() -> None:
    text = "runtime: {hooks: [{id: x, on: tool_start, condition: {type: tool_name, match: '^Write$'}, action: {type: gate}}]}"
    (found,) = lint(text, "app.yaml", "digitorn")
    assert (found.code, found.hint) == ("glob-or-regex", "Write Write.")


@pytest.mark.parametrize("rule", ["Read(./.env.*)", "Edit(src/index.*)", "Read(./secrets/**)"])
def test_a_glob_for_any_suffix_is_no_regular_expression(rule: str) -> None:
    assert lint(json.dumps({"permissions": {"deny": [rule]}}), ".claude/settings.json", "claude_code") == []


def test_what_switches_a_guard_off_is_an_error_of_the_file() -> None:
    """So a session refuses to start, and not only `check` finds it."""
    for when in (
        "{tool: bsh}",
        "{input: {commnd: x}}",
        "{input: {command: 'a^b'}}",
        "{input: {command: []}}",
        "{any: []}",
    ):
        problems = load_text(f"hooks: [{{id: x, on: tool.before, when: {when}, then: deny}}]", "hookline.yaml").problems
        assert [problem.severity for problem in problems] == [Severity.ERROR], when


def test_a_warning_does_not_keep_a_session_from_starting() -> None:
    for when, then in (
        ("{tool: lint}", "deny"),
        ("{tool: bsh}", "{log: x}"),
        ("{tool: bash, input: {path: x}}", "deny"),
    ):
        text = f"hooks: [{{id: x, on: tool.before, when: {when}, then: {then}}}]"
        assert load_text(text, "hookline.yaml").problems == ()


def test_a_disabled_hook_has_no_errors() -> None:
    text = "hooks: [{id: x, on: tool.before, when: {tool: bsh}, then: deny, enabled: false}]"
    assert load_text(text, "hookline.yaml").problems == ()


@pytest.mark.parametrize("starts", ["git push *", "git push:*", "git push*", "*"])
def test_a_command_with_arguments_is_no_exact_command(starts: str) -> None:
    assert lint_native(f"{{input: {{command: {{starts: '{starts}'}}}}}}") == []


def test_an_allow_of_an_exact_command_is_fine() -> None:
    text = "hooks: [{id: x, on: tool.before, when: {input: {command: {starts: git status}}}, then: allow}]"
    assert lint(text, "hookline.yaml", "native") == []

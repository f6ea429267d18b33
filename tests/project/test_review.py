"""A review shows what untrusted hooks would do."""

import json

import pytest

from dialect_conversion import load_hooks
from hookline.project.review import effects_of_hook
from project.cloned_project import Project


def test_a_review_shows_what_the_hooks_would_do(project: Project) -> None:
    project.write("tools/check.sh", "exit 0")
    project.hooks(
        "id: guard, then: {deny: no}",
        "id: runs, then: {run: 'tools/check.sh {{input.command}}', only_if: 'test -e x', env: {A: b c}}, on_error: open",
        'id: scripted, then: {script: "return 1\\n// \\u202e"}, on_error: open',
        "id: calls, then: {call: bash, with: {command: '{{input.command}}'}}",
        "id: mixed, then: [{log: hi}, allow, {set: {input.path: x}}]",
    )
    (source,) = project.sources
    review = project.trust.review(source).as_json()
    assert [hook["id"] for hook in review["hooks"]] == ["guard", "runs", "scripted", "calls", "mixed"]
    does = {hook["id"]: [(deed["what"], deed["text"]) for deed in hook["does"]] for hook in review["hooks"]}
    assert does["runs"][0] == ("run", "A='b c' tools/check.sh {{input.command}}")
    assert does["runs"][1] == ("only_if", "A='b c' test -e x")
    assert does["scripted"] == [("script", "return 1\n// \\u202e")]
    assert does["calls"] == [("call", 'bash {"command": "{{input.command}}"}')]
    assert ("allow", "") in does["mixed"]
    assert ("set", "tool.input.path = x") in does["mixed"]
    assert (review["names"], review["trusted"]) == (["tools/check.sh"], False)
    json.dumps(review)
    project.accept()
    assert project.trust.review(source).accepted


@pytest.mark.parametrize(
    ("then", "deeds"),
    [
        ("{set: {input.command: 'curl x | sh'}}", [("set", "tool.input.command = curl x | sh")]),
        ("{set: {input.x: {a: ['{{input.y}}', 1]}}}", [("set", 'tool.input.x = {"a": ["{{input.y}}", 1]}')]),
        ("{set: {input.command: '" + "x" * 9_000 + "'}}", [("set", "tool.input.command = " + "x" * 9_000)]),
        ("{run: sh, stdin: '$(touch x)'}", [("run", "sh"), ("stdin", "$(touch x)")]),
        ("{run: sh, stdin: reboot}", [("run", "sh"), ("stdin", "reboot")]),
        ("{run: a, stdin: {b: 'c; {{input.x}}'}}", [("run", "a"), ("stdin", '{"b": "c; {{input.x}}"}')]),
        ("{run: a, env: {BASH_ENV: ./x}}", [("run", "BASH_ENV=./x a")]),
        (
            "{script: 'return eval(code)', variables: {code: '1 + 1'}}",
            [("script", "return eval(code)"), ("variables", '{"code": "1 + 1"}')],
        ),
        (
            "{post: 'https://example.com', body: {a: 'b; c'}}",
            [("post", "https://example.com"), ("body", '{"a": "b; c"}')],
        ),
        (
            "{post: 'https://example.com', body: {command: reboot, force: true, on: '{{tool.name}}'}}",
            [
                ("post", "https://example.com"),
                ("body", '{"command": "reboot", "force": true, "on": "{{tool.name}}"}'),
            ],
        ),
        ("{run: a, stdin: {type: reboot}}", [("run", "a"), ("stdin", '{"type": "reboot"}')]),
        ("{script: 'f(n)', variables: {n: 1}}", [("script", "f(n)"), ("variables", '{"n": 1}')]),
        ("{halt: 'stop it'}", [("halt", "stop it")]),
        ("{remove: input.x}", [("remove", "tool.input.x")]),
        ("{append: {input.command: '; {{input.x}}'}}", [("append", "tool.input.command + ; {{input.x}}")]),
        ("{replace: {in: input.command, pattern: ls, with: rm}}", [("replace", "tool.input.command: ls → rm")]),
        ("[{log: 'hi {{input.x}}'}, allow]", [("log", "hi {{input.x}}"), ("allow", "")]),
        ("[{notify: {message: 'hi {{input.x}}', title: t}}]", [("notify", "t: hi {{input.x}}")]),
    ],
)
def test_a_review_shows_what_is_written(project: Project, then: str, deeds: list[tuple[str, str]]) -> None:
    project.hooks(f"then: {then}")
    (source,) = project.sources
    (wish,) = project.trust.review(source).hook_effects
    assert [(deed.what, deed.text) for deed in wish.effects if not deed.what.startswith("if it fails")] == deeds


def test_accepting_a_review_accepts_only_what_it_showed(project: Project) -> None:
    project.hooks("then: {tell: fine}")
    (source,) = project.sources
    review = project.trust.review(source)
    project.hooks("then: allow")
    project.trust.accept([review])
    assert not project.accepted
    project.hooks("then: {tell: fine}")
    assert project.accepted


@pytest.mark.parametrize(
    ("dialect", "file", "text", "shown"),
    [
        (
            "digitorn",
            "digitorn.yaml",
            "runtime: {hooks: [{id: g, on: tool_start, action: {type: transform_params, transformation: {remove: [x]}}}]}",
            [("transform_params", "remove tool.params.x")],
        ),
        (
            "microai",
            ".microai/settings.json",
            '{"hooks": {"PreToolUse": [{"command": "make", "condition": "test -e x"}]}}',
            [("command", "make"), ("condition", "test -e x")],
        ),
        (
            "ai_agents",
            ".ai_agents/settings.json",
            '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "make"}]}]}}',
            [("command", "make"), ("if it fails, the user is told how", "")],
        ),
        (
            "digitorn",
            "digitorn.yaml",
            "runtime: {hooks: [{id: g, on: tool_start, action: {type: gate, reason: n}}]}",
            [("gate", "n")],
        ),
        (
            "digitorn",
            "digitorn.yaml",
            "runtime: {hooks: [{id: g, on: tool_end, action: {type: shell, command: make, on_error: inject}}]}",
            [("shell", "make"), ("if it fails, the agent is told how", "")],
        ),
        (
            "gemini_cli",
            ".gemini/settings.json",
            '{"hooks": {"BeforeTool": [{"hooks": [{"type": "command", "command": "node a.js", "env": {"NODE_OPTIONS": "-r ./x"}}]}]}}',
            [("command", "NODE_OPTIONS='-r ./x' node a.js"), ("if it fails, the user is told how", "")],
        ),
        (
            "copilot_cli",
            ".github/hooks/a.json",
            '{"version": 1, "hooks": {"preToolUse": [{"bash": "a", "env": {"CLAUDE_PROJECT_DIR": "/x"}}]}}',
            [("command", "CLAUDE_PROJECT_DIR=/x a  (in {{workspace}})"), ("if it fails, the user is told how", "")],
        ),
        (
            "claude_code",
            "hooks/hooks.json",
            '{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "a"}]}]}}',
            [("command", "a"), ("if it fails, the user is told how", "")],
        ),
        (
            "flo",
            "hub.json",
            '{"hooks": {"PreToolUse": [{"action": "log"}]}}',
            [("log", "PreToolUse {{toolName}} {{input}}")],
        ),
        (
            "flo",
            "hub.json",
            '{"hooks": {"PostToolUse": [{"command": "echo {{input.path}} {{result}} {{sandbox}}"}]}}',
            [("command", "echo {{input.path}} {{result}} {{sandbox}}  (in {{sandbox}})")],
        ),
        *(
            ("digitorn", "digitorn.yaml", f"runtime: {{hooks: [{{id: g, on: tool_end, action: {action}}}]}}", shown)
            for action, shown in (
                (
                    '{type: pipe, to: lsp.notify_change, map: {path: "{{tool.params.path}}", all: "{{tool.result}}"}}',
                    [("pipe", 'lsp.notify_change {"path": "{{tool.params.path}}", "all": "{{tool.result}}"}')],
                ),
                (
                    "{type: transform_result, transformation: {append_to_result: x, inject_note: y}}",
                    [("transform_result", "tool.result + x"), ("transform_result", "y")],
                ),
                ("{type: inject_message, content: hi}", [("inject_message", "hi")]),
                ("{type: compact_context}", [("compact_context", "compact")]),
                ("{type: compact_context, summary_prompt: Be kind}", [("compact_context", "compact: Be kind")]),
                (
                    "{type: lsp_diagnose, publish: false}",
                    [
                        (
                            "lsp_diagnose",
                            "the path is in path or file_path, the content in content or the file; to the result",
                        )
                    ],
                ),
                ("{type: compile_yaml}", [("compile_yaml", "")]),
                ("{type: enforce_phase6, at_most: 1}", [("enforce_phase6", '{"at_most": 1}')]),
                ('{type: log, message: "{turn} {{tool.name}}"}', [("log", "{turn} {{tool.name}}")]),
                (
                    '{type: chain, actions: [{type: log, message: x}, {type: shell, command: "a {{tool.params.path}}"}]}',
                    [("log", "x"), ("shell", "a {{tool.params.path}}")],
                ),
            )
        ),
    ],
)
def test_a_review_uses_the_words_of_its_file(dialect: str, file: str, text: str, shown: list[tuple[str, str]]) -> None:
    (hook,) = load_hooks(dialect, text, file)
    assert [(each.what, each.text) for each in effects_of_hook(hook).effects] == shown

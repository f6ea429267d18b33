"""flo: which files are its own, what its schema says, skills, and hooks written back."""

from __future__ import annotations

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from hookline.config.problem import Severity
from hookline.config.reader import read_text
from hookline.dialects.dialect import LoadResult, get_dialect, recognise_dialect
from hookline.dialects.flo import DIALECT
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.engine.limits import FireCounts
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook, Scope
from hookline.hooks.outcome import Verdict
from hookline.runners.local_host import LocalHost

CASES = Path(__file__).parents[2] / "cases" / "flo"


def load(value: Any, file: str = "hub.json") -> LoadResult:
    document, problems = read_text(value if isinstance(value, str) else json.dumps(value), file)
    assert document is not None, problems
    return DIALECT.load(document)


def build_config(*listed: dict[str, Any], event: str = "PreToolUse") -> dict[str, Any]:
    return {"hooks": {event: list(listed)}}


def problem_codes(value: Any) -> list[str]:
    return [problem.code for problem in load(value).problems]


def decide(hooks: tuple[Hook, ...], event: Event) -> Decision:
    return asyncio.run(Book([Layer("x", hooks)], LocalHost(FireCounts())).decide(event))


def bash_event(command: str, session: str = "s") -> Event:
    facts = {"tool": {"name": "bash", "kind": "shell", "input": {"command": command}}, "session": {"id": session}}
    return Event("tool.before", facts)


@pytest.mark.parametrize(
    ("file", "value"),
    [
        ("hub.json", build_config({"command": "true"})),
        ("hub.json", {"port": 1}),
        (".flo/hooks.json", build_config({"command": "true"})),
        ("x/.flo/hub.json", build_config()),
        ("rules.json", build_config({"action": "deny"})),
        ("rules.json", build_config({"command": "true", "continueOnError": True})),
        ("rules.json", build_config({"command": "true"}, event="AgentStart")),
        ("rules.json", {"matcher": "x", "action": "deny"}),
        ("SKILL.md", "---\nname: x\nhooks:\n  PreToolUse:\n    - {action: log}\n---\ntext"),
    ],
)
def test_its_files_are_recognised(file: str, value: Any) -> None:
    document, _ = read_text(value if isinstance(value, str) else json.dumps(value), file)
    assert document is not None
    found = recognise_dialect(document)
    assert getattr(found, "name", found) == "flo"


@pytest.mark.parametrize(
    ("file", "value"),
    [
        (".microai/settings.json", build_config({"command": "true"})),
        (".ai_agents/settings.json", build_config({"matcher": "*", "hooks": [{"type": "command", "command": "true"}]})),
        ("hookline.yaml", {"hooks": [{"on": "tool.before", "then": "deny"}]}),
        (".claude/settings.json", build_config({"hooks": [{"type": "command", "command": "true"}]}, event="Stop")),
    ],
)
def test_others_files_are_not(file: str, value: Any) -> None:
    document, _ = read_text(json.dumps(value), file)
    assert document is not None
    assert getattr(recognise_dialect(document), "name", "") != "flo"


def test_a_hook_knows_its_place_and_its_name() -> None:
    text = '{"hooks": {\n"PreToolUse": [\n{"action": "log"},\n{"id": "mine", "action": "log"},\n{"hooks": [\n{"action": "log"}]}]}}'
    hooks = load(text, "sub/hub.json").hooks
    assert [(hook.id, hook.origin.line) for hook in hooks] == [
        ("hub.json:PreToolUse[0]", 3),
        ("mine", 4),
        ("hub.json:PreToolUse[2].hooks[0]", 6),
    ]
    assert {hook.group for hook in hooks} == {"flo"}


def test_the_rest_of_a_list_survives_a_bad_entry() -> None:
    found = load(build_config({"id": "r", "hooks": [{"action": "log"}, {"action": "nope"}, {"command": "true"}]}))
    assert [hook.id for hook in found.hooks] == ["r.hooks[0]", "r.hooks[2]"]


@pytest.mark.parametrize(
    ("rule", "code"),
    [
        ({"action": "deny", "command": "true"}, "two-actions"),
        ({"action": "deny", "hooks": [{"action": "log"}]}, "two-actions"),
        ({"command": "true", "reason": "x"}, "two-actions"),
        ({"command": "true", "script": "x"}, "two-actions"),
        ({"action": "deny", "script": "x"}, "no-script"),
        ({"script": "x"}, "no-action"),
        ({"hooks": []}, "no-action"),
        ({"hooks": {}}, "wrong-type"),
        ({"hooks": [5]}, "wrong-type"),
        ({"hooks": [{"type": "command", "action": "log"}]}, "missing-key"),
        ({"hooks": [{"type": "shell", "command": "x"}]}, "unknown-word"),
        ({"hooks": [{"priority": 1, "command": "x"}]}, "unknown-key"),
        ({"action": "deny", "priority": "high"}, "wrong-type"),
        ({"action": "deny", "priority": 1.5}, "wrong-type"),
        ({"action": "deny", "enabled": "yes"}, "wrong-type"),
        ({"action": "deny", "continueOnError": 1}, "wrong-type"),
        ({"action": "deny", "id": ""}, "empty"),
        ({"action": "deny", "reason": 5}, "wrong-type"),
        ({"action": "deny", "matcher": ["bash"]}, "wrong-type"),
        ({"action": "deny", "inputMatchers": ["x"]}, "wrong-type"),
        ({"action": "deny", "inputMatchers": {"path": 5}}, "wrong-type"),
        ({"action": "Deny"}, "unknown-word"),
        ({"action": None}, "unknown-word"),
        ({"action": "script", "script": ""}, "empty"),
        ({"command": ""}, "empty"),
        ({"command": ["ls"]}, "wrong-type"),
        ({"command": "x", "timeout": 0}, "out-of-range"),
        ({"command": "x", "timeout": "5s"}, "wrong-type"),
        ({"command": "x", "timeout": True}, "wrong-type"),
        ({"command": "x", "timeout": 1e12}, "out-of-range"),
    ],
)
def test_what_is_refused_is_refused_by_the_schema_too(rule: dict[str, Any], code: str) -> None:
    value = build_config(rule, {"action": "deny"})
    found = load(value)
    assert code in [problem.code for problem in found.problems]
    assert len(found.hooks) == 1
    assert not _matches_schema(value)


@pytest.mark.parametrize(
    "value",
    [
        {"hooks": []},
        {"hooks": None},
        {"hooks": {"PreToolUse": {}}},
        {"hooks": {"PreToolUse": ["deny"]}},
        {"hooks": {"BeforeTool": []}},
        {"matcher": "x"},
        {"action": "deny", "port": 5},
        [],
        5,
    ],
)
def test_files_of_another_shape_are_refused_by_both(value: Any) -> None:
    assert any(problem.severity is Severity.ERROR for problem in load(value).problems)
    assert not _matches_schema(value)


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"port": 5},
        {"hooks": {}, "port": 5},
        build_config(),
        build_config({"action": "deny", "reason": ""}),
        build_config({"action": "log", "reason": "unused", "timeout": 5}),
        build_config(
            {"hooks": [{"action": "log"}, {"type": "command", "command": "true", "timeout": 1}], "enabled": False}
        ),
        build_config({"action": "script", "script": "return", "timeout": 0.5e3, "continueOnError": False}),
        build_config(
            {"matcher": "", "inputMatchers": {}, "priority": -5, "id": "x", "command": "true"}, event="AgentEnd"
        ),
        build_config({"action": "deny", "priority": 1.0}),
        {"matcher": "x", "hooks": [{"action": "deny"}]},
        {"command": "true"},
    ],
)
def test_what_loads_fits_the_schema(value: Any) -> None:
    assert [problem for problem in load(value).problems if problem.severity is Severity.ERROR] == []
    assert _matches_schema(value)


def test_every_good_case_fits_the_schema() -> None:
    checked = 0
    for path in CASES.glob("*.yaml"):
        written = yaml.safe_load(path.read_text())
        for case in written.get("cases", [written]):
            config = case.get("config")
            if isinstance(config, dict) and not _has_error(config):
                jsonschema.validate(config, DIALECT.schema())
                checked += 1
    assert checked > 50


def _has_error(config: Any) -> bool:
    return any(problem.severity is Severity.ERROR for problem in load(config).problems)


def _matches_schema(value: Any) -> bool:
    return bool(jsonschema.Draft202012Validator(DIALECT.schema()).is_valid(value))


def test_a_useless_key_is_a_warning() -> None:
    assert problem_codes(build_config({"action": "log", "reason": "x", "timeout": 5})) == ["unused", "unused"]


def test_hints_are_in_milliseconds() -> None:
    (problem,) = load(build_config({"command": "x", "timeout": "2m"})).problems
    assert problem.hint == "flo counts milliseconds; write 120000."


SKILL = """---
name: reviewer
description: reads code
allowedTools: [read_file, 'mcp.x+y']
hooks:
  PreToolUse:
    - {matcher: ^bash$, action: deny, reason: a reviewer runs nothing}
---
Read the code.
"""


def load_skill(text: str = SKILL, session: str = "s") -> LoadResult:
    document, problems = read_text(text, "skills/reviewer/SKILL.md")
    assert document is not None, problems
    return DIALECT.load_skill(document, session)


def test_a_skills_hooks_hold_for_its_session_only() -> None:
    found = load_skill()
    assert found.problems == ()
    assert {hook.scope for hook in found.hooks} == {Scope(session="s")}
    assert decide(found.hooks, bash_event("ls")).verdict is Verdict.DENY
    assert decide(found.hooks, bash_event("ls", session="other")).verdict is Verdict.SILENT


def test_allowed_tools_are_allowed_by_name_and_a_deny_beats_them() -> None:
    found = load_skill()

    def verdict_for(name: str, *more: Hook) -> Verdict:
        facts = {"tool": {"name": name, "input": {}}, "session": {"id": "s"}}
        return decide((*found.hooks, *more), Event("tool.before", facts)).verdict

    assert verdict_for("read_file") is Verdict.ALLOW
    assert verdict_for("mcp.x+y") is Verdict.ALLOW
    assert verdict_for("mcpzx+y") is Verdict.SILENT
    assert verdict_for("read_files") is Verdict.SILENT
    deny = load(build_config({"action": "deny", "priority": -5})).hooks
    assert verdict_for("read_file", *deny) is Verdict.DENY


def test_allowed_tools_mean_nothing_outside_of_a_skill() -> None:
    assert load({"allowedTools": ["bash"], **build_config()}).hooks == ()


def test_allowed_tools_that_are_no_names_are_a_problem() -> None:
    found = load_skill("---\nallowedTools: [1]\nhooks: {PreToolUse: [{action: log}]}\n---\n")
    assert [problem.code for problem in found.problems] == ["wrong-type"]
    assert len(found.hooks) == 1


def test_a_skill_joins_the_users_hooks_and_leaves_them_behind() -> None:
    own = Layer("user", load(build_config({"id": "own", "action": "log"})).hooks)
    book = Book([own], LocalHost(FireCounts()))
    joined = book.with_layer(Layer("skill", load_skill().hooks))
    assert asyncio.run(joined.decide(bash_event("ls"))).denied
    assert [hook.id for hook in joined.without_layer("skill").hooks] == ["own"]


def test_what_it_cannot_say_is_named() -> None:
    text = """
hooks:
  - {id: asks, on: tool.before, then: ask}
  - {id: kind, on: tool.before, when: {kind: shell}, then: deny}
  - {id: fact, on: tool.before, when: {fact: {cwd: x}}, then: deny}
  - {id: nested, on: tool.before, when: {input: {a.b: x}}, then: deny}
  - {id: limited, on: tool.before, max_fires: 1, then: deny}
  - {id: scoped, on: tool.before, scope: {agent: x}, then: deny}
  - {id: tagged, on: tool.before, tags: [x], then: deny}
  - {id: later, on: tool.after, background: true, then: {run: 'true'}, on_error: open}
  - {id: event, on: turn.end, then: {log: x}}
  - {id: said, on: tool.before, then: {log: x}}
  - {id: stdin, on: tool.before, then: {run: 'true'}, on_error: open}
  - {id: changes, on: tool.before, then: {set: {input.a: 1}}}
  - {id: theirs, on: tool.before, names: microai, when: {tool: Bash}, then: deny}
  - {id: script, on: tool.before, then: {script: return}, on_error: open}
  - {id: pattern, on: tool.before, when: {input: {a: '(?i)x'}}, then: deny}
"""
    document, _ = read_text(text, "hookline.yaml")
    assert document is not None
    hooks = get_dialect("native").load(document).hooks
    assert len(hooks) == 15
    written = DIALECT.write(hooks)
    assert written.value == {"hooks": {}}
    assert [line.split()[0] for line in written.not_expressible] == [hook.id for hook in hooks]


def test_native_hooks_that_it_can_say() -> None:
    text = r"""
hooks:
  - {id: name, on: tool.before, when: {tool: bash}, then: {deny: no}}
  - {id: names, on: tool.before, when: {tool: [bash, write_file]}, then: allow}
  - {id: glob, on: tool.before, when: {tool: 'mcp.*'}, then: deny}
  - {id: input, on: tool.before, order: 5, when: {input: {path: '\A/etc/.*\.(conf|d)\z', content: {contains: a+b}}}, then: deny}
  - {id: either, on: tool.before, when: {input: {command: ['rm\s', '^dd ']}}, then: deny}
"""
    document, _ = read_text(text, "hookline.yaml")
    assert document is not None
    written = DIALECT.write(get_dialect("native").load(document).hooks)
    assert written.not_expressible == ()
    assert written.value["hooks"]["PreToolUse"] == [
        {"id": "name", "matcher": "^(?:bash)$", "action": "deny", "reason": "no"},
        {"id": "names", "matcher": "^(?:bash|write_file)$", "action": "allow"},
        {"id": "glob", "matcher": r"^(?:mcp\.[\s\S]*)$", "action": "deny"},
        {
            "id": "input",
            "inputMatchers": {"path": r"^/etc/[^\n]*\.(conf|d)$", "content": r"a\+b"},
            "priority": -5,
            "action": "deny",
        },
        {"id": "either", "inputMatchers": {"command": r"(?:rm[\t\n\f\r ])|(?:^dd )"}, "action": "deny"},
    ]


def test_without_a_timeout_there_are_five_seconds() -> None:
    hooks = load(build_config({"command": "sleep 10"}, {"action": "script", "script": "return"})).hooks
    assert [hook.timeout for hook in hooks] == [timedelta(seconds=5)] * 2
    assert [getattr(hook.then, "timeout", None) for hook in hooks] == [timedelta(seconds=5)] * 2

"""flo: which files are its own, what its schema says, skills, and hooks written back."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from dialects.flo.flo_file import build_config, load
from hookline.config.reader import read_text
from hookline.dialects.conversion import LOST_GUESS
from hookline.dialects.dialect import LoadResult, get_dialect, recognise_dialect
from hookline.dialects.flo import DIALECT
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.engine.limits import FireCounts
from hookline.hooks.event import Event
from hookline.hooks.hook import Hook, Scope
from hookline.hooks.outcome import Verdict
from hookline.runners.local_host import LocalHost


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
    assert verdict_for("read_filez") is Verdict.SILENT
    deny = load(build_config({"action": "deny", "priority": -5})).hooks
    assert verdict_for("read_file", *deny) is Verdict.DENY


def test_allowed_tools_are_allowed_at_priority_1000() -> None:
    rules = [{"id": str(priority), "action": "log", "priority": priority} for priority in (999, 1000, 1001)]
    event = Event("tool.before", {"tool": {"name": "read_file", "input": {}}, "session": {"id": "s"}})
    decision = decide((*load_skill().hooks, *load(build_config(*rules)).hooks), event)
    assert [entry.hook.id for entry in decision.trace] == ["1001", "SKILL.md:allowedTools", "1000", "999"]


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
  - {id: later, on: tool.after, background: true, then: {run: 'true'}, on_error: open}
  - {id: event, on: turn.end, then: {log: x}}
  - {id: stdin, on: tool.before, then: {run: 'true'}, on_error: open}
  - {id: changes, on: tool.before, then: {set: {input.a: 1}}}
  - {id: theirs, on: tool.before, names: microai, when: {tool: Bash}, then: deny}
  - {id: script, on: tool.before, then: {script: return}, on_error: open}
  - {id: pattern, on: tool.before, when: {input: {a: '(?i)x'}}, then: deny}
"""
    document, _ = read_text(text, "hookline.yaml")
    assert document is not None
    hooks = get_dialect("native").load(document).hooks
    assert len(hooks) == 13
    written = DIALECT.write(hooks)
    assert written.value == {"hooks": {}}
    assert [line.split()[0] for line in written.not_expressible] == [hook.id for hook in hooks]


def test_native_hooks_that_it_can_say() -> None:
    text = r"""
hooks:
  - {id: name, on: tool.before, when: {tool: bash}, then: {deny: no}}
  - {id: names, on: tool.before, when: {tool: [bash, write_file]}, tags: [x], then: allow}
  - {id: glob, on: tool.before, when: {tool: 'mcp.*'}, then: deny}
  - {id: input, on: tool.before, order: 5, when: {input: {path: '\A/etc/.*\.(conf|d)\z', content: {contains: a+b}}}, then: deny}
  - {id: either, on: tool.before, when: {input: {command: ['rm\s', '^dd ']}}, then: deny}
"""
    document, _ = read_text(text, "hookline.yaml")
    assert document is not None
    written = DIALECT.write(get_dialect("native").load(document).hooks)
    remarks = [line.partition(": ")[2] for line in written.not_expressible]
    assert all(remark.endswith(("is also matched if it is not text", LOST_GUESS)) for remark in remarks)
    assert written.value["hooks"]["PreToolUse"] == [
        {"id": "name", "matcher": "^(?:bash)$", "action": "deny", "reason": "no"},
        {"id": "names", "matcher": "^(?:bash|write_file)$", "action": "allow", "tags": ["x"]},
        {"id": "glob", "matcher": r"^(?:mcp\.[\s\S]*)$", "action": "deny"},
        {
            "id": "input",
            "inputMatchers": {"path": r"^/etc/[^\n]*\.(conf|d)$", "content": r"a\+b"},
            "priority": -5,
            "action": "deny",
        },
        {"id": "either", "inputMatchers": {"command": r"(?:rm[\t\n\f\r ])|(?:^dd )"}, "action": "deny"},
    ]

"""An invalid part of a file disables what it may affect, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from hookline.config.document import KeyPath
from hookline.config.problem import Severity
from hookline.config.reader import read_text
from hookline.engine.book import Book
from hookline.errors import ConfigError
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.hook import Hook
from hookline.project import load_text
from hookline.runtime.session_hooks import StoredHooksFile, dump_session_hooks, load_session_hooks

RUN = {"type": "command", "command": "true"}


@dataclass(frozen=True)
class Sample:
    """A file, the path of each hook in it, and the single values that several hooks depend on."""

    dialect: str
    file: str
    value: dict[str, Any]
    hooks: tuple[KeyPath, ...]
    shared: Mapping[KeyPath, KeyPath] = field(default_factory=dict)
    """A single value → the path below which every hook depends on it."""
    only_hooks: bool = False

    def disabled_hooks(self, damaged: KeyPath) -> set[KeyPath]:
        """The hooks around the damaged part, inside it, and those that depend on it."""
        around = self.shared.get(damaged, damaged)
        return {path for path in self.hooks if path[: len(around)] == around or around[: len(path)] == path}

    def lines(self, hooks: Iterable[KeyPath]) -> set[int]:
        document, _ = read_text(dump_json(self.value), self.file)
        assert document is not None
        return {document.line(path) for path in hooks}


NATIVE = Sample(
    "native",
    "hookline.yaml",
    {
        "version": 1,
        "agents": {"a": {"b": 1}},
        "hooks": [
            {"id": "answer", "on": ["stop", "tool.before"], "when": {"tool": "bash", "input": {"a": "b"}}, "then": {"deny": "no"}},
            {"id": "set", "on": "tool.before", "then": {"set": {"tool.input": {"a": [{"b": 1}, 2.5, None]}}}},
            {"id": "call", "on": "tool.after", "then": {"call": "x", "with": {"hooks": [{"id": "y"}]}}, "on_error": "open"},
            {"id": "run", "on": "tool.after", "then": {"run": ["x"], "env": {"A": "b"}}, "timeout": "5s", "scope": {"agent": "a"}},
            {"id": "chain", "on": "tool.before", "then": {"chain": [{"tell": "a"}, {"deny": "b"}]}, "tags": ["a"], "enabled": True},
        ],
    },
    tuple(("hooks", index) for index in range(5)),
    {("version",): ("hooks",)},
    only_hooks=True,
)  # fmt: skip
DIGITORN = Sample(
    "digitorn",
    "app.yaml",
    {
        "app": {"name": "x"},
        "runtime": {
            "limits": {"turns": 5},
            "hooks": [
                {"id": "gate", "on": "tool_start", "condition": {"type": "all_of", "conditions": [{"type": "always"}]}, "action": {"type": "gate", "reason": "r"}},
                {"id": "set", "on": "tool_start", "action": {"type": "transform_params", "transformation": {"set": {"a": {"b": [1, {"c": None}]}}}}, "priority": 5},
                {"id": "call", "action": {"type": "module_action", "module": "m", "action": "a", "action_params": {"x": {"y": 1}}}, "tags": ["t"]},
            ],
        },
        "agents": [
            {"id": "one", "brain": {"model": "m"}, "hooks": [{"id": "of-one", "action": {"type": "log", "message": "x"}}]},
            {"id": "two", "hooks": [{"id": "of-two", "action": {"type": "log", "message": "x"}, "cooldown": 5}]},
        ],
    },
    (*(("runtime", "hooks", index) for index in range(3)), ("agents", 0, "hooks", 0), ("agents", 1, "hooks", 0)),
    {("agents", 0, "id"): ("agents", 0), ("agents", 1, "id"): ("agents", 1)},
)  # fmt: skip
FLO = Sample(
    "flo",
    "hub.json",
    {
        "agents": [{"model": "x"}],
        "hooks": {
            "PreToolUse": [
                {"id": "rule", "matcher": "^bash$", "inputMatchers": {"command": "rm"}, "action": "deny", "reason": "no", "priority": 5},
                {"id": "many", "matcher": "x", "hooks": [{"id": "first", "action": "deny"}, {"id": "second", "type": "command", "command": "true"}]},
            ],
            "Stop": [{"id": "stop", "action": "script", "script": "return 1", "timeout": 500}],
        },
    },
    (
        ("hooks", "PreToolUse", 0),
        ("hooks", "PreToolUse", 1, "hooks", 0),
        ("hooks", "PreToolUse", 1, "hooks", 1),
        ("hooks", "Stop", 0),
    ),
    {("hooks", "PreToolUse", 1, key): ("hooks", "PreToolUse", 1) for key in ("id", "matcher")},
)  # fmt: skip
MICROAI = Sample(
    "microai",
    ".microai/settings.json",
    {
        "theme": {"color": 1},
        "hooks": {
            "PreToolUse": [{"matcher": "Bash(git:*)", "command": "true"}, {"command": "a", "continueOnFailure": False}],
            "SessionStart": [{"command": "b", "timeout": 50, "condition": "true"}],
        },
    },
    (("hooks", "PreToolUse", 0), ("hooks", "PreToolUse", 1), ("hooks", "SessionStart", 0)),
)
GROUPS: dict[str, Any] = {
    "statusLine": {"allow": [{"a": 1}]},
    "hooks": {
        "PreToolUse": [{"matcher": "Bash", "hooks": [RUN, {**RUN, "timeout": 5}]}, {"hooks": [{**RUN, "command": "a"}]}],
        "UserPromptSubmit": [{"hooks": [{**RUN, "command": "b"}]}],
    },
}  # fmt: skip
OF_GROUPS: tuple[KeyPath, ...] = (
    ("hooks", "PreToolUse", 0, "hooks", 0),
    ("hooks", "PreToolUse", 0, "hooks", 1),
    ("hooks", "PreToolUse", 1, "hooks", 0),
    ("hooks", "UserPromptSubmit", 0, "hooks", 0),
)
MATCHED: Mapping[KeyPath, KeyPath] = {("hooks", "PreToolUse", 0, "matcher"): ("hooks", "PreToolUse", 0)}
AI_AGENTS = Sample("ai_agents", ".ai_agents/settings.json", GROUPS, OF_GROUPS, MATCHED)
CALL = {"type": "mcp_tool", "server": "s", "tool": "t", "input": {"a": [{"b": 1}]}}
CLAUDE_CODE = Sample(
    "claude_code",
    ".claude/settings.json",
    {**GROUPS, "hooks": {**GROUPS["hooks"], "Stop": [{"hooks": [CALL]}]}},
    (*OF_GROUPS, ("hooks", "Stop", 0, "hooks", 0)),
    MATCHED,
)
CODEX = Sample("codex", ".codex/hooks.json", {"hooks": GROUPS["hooks"]}, OF_GROUPS, MATCHED)
DROID = Sample("droid", ".factory/settings.json", GROUPS, OF_GROUPS, MATCHED)
OF_ENTRIES: tuple[KeyPath, ...] = (("hooks", "preToolUse", 0), ("hooks", "preToolUse", 1), ("hooks", "stop", 0))
ENTRIES: dict[str, Any] = {
    "hooks": {"preToolUse": [{"matcher": "x", "command": "a"}, {"command": "b"}], "stop": [{"command": "c"}]},
}
CURSOR = Sample("cursor", ".cursor/hooks.json", ENTRIES, OF_ENTRIES)
KIRO = Sample("kiro", ".kiro/agents/dev.json", {"mcpServers": {"x": {"y": [1]}}, **ENTRIES}, OF_ENTRIES)
SAMPLES = (NATIVE, DIGITORN, FLO, MICROAI, AI_AGENTS, CLAUDE_CODE, CODEX, DROID, CURSOR, KIRO)


def walk_values(value: Any, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Any]]:
    yield path, value
    steps = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, child in steps:
        yield from walk_values(child, (*path, step))


def dump_json(
    value: Any, *, too_large: KeyPath | None = None, duplicate: KeyPath | None = None, path: KeyPath = ()
) -> str:
    """JSON with a number that is too large at one path, or a duplicate first key at another.

    Each element of a list has its own line, whatever is damaged.
    """
    text = _dump_value(value, too_large, duplicate, path)
    return "1e999" + "\n" * text.count("\n") if path == too_large else text


def _dump_value(value: Any, too_large: KeyPath | None, duplicate: KeyPath | None, path: KeyPath) -> str:
    if isinstance(value, list):
        items = (
            dump_json(each, too_large=too_large, duplicate=duplicate, path=(*path, index))
            for index, each in enumerate(value)
        )
        return "[\n" + ",\n".join(items) + "]"
    if not isinstance(value, dict):
        return json.dumps(value)
    entries = [
        f"{json.dumps(key)}: {dump_json(each, too_large=too_large, duplicate=duplicate, path=(*path, key))}"
        for key, each in value.items()
    ]
    return "{" + ", ".join([f'"{next(iter(value))}": 0', *entries] if path == duplicate else entries) + "}"


def active_hooks(hooks: Iterable[Hook]) -> list[Hook]:
    """Those that still act. A hook that holds what it would have seen does not."""
    return [hook for hook in hooks if not isinstance(hook.then, (HoldCall, InvalidAction))]


def hook_lines(book: Book) -> set[int]:
    return {hook.origin.line for hook in active_hooks(book.hooks)}


def error_codes(book: Book) -> list[str]:
    return [problem.code for problem in book.problems if problem.severity is Severity.ERROR]


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.dialect for sample in SAMPLES])
def test_every_hook_of_the_sample_loads(sample: Sample) -> None:
    book = load_text(dump_json(sample.value), sample.file, sample.dialect)
    assert error_codes(book) == []
    assert hook_lines(book) == sample.lines(sample.hooks)


@pytest.mark.parametrize("kind", ["too_large", "duplicate"])
@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.dialect for sample in SAMPLES])
def test_damage_disables_what_it_may_affect(sample: Sample, kind: str) -> None:
    code = "number-too-large" if kind == "too_large" else "duplicate-key"
    for path, value in walk_values(sample.value):
        if not path or (kind == "duplicate" and not (isinstance(value, dict) and value)):
            continue
        disabled = sample.disabled_hooks(path)
        text = dump_json(sample.value, **{kind: path})
        for dialect in (sample.dialect, None):
            book = load_text(text, sample.file, dialect)
            assert hook_lines(book) == sample.lines(set(sample.hooks) - disabled), path
            assert error_codes(book) == ([code] if disabled or sample.only_hooks else []), path
            assert [problem.code for problem in book.problems].count(code) == 1, path


@pytest.mark.parametrize("sample", SAMPLES, ids=[sample.dialect for sample in SAMPLES])
def test_a_duplicate_top_level_key_disables_the_whole_file(sample: Sample) -> None:
    with pytest.raises(ConfigError, match="Duplicate key"):
        load_text(dump_json(sample.value, duplicate=()), sample.file, sample.dialect)


def test_a_stored_session_keeps_its_other_hooks() -> None:
    text = dump_json(FLO.value, too_large=("hooks", "Stop", 0, "timeout"))
    loaded = load_session_hooks(dump_session_hooks([StoredHooksFile("flo", "hub.json", text)]))
    assert {hook.id for hook in active_hooks(loaded.hooks)} == {"rule", "first", "second"}
    assert [problem.code for problem in loaded.problems] == ["number-too-large"]


def test_a_damaged_file_is_still_recognised_by_its_shape() -> None:
    book = load_text(dump_json({"hooks": FLO.value["hooks"]}, duplicate=("hooks", "PreToolUse", 0)), "rules.json")
    assert {hook.id for hook in active_hooks(book.hooks)} == {"first", "second", "stop"}

"""From any format to any other, through native: what is said decides the same, and what is not said is named."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from converting import decisions, loaded
from hookline.dialects.retongue import in_words_of
from hookline.dialects.table import dialect
from hookline.hooks.hook import Hook

FILES: dict[str, tuple[str, Any]] = {
    "native": (
        "hookline.json",
        {
            "hooks": [
                {
                    "id": "no-rm",
                    "on": "tool.before",
                    "when": {"tool": "bash", "input": {"command": r"rm\s+-rf"}},
                    "then": {"deny": "no"},
                },
                {
                    "id": "blocks",
                    "on": "tool.before",
                    "when": {"tool": "bash"},
                    "then": {"run": "exit 0", "reads": "exit2"},
                    "on_error": "open",
                },
            ]
        },
    ),
    "flo": (
        "hub.json",
        {
            "hooks": {
                "PreToolUse": [
                    {"matcher": "^bash$", "inputMatchers": {"command": "rm -rf"}, "action": "deny", "reason": "no"},
                    {"matcher": "^(write_file|bash)$", "action": "deny", "reason": "never"},
                    {"matcher": "^bash$", "command": "echo seen >&2; exit 3", "priority": -5},
                ]
            }
        },
    ),
    "microai": (
        "settings.json",
        {
            "hooks": {
                "PreToolUse": [
                    {"matcher": "Bash(rm:*)", "command": "echo no >&2; exit 1", "continueOnFailure": False},
                    {"matcher": "Bash", "command": "exit 1"},
                ]
            }
        },
    ),
    "ai_agents": (
        "settings.json",
        {
            "hooks": {
                "PreToolUse": [
                    {"matcher": "BashExecutor", "hooks": [{"type": "command", "command": "echo no >&2; exit 2"}]}
                ]
            }
        },
    ),
    "digitorn": (
        "digitorn.json",
        {
            "runtime": {
                "hooks": [
                    {
                        "id": "gate",
                        "on": "tool_start",
                        "condition": {"type": "tool_name", "match": "Bash"},
                        "action": {"type": "gate", "reason": "no"},
                    },
                    {"id": "note", "on": "tool_end", "action": {"type": "log", "message": "{turn}"}},
                ]
            }
        },
    ),
}
EVENTS: list[tuple[str, dict[str, Any]]] = [
    ("tool.before", {"tool": {"name": "bash", "input": {"command": "rm -rf build"}}}),
    ("tool.before", {"tool": {"name": "Bash", "input": {"command": "ls"}}}),
    ("tool.before", {"tool": {"name": "read_file", "input": {"path": "a"}}}),
    ("tool.after", {"tool": {"name": "bash", "input": {"command": "ls"}, "result": "x", "ok": True}}),
]


def _through_native(hooks: tuple[Hook, ...]) -> tuple[Hook, ...]:
    said = dialect("native").write(hooks)
    assert said.unsaid == ()
    return loaded("native", said.value, "hookline.json")


@pytest.mark.parametrize(("source", "target"), list(permutations(FILES, 2)))
def test_what_is_said_decides_the_same_and_the_rest_is_named(source: str, target: str, tmp_path: Path) -> None:
    file, value = FILES[source]
    hooks = _through_native(loaded(source, value, file))
    kept, named = [], []
    for hook in hooks:
        said = dialect(target).write(in_words_of(target, [hook]))
        if said.unsaid:
            named.append((hook.id, said.unsaid))
            continue
        kept.append(hook)
        back = loaded(target, said.value, FILES[target][0])
        assert decisions(back, EVENTS, tmp_path) == decisions([hook], EVENTS, tmp_path)
    assert len(kept) + len(named) == len(hooks)
    for id, unsaid in named:
        assert any(id in text for text in unsaid)
    together = dialect(target).write(in_words_of(target, kept))
    assert together.unsaid == ()
    again = loaded(target, together.value, FILES[target][0])
    assert decisions(again, EVENTS, tmp_path) == decisions(kept, EVENTS, tmp_path)


def test_something_can_be_said_between_the_formats() -> None:
    """Were everything unsaid, the test above would hold of nothing."""
    said = {
        (source, target)
        for source, target in permutations(FILES, 2)
        for hook in _through_native(loaded(source, FILES[source][1], FILES[source][0]))
        if not dialect(target).write(in_words_of(target, [hook])).unsaid
    }
    assert {("flo", "native"), ("flo", "digitorn"), ("digitorn", "flo"), ("native", "flo")} <= said

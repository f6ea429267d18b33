"""From any dialect to any other, through native: what is written decides the same, and the rest is listed."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from dialect_conversion import decision_summaries, load_hooks
from hookline.dialects.conversion import ADDED_GUESS, LOST_GUESS, with_vocabulary
from hookline.dialects.dialect import WriteResult, get_dialect
from hookline.hooks.hook import Hook

FILES: dict[str, tuple[str, Any]] = {
    "native": (
        "hookline.json",
        {
            "hooks": [
                {
                    "id": "no-rm",
                    "on": "tool.before",
                    "when": {"tool": "bash", "input": {"command": {"matches": r"rm\s+-rf", "only_text": True}}},
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
    "hook_interchange": (
        "hooks.json",
        {
            "spec": "hooks/0.1",
            "hooks": [
                {
                    "event": "before_tool_execute",
                    "matcher": "shell",
                    "handler": {"type": "command", "command": "echo no >&2; exit 2"},
                    "blocking": True,
                }
            ],
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
    written = get_dialect("native").write(hooks)
    assert written.not_expressible == ()
    return load_hooks("native", written.value, "hookline.json")


def _losses(written: WriteResult) -> list[str]:
    """Without the one about tools that no table knows, which EVENTS do not have."""
    return [line for line in written.not_expressible if not line.endswith((LOST_GUESS, ADDED_GUESS))]


@pytest.mark.parametrize(("source", "target"), list(permutations(FILES, 2)))
def test_what_is_said_decides_the_same_and_the_rest_is_named(source: str, target: str, tmp_path: Path) -> None:
    file, value = FILES[source]
    hooks = _through_native(load_hooks(source, value, file))
    kept, skipped = [], []
    for hook in hooks:
        written = get_dialect(target).write(with_vocabulary(target, [hook]))
        if lines := _losses(written):
            skipped.append((hook.id, lines))
            continue
        kept.append(hook)
        back = load_hooks(target, written.value, FILES[target][0])
        assert decision_summaries(back, EVENTS, tmp_path) == decision_summaries([hook], EVENTS, tmp_path)
    assert len(kept) + len(skipped) == len(hooks)
    for id, lines in skipped:
        assert any(id in text for text in lines)
    if not kept:
        return
    together = get_dialect(target).write(with_vocabulary(target, kept))
    assert _losses(together) == []
    again = load_hooks(target, together.value, FILES[target][0])
    assert decision_summaries(again, EVENTS, tmp_path) == decision_summaries(kept, EVENTS, tmp_path)


def test_something_can_be_said_between_the_formats() -> None:
    """If nothing could be expressed, the test above would check nothing."""
    converted = {
        (source, target)
        for source, target in permutations(FILES, 2)
        for hook in _through_native(load_hooks(source, FILES[source][1], FILES[source][0]))
        if not _losses(get_dialect(target).write(with_vocabulary(target, [hook])))
    }
    assert {("flo", "native"), ("flo", "digitorn"), ("digitorn", "flo"), ("native", "flo")} <= converted


def test_that_flo_takes_no_guess_about_own_tools_is_named() -> None:
    hook = {"id": "a", "on": "tool.before", "when": {"tool": "bash"}, "then": {"deny": "no"}}
    others = [
        {**hook, "id": "b", "then": "allow"},
        {**hook, "id": "c", "names": "flo"},
        {**hook, "id": "d", "when": {"tool": "frob"}},
    ]
    hooks = load_hooks("native", {"hooks": [hook, *others]}, "hookline.json")
    for given in (hooks, list(with_vocabulary("flo", hooks))):
        assert get_dialect("flo").write(given).not_expressible == (f"a (hookline.json:1): {LOST_GUESS}",)


def test_a_field_that_is_not_text_is_named_for_flo() -> None:
    value = {"hooks": [{"id": "a", "on": "tool.before", "when": {"input": {"x": "5"}}, "then": "deny"}]}
    written = get_dialect("flo").write(with_vocabulary("flo", load_hooks("native", value, "hookline.json")))
    assert written.value["hooks"]["PreToolUse"][0]["inputMatchers"] == {"x": "5"}
    assert written.not_expressible == ("a (hookline.json:1): that input.x is also matched if it is not text",)


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("flo", {"hooks": {"PreToolUse": [{"id": "a", "matcher": "^Bash$", "action": "deny"}]}}),
        ("native", {"hooks": [{"id": "a", "on": "tool.before", "when": {"tool": "Bash"}, "then": "deny"}]}),
    ],
)
def test_a_name_that_is_another_tool_there_is_not_taken_over(source: str, value: Any) -> None:
    hooks = load_hooks(source, value, FILES[source][0])
    assert get_dialect("digitorn").write(with_vocabulary("digitorn", hooks)).not_expressible

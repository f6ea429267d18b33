"""From the Hook Interchange Format and back: what is written decides the same, and each loss is listed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from dialect_conversion import decision_summaries, load_hooks, round_trip_native, write_hooks
from hookline.config.problem import Problem
from hookline.config.reader import read_text
from hookline.dialects.conversion import with_vocabulary
from hookline.dialects.dialect import get_dialect, recognise_dialect

DENIES = "echo no >&2; exit 2"
MATCHERS: tuple[Any, ...] = (
    None, "shell", "file_edit", "agent", "deploy", {"pattern": "^deploy_"}, {"mcp": {"server": "github"}},
    {"mcp": {"server": "github", "tool": "create_issue"}}, ["shell", "file_write"], ["search", {"pattern": "^x"}],
)  # fmt: skip
TOOLS: tuple[dict[str, Any], ...] = (
    {"name": "Bash", "input": {"command": "ls"}},
    {"name": "write_file", "input": {"path": "a"}},
    {"name": "Edit", "input": {"file_path": "a"}},
    {"name": "mcp__github__create_issue", "input": {}},
    {"name": "deploy_prod", "input": {}},
    {"name": "deploy", "input": {}},
)
EVENTS = [("tool.before", {"tool": tool}) for tool in TOOLS]


def manifest(**hook: Any) -> dict[str, Any]:
    return {"spec": "hooks/0.1", "hooks": [{"event": "before_tool_execute", **hook}]}


def command(text: str = DENIES, **more: Any) -> dict[str, Any]:
    return {"type": "command", "command": text, **more}


def losses(value: dict[str, Any], to: str) -> tuple[Any, tuple[str, ...]]:
    hooks = load_hooks("hook_interchange", value, "hooks.json")
    written = get_dialect(to).write(with_vocabulary(to, hooks))
    return written.value, written.not_expressible


@pytest.mark.parametrize("matcher", MATCHERS, ids=str)
@pytest.mark.parametrize("blocking", [True, False])
def test_a_manifest_survives_the_native_format(matcher: Any, blocking: bool, tmp_path: Path) -> None:
    value = manifest(name="a", handler=command(), **({"blocking": True} if blocking else {}))
    if matcher is not None:
        value["hooks"][0]["matcher"] = matcher
    hooks = load_hooks("hook_interchange", value, "hooks.json")
    native = round_trip_native(hooks)
    assert decision_summaries(native, EVENTS, tmp_path) == decision_summaries(hooks, EVENTS, tmp_path)
    assert write_hooks("hook_interchange", hooks) == value
    assert write_hooks("hook_interchange", native) == value


def test_every_key_of_a_program_is_written_back() -> None:
    handler = command("./check.sh --strict", cwd="tools", env={"A": "b {{x}}"}, timeout=5, timeout_action="block")
    value = manifest(name="a", handler=handler, blocking=True)
    assert write_hooks("hook_interchange", load_hooks("hook_interchange", value, "hooks.json")) == value


@pytest.mark.parametrize(
    "event", ["session_start", "before_prompt", "agent_stop", "after_tool_execute", "tool_use_failure"]
)
def test_every_event_is_written_back(event: str) -> None:
    value = manifest(handler=command("true", **{"async": True}), event=event)
    assert write_hooks("hook_interchange", load_hooks("hook_interchange", value, "hooks.json")) == value


def test_other_handlers_are_written_back() -> None:
    value = manifest(handler={"type": "http", "url": "https://a.example/", "headers": {"X": "y"}})
    value["hooks"].append({"event": "before_prompt", "handler": {"type": "prompt", "prompt": "ok?"}, "blocking": True})
    assert write_hooks("hook_interchange", load_hooks("hook_interchange", value, "hooks.json")) == value


@pytest.mark.parametrize("type_", ["prompt", "agent"])
@pytest.mark.parametrize("event", ["before_tool_execute", "before_prompt", "agent_stop"])
def test_questions_for_a_model_are_claude_codes(type_: str, event: str) -> None:
    value = manifest(event=event, handler={"type": type_, "prompt": "ok?"}, blocking=True)
    hooks = load_hooks("hook_interchange", value, "hooks.json")
    assert write_hooks("hook_interchange", hooks) == value
    assert write_hooks("hook_interchange", round_trip_native(hooks)) == value
    written = write_hooks("claude_code", hooks)
    ((entry,),) = written["hooks"].values()
    assert (entry["hooks"][0]["type"], entry["hooks"][0]["prompt"]) == (type_, "ok?")
    (own,), (from_claude,) = hooks, load_hooks("claude_code", written, ".claude/settings.json")
    assert (own.then, own.on_error) == (from_claude.then, from_claude.on_error)


@pytest.mark.parametrize("to", ["native", "claude_code", "hook_interchange"])
def test_keys_for_other_tools_are_listed_as_lost(to: str) -> None:
    handler = command("./check.sh", platform={"windows": "./check.ps1"}, status_message="Checking")
    value = manifest(name="a", handler=handler, blocking=True, provider_data={"cursor": {"x": 1}})
    _, lost = losses(value, to)
    assert {line.rpartition(": ")[2] for line in lost} >= {"provider_data", "platform", "status_message"}
    _, without = losses(manifest(name="a", handler=command("./check.sh"), blocking=True), to)
    assert len(lost) == len(without) + 3


@pytest.mark.parametrize("to", ["native", "claude_code"])
def test_strategies_stay_in_a_manifest_and_are_listed_as_lost_elsewhere(to: str) -> None:
    given = {"input_rewrite": "warn", "custom_env": "warn"}  # the second is the default
    value = manifest(name="a", handler=command(), blocking=True, degradation=given)
    written, lost = losses(value, "hook_interchange")
    assert (written["hooks"][0]["degradation"], lost) == ({"input_rewrite": "warn"}, ())
    assert "a (hooks.json:1): degradation" in losses(value, to)[1]


def test_a_script_is_named_from_where_the_manifest_is_seen() -> None:
    hooks = load_hooks("hook_interchange", manifest(handler=command("./check.sh -x")), "hooks/safety/hook.json")
    written = write_hooks("hook_interchange", hooks)
    assert written["hooks"][0]["handler"]["command"] == "hooks/safety/check.sh -x"


def test_claude_codes_hooks_become_a_manifest() -> None:
    settings = {
        "hooks": {
            "PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "./audit.sh", "timeout": 10}]}],
            "SessionStart": [{"hooks": [{"type": "command", "command": "./init.sh", "timeout": 30}]}],
        }
    }
    written = get_dialect("hook_interchange").write(load_hooks("claude_code", settings, ".claude/settings.json"))
    assert written.value == {
        "spec": "hooks/0.1",
        "hooks": [
            {
                "event": "before_tool_execute",
                "matcher": "shell",
                "handler": command("./audit.sh", timeout=10),
                "blocking": True,
            },
            {"event": "session_start", "handler": command("./init.sh")},
        ],
    }
    assert all("JSON answers" in line or "variables" in line for line in written.not_expressible)


def test_what_claude_code_lacks_is_left_out_and_listed() -> None:
    value = manifest(matcher="shell", handler=command("./check.sh", env={"A": "b"}, cwd="."), blocking=True)
    written, lost = losses(value, "claude_code")
    assert written["hooks"]["PreToolUse"][0]["hooks"][0]["command"] == "./check.sh"
    assert [line.rpartition(" (")[2] for line in lost] == [
        "custom_env: warn)",
        "configurable_cwd: warn)",
        "structured_output: warn)",
    ]


def test_a_hook_that_rewrites_the_input_blocks_where_it_cannot() -> None:
    value = manifest(handler=command("./sanitize.sh"), blocking=True, degradation={"input_rewrite": "block"})
    written, lost = losses(value, "claude_code")
    assert written["hooks"]["PreToolUse"][0]["hooks"][0]["command"].endswith("exit 2")
    assert any("input_rewrite: block" in line for line in lost)


@pytest.mark.parametrize("capability", ["input_rewrite", "structured_output", "custom_env"])
def test_an_excluded_hook_is_not_written(capability: str) -> None:
    value = manifest(handler=command("./a.sh", env={"A": "b"}), blocking=True, degradation={capability: "exclude"})
    written, lost = losses(value, "claude_code")
    assert written["hooks"] == {}
    assert lost


def test_a_timeout_that_blocks_is_not_lost_silently() -> None:
    value = manifest(handler=command("./a.sh", timeout_action="block"), blocking=True)
    assert losses(value, "claude_code") == (
        {"hooks": {}},
        ("hooks.json:hooks[0] (hooks.json:1): that a timeout blocks",),
    )


def test_native_answers_have_no_program() -> None:
    rule = {"hooks": [{"id": "no", "on": "tool.before", "then": {"deny": "no"}}]}
    written = get_dialect("hook_interchange").write(load_hooks("native", rule, "hookline.json"))
    assert written.value["hooks"] == []
    assert written.not_expressible == ("no (hookline.json:1): an answer of its own (deny)",)


@pytest.mark.parametrize(
    ("file", "text", "matcher"),
    [
        (".codex/hooks.json", '{"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [HOOK]}]}}', "shell"),
        (".gemini/settings.json", '{"hooks": {"BeforeTool": [{"matcher": "run_shell_command", "hooks": [HOOK]}]}}', "shell"),
        (".factory/settings.json", '{"hooks": {"PreToolUse": [{"matcher": "Execute", "hooks": [HOOK]}]}}', "shell"),
        (".qwen/settings.json", '{"hooks": {"PreToolUse": [{"matcher": "run_shell_command", "hooks": [HOOK]}]}}', "shell"),
        (".kiro/hooks/a.json", '{"hooks": [{"name": "a", "trigger": "PreToolUse", "matcher": "shell", "action": HOOK}]}', "shell"),
        (".gemini/settings.json", '{"hooks": {"BeforeTool": [{"matcher": "run_.*", "hooks": [HOOK]}]}}', None),
        (".github/hooks/a.json", '{"hooks": {"preToolUse": [HOOK]}}', None),
    ],
)  # fmt: skip
def test_commands_of_coding_agents(file: str, text: str, matcher: str | None) -> None:
    """Those whose exit code 2 alone blocks. In Copilot CLI every other one does too."""
    document, _ = read_text(text.replace("HOOK", '{"type": "command", "command": "./check.sh"}'), file)
    assert document is not None
    dialect = recognise_dialect(document)
    assert not isinstance(dialect, Problem)
    hooks = dialect.load(document).hooks
    written = get_dialect("hook_interchange").write(with_vocabulary("hook_interchange", hooks))
    assert [each["matcher"] for each in written.value["hooks"]] == ([] if matcher is None else [matcher])
    assert all(each["blocking"] for each in written.value["hooks"])

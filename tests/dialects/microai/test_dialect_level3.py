"""What the format demands of an adapter of level 3, point by point."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from dialect_conversion import load_hooks
from hookline.engine.book import Book, Layer
from hookline.hooks.event import Event
from hookline.hooks.events import canonical_event
from hookline.hooks.outcome import FailureKind, Verdict
from hookline.hooks.session_facts import SessionInfo, session_facts
from hookline.testing import ScriptedHost, fire

TYPES = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "SessionStart", "SessionEnd")
BASH: dict[str, Any] = {"name": "Bash", "input": {"command": "ls"}}


def build_config(event: str, *entries: Mapping[str, Any]) -> dict[str, Any]:
    return {"hooks": {event: list(entries)}}


def build_event(name: str, directory: Path) -> Event:
    given: dict[str, Any] = {"tool": {**BASH, "result": "ok"}} if "Tool" in name else {"prompt": "hi"}
    canon = canonical_event(name)
    assert canon is not None
    return Event(canon, session_facts(canon, given, SessionInfo("s1", "me", directory, 0.0)))


class TestParseHooksConfiguration:
    @pytest.mark.parametrize("name", TYPES)
    def test_all_hook_types_are_parsed(self, name: str) -> None:
        (hook,) = load_hooks("microai", build_config(name, {"command": "true"}))
        assert hook.event == canonical_event(name)

    def test_there_are_no_other_types(self) -> None:
        value = {"hooks": {name: [{"command": "true"}] for name in TYPES}}
        assert len(load_hooks("microai", value)) == len(TYPES)

    def test_entries_are_validated(self) -> None:
        """Each key is checked; see the cases for lines and hints."""
        with pytest.raises(AssertionError, match="wrong-type"):
            load_hooks("microai", build_config("PreToolUse", {"command": "true", "timeout": "soon"}))


class TestExecuteHooksAtAppropriateTimes:
    @pytest.mark.parametrize("name", TYPES)
    def test_a_hook_runs_at_its_event_and_at_no_other(self, name: str, tmp_path: Path) -> None:
        book = Book([Layer("x", load_hooks("microai", build_config(name, {"command": "echo x >> ran"})))])

        async def all_events() -> None:
            host = ScriptedHost()
            for each in TYPES:
                await host.settle(await book.decide(build_event(each, tmp_path), host))

        asyncio.run(all_events())
        assert (tmp_path / "ran").read_text() == "x\n"

    def test_pre_tool_use_comes_before_the_tool(self, tmp_path: Path) -> None:
        """The decision is there only when the hook has ended."""
        decided = fire(
            build_config("PreToolUse", {"command": "sleep 0.2; echo done > ran"}),
            {"name": "PreToolUse", "cwd": str(tmp_path), "tool": BASH},
            dialect="microai",
        )
        assert decided.verdict is Verdict.SILENT
        assert (tmp_path / "ran").exists()

    def test_post_tool_use_keeps_nobody_waiting(self, tmp_path: Path) -> None:
        book = Book(
            [Layer("x", load_hooks("microai", build_config("PostToolUse", {"command": "sleep 0.5; echo done > ran"})))]
        )

        async def decide() -> tuple[bool, bool]:
            host = ScriptedHost()
            decision = await book.decide(build_event("PostToolUse", tmp_path), host)
            at_once = (tmp_path / "ran").exists()
            await host.settle(decision)
            return at_once, (tmp_path / "ran").exists()

        assert asyncio.run(decide()) == (False, True)


class TestProvideVariableSubstitution:
    VARIABLES = (
        ("PreToolUse", {"TOOL_NAME": "Bash", "INPUT": '{"command":"ls"}'}),
        ("PostToolUse", {"TOOL_NAME": "Bash", "INPUT": '{"command":"ls"}', "OUTPUT": '"ok"'}),
        ("UserPromptSubmit", {"PROMPT": "hi", "USER_NAME": "me"}),
        ("SessionStart", {"PLATFORM": "hookline"}),
        ("SessionEnd", {"PLATFORM": "hookline"}),
    )

    @pytest.mark.parametrize(("name", "expected"), VARIABLES, ids=[name for name, _ in VARIABLES])
    def test_all_documented_variables_are_there(self, name: str, expected: dict[str, str], tmp_path: Path) -> None:
        known = {**expected, "SESSION_ID": "s1", "TIMESTAMP": "1970-01-01T00:00:00Z"}
        if name.startswith("Session"):
            known["PROJECT_ROOT"] = str(tmp_path)
        say = "; ".join(f'printf "%s\\n" "{each}=${each}"' for each in sorted(known))
        book = Book([Layer("x", load_hooks("microai", build_config(name, {"command": f"({say}) > seen"})))])

        async def decide() -> None:
            host = ScriptedHost()
            await host.settle(await book.decide(build_event(name, tmp_path), host))

        asyncio.run(decide())
        assert (tmp_path / "seen").read_text().splitlines() == [f"{key}={known[key]}" for key in sorted(known)]

    @pytest.mark.parametrize(
        "prompt",
        ["it's", 'say "x"', "$(echo pwned > pwned)", "`echo pwned > pwned`", "a; echo pwned > pwned", "a\nb", "\\n", "$$ $HOME", "é 😀", "{{prompt}}", "-n", ""],
    )  # fmt: skip
    def test_special_characters_arrive_as_they_are(self, prompt: str, tmp_path: Path) -> None:
        fire(
            build_config("UserPromptSubmit", {"command": 'printf %s "$PROMPT" > seen'}),
            {"name": "UserPromptSubmit", "cwd": str(tmp_path), "prompt": prompt},
            dialect="microai",
        )
        assert (tmp_path / "seen").read_text() == prompt
        assert not (tmp_path / "pwned").exists()


class TestImplementTimeoutHandling:
    @pytest.mark.timing
    def test_the_configured_timeout_is_respected(self) -> None:
        began = time.monotonic()
        decided = fire(
            build_config("PreToolUse", {"command": "sleep 30", "timeout": 200, "continueOnFailure": False}),
            {"name": "PreToolUse", "tool": BASH},
            dialect="microai",
        )
        assert time.monotonic() - began < 10
        assert decided.verdict is Verdict.DENY
        assert [failure.kind for failure in decided.failures] == [FailureKind.TIMEOUT]

    def test_a_hung_hook_is_killed_with_all_its_children(self, tmp_path: Path) -> None:
        hang = "trap '' TERM; sh -c 'trap \"\" TERM; echo $$ >> pids; sleep 30' & echo $$ >> pids; sleep 30"
        fire(
            build_config("PreToolUse", {"command": hang, "timeout": 400}),
            {"name": "PreToolUse", "cwd": str(tmp_path), "tool": BASH},
            dialect="microai",
        )
        pids = [int(each) for each in (tmp_path / "pids").read_text().split()]
        assert len(pids) == 2
        assert not any(is_alive(pid) for pid in pids)


class TestSupportBlockingBehavior:
    def test_pre_tool_use_can_block(self) -> None:
        decided = fire(
            build_config("PreToolUse", {"command": "echo no >&2; exit 1", "continueOnFailure": False}),
            {"name": "PreToolUse", "tool": BASH},
            dialect="microai",
        )
        assert (decided.verdict, decided.reason) == (Verdict.DENY, "Hook blocked: no")

    @pytest.mark.parametrize("flag", [{}, {"continueOnFailure": True}])
    def test_continue_on_failure_is_respected(self, flag: dict[str, bool]) -> None:
        decided = fire(
            build_config("PreToolUse", {"command": "exit 1", **flag}),
            {"name": "PreToolUse", "tool": BASH},
            dialect="microai",
        )
        assert decided.verdict is Verdict.SILENT
        assert [failure.kind for failure in decided.failures] == [FailureKind.EXIT]

    @pytest.mark.parametrize("name", TYPES[1:])
    def test_no_other_type_blocks(self, name: str, tmp_path: Path) -> None:
        book = Book(
            [Layer("x", load_hooks("microai", build_config(name, {"command": "exit 1", "continueOnFailure": False})))]
        )

        async def decide() -> Verdict:
            host = ScriptedHost()
            decision = await book.decide(build_event(name, tmp_path), host)
            await host.settle(decision)
            return decision.verdict

        assert asyncio.run(decide()) is Verdict.SILENT


def is_alive(pid: int) -> bool:
    """A killed process may still wait to be collected; that is no life."""
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        try:
            os.kill(pid, 0)
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return False
        except (ProcessLookupError, FileNotFoundError):
            return False
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    return True

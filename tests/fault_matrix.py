"""Runs every fault with every kind of hook and describes what happens to the event.

`python -m tests.fault_matrix` writes docs/faults.md.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.events import canonical_event
from hookline.hooks.outcome import Audience, Verdict
from hookline.hooks.session_facts import SessionInfo, session_facts
from hookline.project import load_text
from hookline.testing import ScriptedHost

PAGE: Final = Path(__file__).parents[1] / "docs" / "faults.md"
AT_ONCE: Final = 3

Config = Callable[[str, float], Any]  # the command or script, and its seconds → a file of the dialect


@dataclass(frozen=True, slots=True)
class Fault:
    name: str
    text: str  # shell, or JavaScript
    seconds: float = 20.0  # that the hook has: few only where it takes them all
    nowhere: bool = False  # the session's directory does not exist


@dataclass(frozen=True, slots=True)
class HookKind:
    """A kind of hook: one column."""

    name: str
    event: str
    config: Config


PROGRAMS: Final = (
    Fault("exit code 1", "echo words >&2; exit 1"),
    Fault("exit code 2", "echo words >&2; exit 2"),
    Fault("does not finish in time", "sleep 30", 0.3),
    Fault("ignores SIGTERM and does not finish", "trap '' TERM; sleep 30", 0.3),
    Fault("cannot start", "true", nowhere=True),
    Fault("command not found", "no-such-program-anywhere"),
    Fault("killed by a signal", "kill -9 $$"),
    Fault("answers with an unknown decision", """echo '{"decision": "perhaps"}'"""),
    Fault("answers with truncated JSON", """echo '{"decision": "deny'"""),
    Fault("writes 20 MB of text", "head -c 20000000 /dev/zero | tr '\\0' x"),
    Fault("writes an answer of 20 MB", """printf '{"decision": "deny", "reason": "'; head -c 20000000 /dev/zero | tr '\\0' x; printf '"}'"""),
    Fault("writes bytes that are not UTF-8", "printf '\\377\\376'"),
    Fault("leaves a child in the background", "sleep 30 & exit 0"),
    Fault("does not read its stdin", "exec 0<&-; exit 0"),
)  # fmt: skip
SCRIPTS: Final = (
    Fault("throws", "throw new Error('words')"),
    Fault("does not finish in time", "while (true) {}", 0.3),
    Fault("waits for a promise that never settles", "await new Promise(() => {})", 0.3),
    Fault("has a syntax error", "return {"),
    Fault("exhausts its memory", "const a = []; for (;;) a.push(new ArrayBuffer(1 << 24))"),
    Fault("returns text", "return 'deny'"),
    Fault("returns an unknown decision", "return {decision: 'perhaps'}"),
    Fault("returns a value that is not data", "return () => 1"),
    Fault("calls a missing tool", "await callTool('no_such_tool', {})"),
)


def _native(event: str, on_error: str, **more: Any) -> Config:
    return lambda text, seconds: {
        "hooks": [
            {"id": "h", "on": event, "then": {"run": text, **more}, "timeout": f"{seconds}s", "on_error": on_error}
        ]
    }


def _native_script(on_error: str) -> Config:
    return lambda text, seconds: {
        "hooks": [
            {"id": "h", "on": "tool.before", "then": {"script": text}, "timeout": f"{seconds}s", "on_error": on_error}
        ]
    }


def _microai(event: str, **more: Any) -> Config:
    return lambda text, seconds: {"hooks": {event: [{"command": text, "timeout": seconds * 1000, **more}]}}


def _ai_agents(event: str) -> Config:
    return lambda text, seconds: {
        "hooks": {event: [{"hooks": [{"type": "command", "command": text, "timeout": seconds}]}]}
    }


def _flo(event: str, **more: Any) -> Config:
    return lambda text, seconds: {"hooks": {event: [{"command": text, "timeout": int(seconds * 1000), **more}]}}


def _flo_script(**more: Any) -> Config:
    return lambda text, seconds: {
        "hooks": {"PreToolUse": [{"action": "script", "script": text, "timeout": int(seconds * 1000), **more}]}
    }


def _digitorn(on_error: str) -> Config:
    return lambda text, seconds: {
        "runtime": {"hooks": [{"id": "h", "on": "tool_end", "action": _shell_action(text, seconds, on_error)}]}
    }


def _shell_action(text: str, seconds: float, on_error: str) -> dict[str, Any]:
    return {"type": "shell", "command": text, "timeout": seconds, "on_error": on_error}


TABLES: Final[Mapping[tuple[str, str], tuple[HookKind, ...]]] = {
    ("native", "programs"): (
        HookKind("before a tool, `on_error: closed`", "tool.before", _native("tool.before", "closed")),
        HookKind("before a tool, `on_error: open`", "tool.before", _native("tool.before", "open")),
        HookKind("`reads: json`, `on_error: closed`", "tool.before", _native("tool.before", "closed", reads="json")),
        HookKind("after a tool, `tell: agent`", "tool.after", _native("tool.after", "tell", tell="agent")),
    ),
    ("native", "scripts"): (
        HookKind("before a tool, `on_error: closed`", "tool.before", _native_script("closed")),
        HookKind("before a tool, `on_error: open`", "tool.before", _native_script("open")),
    ),
    ("ai_agents", "programs"): (
        HookKind("`PreToolUse`", "PreToolUse", _ai_agents("PreToolUse")),
        HookKind("`PostToolUse`", "PostToolUse", _ai_agents("PostToolUse")),
        HookKind("`UserPromptSubmit`", "UserPromptSubmit", _ai_agents("UserPromptSubmit")),
    ),
    ("digitorn", "programs"): (
        HookKind("`shell`, `on_error: ignore`", "tool_end", _digitorn("ignore")),
        HookKind("`shell`, `on_error: inject`", "tool_end", _digitorn("inject")),
    ),
    ("flo", "programs"): (
        HookKind("`PreToolUse`", "PreToolUse", _flo("PreToolUse")),
        HookKind("`continueOnError: true`", "PreToolUse", _flo("PreToolUse", continueOnError=True)),
        HookKind("`continueOnError: false`", "PreToolUse", _flo("PreToolUse", continueOnError=False)),
        HookKind("`PostToolUse`", "PostToolUse", _flo("PostToolUse")),
    ),
    ("flo", "scripts"): (
        HookKind("`PreToolUse`", "PreToolUse", _flo_script()),
        HookKind("`continueOnError: false`", "PreToolUse", _flo_script(continueOnError=False)),
    ),
    ("microai", "programs"): (
        HookKind("`PreToolUse`, `continueOnFailure: false`", "PreToolUse", _microai("PreToolUse", continueOnFailure=False)),
        HookKind("`PreToolUse`", "PreToolUse", _microai("PreToolUse")),
        HookKind("`PostToolUse`", "PostToolUse", _microai("PostToolUse")),
        HookKind("`UserPromptSubmit`", "UserPromptSubmit", _microai("UserPromptSubmit")),
    ),
}  # fmt: skip
FAULTS: Final = {"programs": PROGRAMS, "scripts": SCRIPTS}

_VERDICTS: Final = {
    Verdict.SILENT: "proceeds",
    Verdict.ALLOW: "allowed",
    Verdict.ASK: "a person is asked",
    Verdict.DENY: "**denied**",
}


async def outcome(dialect: str, kind: HookKind, fault: Fault, directory: Path) -> str:
    """What happens to the event: the verdict, who sees a message, and the failure."""
    decision = await _decide_with_fault(dialect, kind, fault, directory)
    audiences = {note.audience for note in decision.notes if note.text}
    parts = [_VERDICTS[decision.verdict]]
    parts += [f"the {audience} sees it" for audience in Audience if audience in audiences]
    parts += [f"`{failure.kind}`" for failure in decision.failures]
    return ", ".join(parts)


async def _decide_with_fault(dialect: str, kind: HookKind, fault: Fault, directory: Path) -> Decision:
    file = {"digitorn": "app.yaml", "native": "hookline.yaml"}.get(dialect, "settings.json")
    book = load_text(json.dumps(kind.config(fault.text, fault.seconds)), file, dialect)
    assert len(book.hooks) == 1, book.problems
    event = canonical_event(kind.event)
    assert event is not None
    tool = {"name": "bash", "input": {"command": "ls"}} | ({"result": "ok"} if event == "tool.after" else {})
    given = {"prompt": "hi"} if event == "prompt.submit" else {"tool": tool}
    facts = session_facts(
        event, given, SessionInfo("s", "u", directory / "nowhere" if fault.nowhere else directory, 0.0)
    )
    host = ScriptedHost(book=book)
    decision = await book.decide(Event(event, facts), host)
    await host.settle(decision)
    return decision


async def table(dialect: str, what: str, directory: Path) -> str:
    kinds = TABLES[dialect, what]
    room = asyncio.Semaphore(AT_ONCE)

    async def cell(kind: HookKind, fault: Fault) -> str:
        async with room:
            return await outcome(dialect, kind, fault, directory)

    lines = [f"| {what[:-1]} | {' | '.join(kind.name for kind in kinds)} |", f"| --- {'| --- ' * len(kinds)}|"]
    for fault in FAULTS[what]:
        cells = await asyncio.gather(*(cell(kind, fault) for kind in kinds))
        lines.append(f"| {fault.name} | {' | '.join(cells)} |")
    return "\n".join(lines)


HEAD: Final = """\
# When a hook fails

What happens to an event when its hook fails, for each format. A cell says whether the event proceeds or is denied, who sees a
message, and in `code` the kind of failure that the decision and the log name.

No fault takes longer than the hook's timeout, leaves a process behind or fills memory: hookline keeps 1 MiB of a program's
output and discards the rest. A background hook reports its failure only in the log.

`python -m tests.fault_matrix` runs every cell and writes this page; a test compares it with what happens.
"""


def section(dialect: str, what: str) -> str:
    return f"## {dialect}: {what}"


def page() -> str:
    with tempfile.TemporaryDirectory() as name:
        parts = [f"{section(*key)}\n\n{asyncio.run(table(*key, Path(name)))}\n" for key in TABLES]
    return "\n".join([HEAD, *parts])


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")

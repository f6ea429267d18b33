"""Decisions, calls and results in a few words."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any, Final

from hookline.engine.account import Account, Decision
from hookline.engine.book import Book
from hookline.hooks.event import path_text
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Audience, Outcome, Verdict
from hookline.standard_agents.state import result_text

LONGEST: Final = 200  # characters of a value that are shown
_WIDEST: Final = 300  # characters of a line of a result
_MAIN: Final = ("command", "path", "file_path", "url", "pattern", "query", "code", "prompt", "name")
_VERDICTS: Final = {Verdict.DENY: "denied", Verdict.ASK: "asks", Verdict.ALLOW: "allowed", Verdict.SILENT: ""}


def shortened(text: str, most: int = LONGEST) -> str:
    line = " ".join(text.split())
    return line if len(line) <= most else f"{line[: most - 1]}…"


def input_words(input: dict[str, Any]) -> str:
    """The main field as it is, the others by name."""
    main = next((name for name in _MAIN if isinstance(input.get(name), str)), None)
    first = [] if main is None else [shortened(input[main])]
    return "  ".join(first + [f"{name}={_value(value)}" for name, value in input.items() if name != main])


def shown_whole(input: dict[str, Any]) -> bool:
    """False if a line of a call leaves something out of its input, or shows two lines as one."""
    texts = [value if isinstance(value, str) else json.dumps(value, default=str) for value in input.values()]
    return all(len(text) <= 60 and text == shortened(text) for text in texts) and len(texts) < 4


def whole_input(input: dict[str, Any]) -> str:
    """All of it, line by line: what a person agrees to."""
    lines = []
    for name, value in input.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2, default=str)
        lines += [f"    {name}:", *(f"    | {line}" for line in text.split("\n"))]
    return "\n".join(lines)


def _value(value: Any) -> str:
    return shortened(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str), 80)


def verdict_words(decision: Decision) -> str:
    """Empty if no hook minds."""
    word = "stopped" if decision.halt else _VERDICTS[decision.verdict]
    return f"{word}: {decision.reason}" if word and decision.reason else word


def hooks_words(book: Book) -> str:
    """How many are in force."""
    count = sum(hook.enabled for hook in book.hooks)
    return f"{count} hook{'' if count == 1 else 's'}"


def hook_words(hook: Hook) -> str:
    return f"{hook.id} ({hook.origin.file}:{hook.origin.line})"


def account_words(account: Account) -> str:
    return f"{hook_words(account.hook)} because {account.why}"


def spoke(decision: Decision) -> list[Account]:
    """The hooks that did something."""
    return [account for account in decision.trace if account.applied]


def mattered(decision: Decision) -> list[Account]:
    """The hooks of which a person wants to know: a log has its own lines, and so has a failure."""
    return [account for account in spoke(decision) if account.outcome is not None and _asks(account.outcome)]


def _asks(outcome: Outcome) -> bool:
    return bool(outcome.verdict or outcome.changes or outcome.notes or outcome.requests or outcome.halt)


def changes_of(decision: Decision) -> list[str]:
    """The facts that hooks changed, by name."""
    changes = [change for account in spoke(decision) if account.outcome for change in account.outcome.changes]
    return list(dict.fromkeys(path_text(path) for path, _ in changes))


def agent_notes(decision: Decision) -> Iterator[str]:
    return (note.text for note in decision.notes if note.audience is Audience.AGENT)


def says_something(decision: Decision) -> bool:
    """True if whoever watches wants to see it: hooks that only write a log are not worth a line."""
    return bool(decision.verdict or decision.halt or changes_of(decision) or decision.requests) or any(
        agent_notes(decision)
    )


def _cut(line: str) -> str:
    return line if len(line) <= _WIDEST else f"{line[: _WIDEST - 1]}…"


def result_lines(content: Any, most: int) -> list[str]:
    """The beginning, and how much there is beyond it."""
    lines = [_cut(line) for line in result_text(content).strip().splitlines()]
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"… {len(lines) - most + 1} more lines"]

"""Decisions and calls of one project's hooks, and what the screen shows of updates."""

from __future__ import annotations

import io

from rich.console import Console

from hookline.cli.chat.render import Screen
from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.project import load_text
from hookline.runtime.gate import ToolCall
from hookline.runtime.updates import (
    Update,
)

MAIN = ("main", "agent")
HOOKS = """
hooks:
  - {id: quiet, on: tool.before, then: {log: seen}}
  - {id: dry, on: tool.before, when: {input: {command: --force}}, then: {replace: {in: input.command, pattern: --force, with: --dry-run}}}
  - {id: no, on: tool.before, when: {input: {command: '^rm'}}, then: {deny: Not here.}}
  - {id: note, on: tool.after, then: {tell: "one\\ntwo"}}
"""


def decide_call(event: str, command: str) -> Decision:
    book = load_text(HOOKS, "hookline.yaml")
    return book.decide_now(Event(event, {"tool": {"name": "bash", "kind": "shell", "input": {"command": command}}}))


def show_updates(*updates: Update, **options: bool) -> list[str]:
    out = io.StringIO()
    screen = Screen(Console(file=out, width=200), **options)
    screen.begin("main")
    for update in updates:
        screen(update)
    return out.getvalue().split("\n")


def make_call(command: str, id: str = "call_1") -> ToolCall:
    return ToolCall(id, "bash", {"command": command})

"""Hooks and recorded events for the tests of the verbs that read the record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hookline.engine.book import Book
from hookline.hooks.event import Event
from hookline.project import load_text
from hookline.record.recorder import Recorder

HOOKS = """\
hooks:
  - {id: no-rm, on: tool.before, when: {tool: bash, input: {command: {starts: "rm *"}}}, then: {deny: Do not remove.}}
  - {id: ask-push, on: tool.before, when: {tool: bash, input: {command: push}}, then: {ask: Push?}}
  - {id: hint, on: prompt.submit, when: {prompt: deploy}, then: {tell: be careful}}
"""


def write_hooks(text: str = HOOKS) -> Book:
    """The hooks of the current directory."""
    Path("hookline.yaml").write_text(text)
    return load_text(text, "hookline.yaml")


def tool_event(command: str, *, call: str = "", name: str = "tool.before", **facts: Any) -> Event:
    tool: dict[str, Any] = {"name": "Bash", "kind": "shell", "input": {"command": command}}
    if call:
        tool["id"] = call
    if "ok" in facts:
        tool["ok"] = facts.pop("ok")
    return Event(name, {"host": {"name": "claude-code"}, "session": {"id": "s1"}, "tool": tool, **facts})


def prompt_event(prompt: str) -> Event:
    return Event("prompt.submit", {"host": {"name": "codex"}, "session": {"id": "s2"}, "prompt": prompt})


def record(recorder: Recorder, book: Book, *events: Event) -> None:
    for event in events:
        recorder.decide_now(book, event)


def record_a_few(recorder: Recorder, text: str = HOOKS) -> None:
    """A deny, an ask, a call that ran, one that failed, and a prompt."""
    record(
        recorder,
        write_hooks(text),
        tool_event("rm x", call="c1"),
        tool_event("git push", call="c2"),
        tool_event("ls", call="c3"),
        tool_event("ls", call="c3", name="tool.after", ok=True),
        tool_event("false", call="c4"),
        tool_event("false", call="c4", name="tool.failed", ok=False),
        prompt_event("deploy it"),
    )

"""Folders of agents' files, and hooks compiled from a function."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hookline import Event
from hookline.config.problem import Problem, Severity
from hookline.dialects.standard_agents import hooks_of
from hookline.engine.book import Book
from hookline.hooks.hook import Hook
from hookline.standard_agents import collecting, define_agent, define_hook

HEAD = "from hookline.standard_agents import define_agent, define_hook, define_prompt\n"
SHOUT = (
    HEAD
    + """
@define_hook(hook="after_system_message", id="shout")
async def shout(state, text):
    return text.upper()

define_agent(name="support", hooks=["shout"])
"""
)


def write_folder(folder: Path, **files: str) -> Path:
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


def decide_system(book: Book, text: str = "x") -> str:
    decision = asyncio.run(book.decide(Event("history.system", {"agent": {"name": "support"}, "system": text})))
    assert not decision.failures
    system: str = decision.event.facts["system"]
    return system


def error_codes(problems: tuple[Problem, ...]) -> list[str]:
    return [str(problem) for problem in problems if problem.severity is Severity.ERROR]


define: Any = define_hook


def compile_hook(kind: str, function: Callable[..., Any]) -> tuple[Hook, ...]:
    with collecting() as definitions:
        define(hook=kind, id="it", execute=function)
        define_agent(name="support", hooks=["it"])
    return hooks_of(definitions).hooks

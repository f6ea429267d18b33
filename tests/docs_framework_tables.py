"""The tables in the pages about Python frameworks, from what each adapter declares."""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import partial
from pathlib import Path

import hookline.frameworks
from hookline.frameworks import support
from hookline.frameworks.support import ANSWERS, FrameworkSupport
from hookline.hooks.events import EVENTS

_FOLDER = Path(hookline.frameworks.__file__).parent
_SHARED = (
    "__init__",
    "agent_run",
    "argument_shapes",
    "conversation",
    "decided_call",
    "framework_hooks",
    "question_id",
    "request_messages",
    "shape_readers",
    "support",
    "tool_defaults",
)


def all_support() -> list[FrameworkSupport]:
    """Without importing the adapters: their frameworks are not installed here."""
    names = sorted(file.stem for file in _FOLDER.glob("*.py") if file.stem not in _SHARED)
    return [_declared_support(_FOLDER / f"{name}.py") for name in names]


def _declared_support(file: Path) -> FrameworkSupport:
    for node in ast.parse(file.read_text("utf-8")).body:
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "SUPPORT" and node.value is not None:
            made = eval(compile(ast.Expression(node.value), str(file), "eval"), vars(support))  # noqa: S307
            assert isinstance(made, FrameworkSupport)
            return made
    raise AssertionError(f"{file.name} has no SUPPORT")


def _cell(framework: FrameworkSupport, word: str) -> str:
    answer = framework.answer(word)
    return answer if answer.startswith("yes") else f"*{answer}*"


def _overview(table: Callable[..., str]) -> str:
    rows = [
        (
            f"[{each.title}](#{each.title.lower().replace(' ', '-')})",
            f"`{each.name}`",
            f"{each.package} {each.version}",
            *(_cell(each, word) for word in ANSWERS),
        )
        for each in all_support()
    ]
    return table(("framework", "name", "run with", *ANSWERS.values()), rows)


def _events(table: Callable[..., str]) -> str:
    made = all_support()
    shown = [event for event in EVENTS if any(event in each.events for each in made)]
    rows = []
    for event in shown:
        missing = [each.title for each in made if event not in each.events]
        rows.append((f"`{event}`", f"all but {', '.join(missing)}" if missing else "all"))
    return table(("event", "fires in"), rows)


def _subagents(table: Callable[..., str]) -> str:
    rows = [(each.title, f"`{each.installs_as}`", each.covers_subagents) for each in all_support()]
    return table(("framework", "puts the hooks in force", "sub-agents"), rows)


def tables(table: Callable[..., str]) -> dict[str, Callable[[], str]]:
    return {
        "frameworks": partial(_overview, table),
        "framework-events": partial(_events, table),
        "framework-lines": partial(_subagents, table),
    }

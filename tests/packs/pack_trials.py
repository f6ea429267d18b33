"""What each hook of a pack stops and lets through, read from its trial file."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any
from unittest.mock import patch

import yaml

from hookline import Event
from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.project.loader import load_text
from hookline.project.packs import own_pack_names

DIRECTORY = Path(__file__).parent
WORKSPACE = "/work/app"
_SESSIONS = count()
EVERYDAY = (DIRECTORY / "everyday_commands.txt").read_text(encoding="utf-8").splitlines()


@dataclass(frozen=True)
class Trial:
    """A hook of a pack, calls that it must stop, and calls that no hook of the pack may stop."""

    pack: str
    hook: str
    stops: tuple[Any, ...]
    changes: tuple[Any, ...]  # calls or results that it changes
    lets: tuple[Any, ...]


@cache
def load_pack(name: str) -> Book:
    return load_text(f"extends: [hookline:{name}]", "hookline.yaml")


@cache
def load_alone(pack: str, hook: str) -> Book:
    """Only that hook of the pack."""
    hooks = [each for layer in load_pack(pack).layers for each in layer.hooks if each.id == hook]
    return Book([Layer("named", hooks)])


def trials(pack: str) -> list[Trial]:
    return [_read(pack, file) for file in trial_files(pack) if not is_case_file(file)]


def trial_files(pack: str) -> list[Path]:
    return sorted((DIRECTORY / pack).glob("*.yaml"))


def is_case_file(file: Path) -> bool:
    """Whether it is a case as users write them, for hooks that depend on what happened before."""
    return file.read_text(encoding="utf-8").startswith("note:")


def all_trials() -> list[Trial]:
    return [trial for pack in own_pack_names() for trial in trials(pack)]


def _read(pack: str, file: Path) -> Trial:
    value = yaml.safe_load(file.read_text(encoding="utf-8"))
    return Trial(pack, file.stem, *(tuple(value.get(part, ())) for part in ("stops", "changes", "lets")))


def decide(book: Book, call: Any, name: str = "tool.before") -> Decision:
    """A text is a shell command; a mapping names an event's facts."""
    facts = {"tool": {"name": "bash", "input": {"command": call}}} if isinstance(call, str) else _facts(call)
    session = {"id": str(next(_SESSIONS))}  # each call is the first of its session
    common = {"cwd": WORKSPACE, "workspace": WORKSPACE, "session": session}
    with patch.dict(os.environ, HOME="/home/me"):  # the real one may be in /tmp, where `workspace` lets an agent write
        return book.decide_now(Event(facts.pop("event", name), {**common, **facts}))


def _facts(call: dict[str, Any]) -> dict[str, Any]:
    if "tool" in call and isinstance(call["tool"], str):
        rest = {key: value for key, value in call.items() if key not in ("tool", "input")}
        return {"tool": {"name": call["tool"], "input": call.get("input", {})}, **rest}
    return dict(call)

"""What a file's hooks would do once they are trusted, as plain data for whoever has to decide that."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.config.problem import printable
from hookline.dialects.dialect import Wanted
from hookline.hooks.action import Action
from hookline.hooks.actions.answer import Answer, Say
from hookline.hooks.actions.call import Call
from hookline.hooks.actions.chain import Chain
from hookline.hooks.actions.change import Append, Change, Edit, Remove, Replace, Set
from hookline.hooks.actions.http import PostEvent
from hookline.hooks.actions.judge import Judge
from hookline.hooks.actions.program import Program, Run
from hookline.hooks.actions.script import RunScript
from hookline.hooks.actions.tell import Log, Notify
from hookline.hooks.event import REMOVED, path_text
from hookline.hooks.filled import Filled
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Outcome
from hookline.hooks.template import ShellTemplate, Template
from hookline.project.held import HeldFolder
from hookline.project.sources import Source

_LONGEST: Final = 4_000  # characters of a value that somebody is asked to read


@dataclass(frozen=True, slots=True)
class Deed:
    """One thing that a hook would do. `text` may have several lines; nothing in it can move a cursor or hide text."""

    what: str  # run, only_if, script, call, set, allow, tell …
    text: str


@dataclass(frozen=True, slots=True)
class Wish:
    """A hook that needs trust, or what a file brings beside hooks."""

    hook: str
    event: str  # empty where it is no hook
    line: int
    deeds: tuple[Deed, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """`hash` stands for exactly this: the text, and what the named files hold."""

    source: Source
    hash: str
    accepted: bool
    wishes: tuple[Wish, ...]
    names: tuple[str, ...]  # files inside the project that the hooks name, from its root

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.source.shown,
            "path": str(self.source.path),
            "hash": self.hash,
            "trusted": self.accepted,
            "hooks": [
                {
                    "id": wish.hook,
                    "event": wish.event,
                    "line": wish.line,
                    "does": [{"what": deed.what, "text": deed.text} for deed in wish.deeds],
                }
                for wish in self.wishes
            ],
            "names": list(self.names),
        }


def wish_of(hook: Hook) -> Wish:
    said = (*_deeds(hook.then), *((f"if it fails, {what}", text) for what, text in _answered(hook.on_error)))
    deeds = tuple(Deed(what, _shown(text)) for what, text in said)
    return Wish(hook.id, hook.event, hook.origin.line, deeds)


def import_of(folder: HeldFolder) -> Wish:
    """What happens with a folder of code: it is run, and its functions are hooks on events of their choice."""
    return Wish(
        folder.shown, "any event", folder.line, (Deed("import", _shown(f"the Python files in {folder.shown}")),)
    )


def part_of(wanted: Wanted) -> Wish:
    """What an app's file brings beside hooks: a server, a prompt, a skill's text."""
    return Wish(_shown(wanted.name), "", wanted.line, (Deed(wanted.what, _shown(wanted.text)),))


def _deeds(action: Action) -> Iterator[tuple[str, str]]:
    match action:
        case Run():
            yield "run", _command(action.program)
            if action.only_if is not None:
                yield "only_if", _command(action.only_if)
        case PostEvent():
            yield "post", action.url
            yield from (("header", f"{name}: {text}") for name, text in action.headers)
        case Judge():
            yield "ask the model", action.prompt
        case RunScript():
            yield "script", action.source
        case Call():
            yield "call", f"{action.tool} {_plain({**dict(action.literal), **_filled(action.input.value)})}"
        case Change():
            yield from map(_edited, action.edits)
        case Log():
            yield "log", action.text.source
        case Notify():
            yield "notify", ": ".join(filter(None, (action.title.source, action.message.source)))
        case Answer():
            yield from _answered(action.constant)
        case Say():
            yield from _answered(action.outcome)
            texts = [text for _, text in action.notes] + ([action.reason] if action.reason else [])
            yield from (("say", text.source) for text in texts)
        case Chain():
            for step in action.steps:
                yield from _deeds(step.action)
        case _:
            yield type(action).__name__.lower(), _plain(action)


def _edited(edit: Edit) -> tuple[str, str]:
    at = path_text(edit.path)
    match edit:
        case Set():
            return "set", f"{at} = {_value(edit.value.value)}"
        case Append():
            return "append", f"{at} + {_value(edit.text)}"
        case Replace():
            return "replace", f"{at}: {_value(edit.pattern.source)} → {_value(edit.new)}"
        case Remove():
            return "remove", at
        case _:
            return "change", at


def _value(value: Any) -> str:
    text = value.source if isinstance(value, Template) else value if isinstance(value, str) else _plain(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text) - _LONGEST} more characters)"


def _answered(outcome: Outcome) -> Iterator[tuple[str, str]]:
    if outcome.verdict:
        yield outcome.verdict.word, outcome.reason
    for path, new in outcome.changes:
        yield ("remove", path_text(path)) if new is REMOVED else ("set", f"{path_text(path)} = {_value(new)}")
    yield from (("tell", note.text) for note in outcome.notes)
    yield from (("request", type(request).__name__.lower()) for request in outcome.requests)


def _command(program: Program) -> str:
    words = program.shell.source if program.shell else shlex.join(part.source for part in program.argv)
    given = "".join(f"{name}={shlex.quote(text.source)} " for name, text in program.env if text)
    return f"{given}{words}" + (f"  (in {program.cwd.source})" if program.cwd else "")


def _filled(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"": value}


def _plain(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_told)


def _told(value: Any) -> Any:
    if isinstance(value, (Template, ShellTemplate)):
        return value.source
    if isinstance(value, Filled):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value) if not each.name.startswith("_")}
    return str(value) if isinstance(value, (timedelta, PurePath)) else type(value).__name__


def _shown(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))

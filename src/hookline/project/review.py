"""What a file's hooks would do once they are trusted, as plain data for whoever has to decide that."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, fields, is_dataclass
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.dialects.dialect import Capability
from hookline.formatting import printable
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.call_tool import CallTool
from hookline.hooks.actions.chain import Chain
from hookline.hooks.actions.change import Append, ChangeFacts, Edit, Remove, Replace, Set
from hookline.hooks.actions.notify import Log, Notify
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.run_program import CommandTemplate, RunProgram
from hookline.hooks.actions.script import RunScript
from hookline.hooks.event import REMOVED, path_text
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Outcome
from hookline.hooks.protocols import Action
from hookline.hooks.templates import DataTemplate, ShellTemplate, Template
from hookline.project.parsed_file import CodeFolder
from hookline.project.sources import Source

_MAX_VALUE_LENGTH: Final = 4_000  # characters of a value that somebody is asked to read


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that a hook would do. `text` may have several lines; nothing in it can move a cursor or hide text."""

    what: str  # run, only_if, script, call, set, allow, tell …
    text: str


@dataclass(frozen=True, slots=True)
class HookEffects:
    """A hook that needs trust, or what a file brings beside hooks."""

    hook: str
    event: str  # empty where it is no hook
    line: int
    effects: tuple[Effect, ...]


@dataclass(frozen=True, slots=True)
class Review:
    """`hash` stands for exactly this: the text, and what the named files hold."""

    source: Source
    hash: str
    accepted: bool
    hook_effects: tuple[HookEffects, ...]
    names: tuple[str, ...]  # files inside the project that the hooks name, from its root

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.source.display_path,
            "path": str(self.source.path),
            "hash": self.hash,
            "trusted": self.accepted,
            "hooks": [
                {
                    "id": wish.hook,
                    "event": wish.event,
                    "line": wish.line,
                    "does": [{"what": deed.what, "text": deed.text} for deed in wish.effects],
                }
                for wish in self.hook_effects
            ],
            "names": list(self.names),
        }


def effects_of_hook(hook: Hook) -> HookEffects:
    said = (
        *_describe_action(hook.then),
        *((f"if it fails, {what}", text) for what, text in _describe_outcome(hook.on_error)),
    )
    deeds = tuple(Effect(what, _printable_lines(text)) for what, text in said)
    return HookEffects(hook.id, hook.event, hook.origin.line, deeds)


def effects_of_folder(folder: CodeFolder) -> HookEffects:
    """What happens with a folder of code: it is run, and its functions are hooks on events of their choice."""
    return HookEffects(
        folder.display_path,
        "any event",
        folder.line,
        (Effect("import", _printable_lines(f"the Python files in {folder.display_path}")),),
    )


def effects_of_capability(wanted: Capability) -> HookEffects:
    """What an app's file brings beside hooks: a server, a prompt, a skill's text."""
    return HookEffects(
        _printable_lines(wanted.name), "", wanted.line, (Effect(wanted.what, _printable_lines(wanted.text)),)
    )


def _describe_action(action: Action) -> Iterator[tuple[str, str]]:
    match action:
        case RunProgram():
            yield "run", _format_command(action.program)
            if action.only_if is not None:
                yield "only_if", _format_command(action.only_if)
        case PostEvent():
            yield "post", action.url
            yield from (("header", f"{name}: {text}") for name, text in action.headers)
        case AskModel():
            yield "ask the model", action.prompt
        case RunScript():
            yield "script", action.source
        case CallTool():
            yield "call", f"{action.tool} {_to_json({**dict(action.literal), **_as_mapping(action.input.value)})}"
        case ChangeFacts():
            yield from map(_describe_edit, action.edits)
        case Log():
            yield "log", action.text.source
        case Notify():
            yield "notify", ": ".join(filter(None, (action.title.source, action.message.source)))
        case FixedAnswer():
            yield from _describe_outcome(action.constant)
        case TemplateAnswer():
            yield from _describe_outcome(action.outcome)
            texts = [text for _, text in action.notes] + ([action.reason] if action.reason else [])
            yield from (("say", text.source) for text in texts)
        case Chain():
            for step in action.steps:
                yield from _describe_action(step.action)
        case _:
            yield type(action).__name__.lower(), _to_json(action)


def _describe_edit(edit: Edit) -> tuple[str, str]:
    at = path_text(edit.path)
    match edit:
        case Set():
            return "set", f"{at} = {_format_value(edit.value.value)}"
        case Append():
            return "append", f"{at} + {_format_value(edit.text)}"
        case Replace():
            return "replace", f"{at}: {_format_value(edit.pattern.source)} → {_format_value(edit.new)}"
        case Remove():
            return "remove", at
        case _:
            return "change", at


def _format_value(value: Any) -> str:
    text = value.source if isinstance(value, Template) else value if isinstance(value, str) else _to_json(value)
    return (
        text
        if len(text) <= _MAX_VALUE_LENGTH
        else f"{text[:_MAX_VALUE_LENGTH]}… ({len(text) - _MAX_VALUE_LENGTH} more characters)"
    )


def _describe_outcome(outcome: Outcome) -> Iterator[tuple[str, str]]:
    if outcome.verdict:
        yield outcome.verdict.word, outcome.reason
    for path, new in outcome.changes:
        yield ("remove", path_text(path)) if new is REMOVED else ("set", f"{path_text(path)} = {_format_value(new)}")
    yield from (("tell", note.text) for note in outcome.notes)
    yield from (("request", type(request).__name__.lower()) for request in outcome.requests)


def _format_command(program: CommandTemplate) -> str:
    words = program.shell.source if program.shell else shlex.join(part.source for part in program.argv)
    given = "".join(f"{name}={shlex.quote(text.source)} " for name, text in program.env if text)
    return f"{given}{words}" + (f"  (in {program.cwd.source})" if program.cwd else "")


def _as_mapping(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {"": value}


def _to_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=_json_default)


def _json_default(value: Any) -> Any:
    if isinstance(value, (Template, ShellTemplate)):
        return value.source
    if isinstance(value, DataTemplate):
        return value.value
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value) if not each.name.startswith("_")}
    return str(value) if isinstance(value, (timedelta, PurePath)) else type(value).__name__


def _printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))

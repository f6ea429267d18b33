"""Change the facts of the event: set, remove, append, replace."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, Protocol

from hookline.errors import UndecidedError
from hookline.hooks.actions.description import describe_value
from hookline.hooks.actions.text_editor import TextEditor
from hookline.hooks.event import MISSING, REMOVED, Changes, Event, FactPath, path_text
from hookline.hooks.host import Host
from hookline.hooks.outcome import NOT_APPLIED, ActionError, FailureKind, Outcome
from hookline.hooks.protocols import May, TextPattern
from hookline.hooks.templates import DataTemplate, Template
from hookline.hooks.tool_input import restore_command_list, tool_field_names
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import json

_REPLACE_SECONDS = 1.0  # a long result with many matches takes longer than a search
INPUT_PATH: FactPath = ("tool", "input")


class Edit(Protocol):
    @property
    def path(self) -> FactPath: ...
    def reads(self) -> Iterable[FactPath]: ...
    def new_value(self, old: Any, event: Event) -> Any: ...
    def describe(self) -> tuple[str, str]: ...


@dataclass(frozen=True, slots=True)
class Set:
    path: FactPath
    value: DataTemplate

    def reads(self) -> tuple[FactPath, ...]:
        return self.value.reads()

    def new_value(self, old: Any, event: Event) -> Any:
        return self.value.render(event)

    def describe(self) -> tuple[str, str]:
        return "set", f"{path_text(self.path)} = {describe_value(self.value.value)}"


@dataclass(frozen=True, slots=True)
class Remove:
    path: FactPath

    def reads(self) -> tuple[FactPath, ...]:
        return ()

    def new_value(self, old: Any, event: Event) -> Any:
        return MISSING if old is MISSING else REMOVED

    def describe(self) -> tuple[str, str]:
        return "remove", path_text(self.path)


@dataclass(frozen=True, slots=True)
class Append:
    """Appends to text, on a new line. Any other value becomes its JSON text first."""

    path: FactPath
    text: Template

    def reads(self) -> tuple[FactPath, ...]:
        return (self.path, *self.text.reads())

    def new_value(self, old: Any, event: Event) -> Any:
        added = self.text.render(event)
        held = old if isinstance(old, str) else "" if old in (MISSING, None) else _dump_json(old)
        return held + added if not held or added.startswith("\n") else f"{held}\n{added}"

    def describe(self) -> tuple[str, str]:
        return "append", f"{path_text(self.path)} + {describe_value(self.text)}"


@dataclass(frozen=True, slots=True)
class Replace:
    """Replaces each match of the pattern in the text at `path`, or in every text inside that value."""

    path: FactPath
    pattern: TextPattern
    new: str

    def reads(self) -> tuple[FactPath, ...]:
        return (self.path,)

    def new_value(self, old: Any, event: Event) -> Any:
        if old is MISSING:
            return old
        deadline = time.perf_counter() + _REPLACE_SECONDS
        failure = f"could not replace {self.pattern.source} in {path_text(self.path)}"
        edits_keys = self.path[:2] != INPUT_PATH  # else a tool would not find its fields
        editor = TextEditor(lambda text, _: self.pattern.replace(text, self.new, deadline), failure, edits_keys)
        try:
            return editor.apply(old)
        except UndecidedError as undecided:
            raise ActionError(FailureKind.TIMEOUT, f"{failure}: {undecided}") from None

    def describe(self) -> tuple[str, str]:
        found, new = describe_value(self.pattern.source), describe_value(self.new)
        return "replace", f"{path_text(self.path)}: {found} → {new}"


@dataclass(frozen=True, slots=True)
class ChangeFacts:
    edits: tuple[Edit, ...]
    instant = True
    constant = None
    label = "the action change"
    may = May.CHANGE

    def changes(self) -> tuple[FactPath, ...]:
        return tuple(edit.path for edit in self.edits)

    def reads(self) -> tuple[FactPath, ...]:
        return tuple(path for edit in self.edits for path in edit.reads())

    def describe(self) -> Iterator[tuple[str, str]]:
        return (edit.describe() for edit in self.edits)

    async def run(self, event: Event, host: Host) -> Outcome:
        changes: Changes = ()
        now = event
        for edit in self.edits:
            for path in resolve_paths(edit.path, now):
                old = now.read(path)
                new = edit.new_value(old, now)
                if new is MISSING or (new == old and type(new) is type(old)):
                    continue
                if path[:2] == INPUT_PATH:
                    new = restore_command_list(old, new, path[2:])
                if path == INPUT_PATH and not isinstance(new, dict):
                    raise ActionError(
                        FailureKind.UNREADABLE_ANSWER, "would make the tool's input something other than an object"
                    )
                changes += ((path, new),)
                now = now.with_changes(((path, new),))
        return Outcome(changes=changes) if changes else NOT_APPLIED


def resolve_paths(path: FactPath, event: Event) -> tuple[FactPath, ...]:
    """The path with each name of the field that this input has and that the tool may read."""
    if path[:2] != INPUT_PATH or len(path) < 3:
        return (path,)
    tool = event.facts.get("tool")
    input = tool.get("input") if isinstance(tool, dict) else None
    if not isinstance(input, dict):
        return (path,)
    return tuple(("tool", "input", name, *path[3:]) for name in tool_field_names(event, str(path[2])))


def _dump_json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str)

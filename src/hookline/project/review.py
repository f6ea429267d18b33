"""What a file's hooks would do once they are trusted, as plain data for the person who decides."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from hookline.dialects.dialect import Capability
from hookline.formatting import printable
from hookline.hooks.hook import Hook
from hookline.hooks.protocols import Action, May
from hookline.hooks.wording import Wording
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.project.packs import PackFile
from hookline.project.parsed_file import CodeFolder
from hookline.project.run_files import FileContent
from hookline.project.sources import Source

if TYPE_CHECKING:
    from hookline.hooks.actions.run_program import CommandTemplate

_TEMPLATES: Final = ("run", "only_if", "log", "call", "notify", "say")
_CHANGES: Final = ("set", "remove", "append")
_ACTIONS: Final = ("run", "call", "custom", "diagnose", "request", "tell", *_CHANGES)
"""What an action does, in hookline's own words; another dialect has one word for the whole action."""
_READERS: Final = {"tell": "agent", "tell_user": "user"}


@dataclass(frozen=True, slots=True)
class Effect:
    """One thing that a hook would do. `text` may have several lines; nothing in it can move a cursor or hide text."""

    what: str  # run, only_if, script, call, set, allow, tell …
    text: str


@dataclass(frozen=True, slots=True)
class HookEffects:
    """A hook that needs trust, or something that a file contains besides hooks."""

    hook: str
    event: str  # empty if it is not a hook
    line: int
    effects: tuple[Effect, ...]
    file: str = ""  # if it is not the reviewed one: a pack


@dataclass(frozen=True, slots=True)
class Review:
    """`hash` identifies exactly this: the text, and the content of the files that it runs."""

    source: Source
    hash: str
    accepted: bool
    hook_effects: tuple[HookEffects, ...]
    names: tuple[str, ...]  # files inside the project that the hooks run, from its root
    state: str = "new"  # or changed or deleted, since the user accepted it
    text: str = field(default="", repr=False)
    contents: Mapping[str, FileContent] = field(default_factory=dict, repr=False)  # of the files in `names`
    packs: tuple[PackFile, ...] = ()  # that it extends, without hookline's own

    def as_json(self) -> dict[str, Any]:
        return {
            "file": self.source.display_path,
            "path": str(self.source.path),
            "hash": self.hash,
            "trusted": self.accepted,
            "state": self.state,
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
            "extends": [pack.shown_as for pack in self.packs],
        }


def effects_of_hook(hook: Hook) -> HookEffects:
    from hookline.hooks.actions.description import describe_outcome  # loading a file needs no review
    from hookline.hooks.actions.run_program import RunProgram

    words = hook.origin.wording
    action = hook.then
    if isinstance(action, RunProgram):
        only_if = action.only_if and _as_in_the_file(action.only_if, words)
        action = replace(action, program=_as_in_the_file(action.program, words), only_if=only_if)
    said = (
        *_describe_action(action, words),
        *(_on_failure(what, text, words) for what, text in describe_outcome(hook.on_error)),
    )
    deeds = tuple(Effect(what, _printable_lines(text)) for what, text in said)
    return HookEffects(hook.id, hook.event_name, hook.origin.line, deeds)


def _as_in_the_file(program: CommandTemplate, words: Wording) -> CommandTemplate:
    return replace(program, env=words.author_variables(program.env))


def _on_failure(what: str, text: str, words: Wording) -> tuple[str, str]:
    if what in _READERS and not text:  # the text is that of the failure
        return f"if it fails, the {_READERS[what]} is told how", ""
    return f"if it fails, {_answer_word(what, words)}", text


def _describe_action(action: Action, words: Wording) -> Iterator[tuple[str, str]]:
    from hookline.hooks.actions.chain import Chain

    if isinstance(action, Chain):
        for step in action.steps:
            yield from _describe_action(step.action, words)
        return
    word = words.action_word(action) if words.action_word is not None else None
    for what, text in action.describe():
        written = _as_written(what, text, words)
        if word is None or what not in _ACTIONS:
            yield _answer_word(what, words), written
        elif what == "custom":
            yield word, written.removeprefix(word).strip()
        else:
            yield word, f"remove {written}" if what == "remove" else written


def _answer_word(what: str, words: Wording) -> str:
    return words.answers[May.DENY] if what == "deny" else what.replace("only_if", words.only_if)


def _as_written(what: str, text: str, words: Wording) -> str:
    if what in _CHANGES:
        path, sign, value = text.partition(" + " if what == "append" else " = ")
        return words.explain(path) + sign + words.as_written(value)
    return words.as_written(text) if what in _TEMPLATES else text


def effects_of_folder(folder: CodeFolder) -> HookEffects:
    """What happens with a folder of code: it is run, and its functions are hooks on events of their choice."""
    return HookEffects(
        folder.display_path,
        "any event",
        folder.line,
        (Effect("import", _printable_lines(f"the Python files in {folder.display_path}")),),
    )


def effects_of_capability(wanted: Capability) -> HookEffects:
    """What an app's file contains besides hooks: a server, a prompt, a skill's text."""
    return HookEffects(
        _printable_lines(wanted.name), "", wanted.line, (Effect(wanted.what, _printable_lines(wanted.text)),)
    )


def _printable_lines(text: str) -> str:
    return "\n".join(printable(line) for line in text.split("\n"))

"""`deny:`, `ask:`, `allow:`, `halt:` and `tell:`: actions that only answer."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

from hookline.config.node import Node
from hookline.config.scalars import format_duration
from hookline.dialects.native.keys import (
    NOT_WRITTEN,
    TEXT,
    ActionKey,
    HookInfo,
    Schema,
    choice_key,
    duration_key,
    key_table,
    mapping_schema,
    read_mapping,
    read_template,
    template_key,
    write_mapping,
)
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.event import Event
from hookline.hooks.outcome import SILENT, AskTerms, Audience, Note, NotePlace, Outcome, Verdict
from hookline.hooks.protocols import Action, May
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import lazy_module

if TYPE_CHECKING:
    from hookline.hooks import templates
    from hookline.hooks.templates import Template
else:  # many files have no placeholders
    templates = lazy_module("hookline.hooks.templates")

ROLES: Final = ("user", "assistant", "system")
_POSITIONS: Final = ("start", "before_last", "end")
_REASON: Final[Schema] = {"anyOf": [TEXT, {"const": True}, {"type": "null"}]}


def _parse_answer(outcome: Outcome) -> Callable[[Node, HookInfo, dict[str, Any]], Action | None]:
    def parse(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
        if value.value is True or value.value is None:
            return FixedAnswer(outcome)
        if type(value.value) is str and value.value and "{" not in value.value:
            return _fixed_answer(outcome, value.value)
        reason = read_template(value, info.vocabulary)
        if reason is None:
            return None
        if all(name == templates.OPEN_BRACES for name in reason.names):
            return FixedAnswer(replace(outcome, reason=reason.render(Event("", {}))))
        return TemplateAnswer(outcome, reason)

    return parse


@lru_cache(maxsize=1024)
def _fixed_answer(outcome: Outcome, reason: str) -> FixedAnswer:
    """Thousands of rules of one file give the same few reasons: they share one answer."""
    return FixedAnswer(replace(outcome, reason=reason))


def _write_verdict(verdict: Verdict) -> Callable[[Action, HookInfo], Any]:
    def write(action: Action, info: HookInfo) -> Any:
        match action:
            case FixedAnswer(outcome) if outcome == Outcome(verdict, outcome.reason):
                return templates.escape_braces(outcome.reason) or True
            case TemplateAnswer(outcome, templates.Template() as reason, ()) if outcome == Outcome(verdict):
                return reason.source
        return NOT_WRITTEN

    return write


def _parse_ask(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    parse = _parse_answer(Outcome(Verdict.ASK))
    if not isinstance(value.value, dict):
        return parse(value, info, options)
    hint = "Write ask: {question: …, default: deny, within: 2m}."
    values = read_mapping(value, _ASK_KEYS, "ask", info, hint=hint, hints=_ASK_HINTS)
    question = value.get("question")
    if values is None or question is None:
        return None
    terms = AskTerms(_DEFAULTS[values.get("default", "deny")], values.get("within"))
    return _parse_answer(Outcome(Verdict.ASK, terms=terms))(question, info, options)


def _write_ask(action: Action, info: HookInfo) -> Any:
    bare: Action = action
    terms: AskTerms | None = None
    if isinstance(action, FixedAnswer):
        terms, bare = action.constant.terms, FixedAnswer(replace(action.constant, terms=None))
    elif isinstance(action, TemplateAnswer):
        terms, bare = action.outcome.terms, replace(action, outcome=replace(action.outcome, terms=None))
    question = _write_verdict(Verdict.ASK)(bare, info)
    return question if terms is None or question is NOT_WRITTEN else write_mapping(_ASK_KEYS, terms, question)


_ASK_HINTS: Final = {
    **dict.fromkeys(("time", "timeout", "wait", "deadline", "for", "seconds"), "Did you mean within?"),
    **dict.fromkeys(("reason", "message", "text", "prompt", "title"), "Did you mean question?"),
    **dict.fromkeys(("otherwise", "else", "fallback", "on_timeout", "answer"), "Did you mean default?"),
}
_DEFAULTS: Final = {"deny": Verdict.DENY, "allow": Verdict.ALLOW}
_ASK_KEYS: Final = key_table(
    template_key(
        "question",
        required=True,
        help="the question",
        write=lambda terms, question: question,
        example="question: 'Deploy to production?'",
    ),
    choice_key(
        "default",
        _DEFAULTS,
        default="`deny`",
        help="what counts if nobody answers in time: `deny` or `allow`",
        write=lambda terms, _: terms.default.word,
    ),
    duration_key(
        "within",
        default="as long as the host waits",
        help="how long to wait for an answer",
        write=lambda terms, _: NOT_WRITTEN if terms.within is None else format_duration(terms.within),
        example="within: 2m",
    ),
)


def _write_halt(action: Action, info: HookInfo) -> Any:
    match action:
        case FixedAnswer(outcome) if outcome == Outcome(reason=outcome.reason, halt=True):
            return templates.escape_braces(outcome.reason) or True
        case TemplateAnswer(outcome, templates.Template() as reason, ()) if outcome == Outcome(halt=True):
            return reason.source
    return NOT_WRITTEN


def _answer_key(name: str, outcome: Outcome, intended: May, **rest: Any) -> ActionKey:
    return ActionKey(
        name,
        read=_parse_answer(outcome),
        write=_write_halt if outcome.halt else _write_verdict(outcome.verdict),
        schema=_REASON,
        intended=lambda at, info: intended,
        **rest,
    )


_VERDICT_KEYS: Final = (
    _answer_key(
        "deny",
        Outcome(Verdict.DENY),
        May.DENY,
        help="block it; the text is the reason",
        example="{deny: Not on a Friday.}",
    ),
    ActionKey(
        "ask",
        read=_parse_ask,
        write=_write_ask,
        schema=lambda: {"anyOf": [*_REASON["anyOf"], mapping_schema(_ASK_KEYS)]},
        mapping=_ASK_KEYS,
        intended=lambda at, info: May.ASK,
        help="let a person decide; the text is the reason",
        example="{ask: This pushes to production.}",
    ),
    _answer_key(
        "allow",
        Outcome(Verdict.ALLOW),
        May.NOTHING,
        help="approve it, unless another hook denies or asks",
        example="{allow: true}",
    ),
    _answer_key("halt", Outcome(halt=True), May.DENY, help="stop the agent", example="{halt: The budget is spent.}"),
)


def _parse_tell(value: Node, info: HookInfo, options: dict[str, Any]) -> Action | None:
    if isinstance(value.value, str):
        return _note_action(read_template(value, info.vocabulary))
    values = read_mapping(value, _TELL_KEYS, "tell", info, hint="Write tell: {text: …, to: agent}.")
    if values is None:
        return None
    return _note_action(
        values["text"],
        audience=values.get("to", Audience.AGENT),
        place=values.get("place", NotePlace.CONTEXT),
        role=values.get("role", "user"),
        position=values.get("position", "end"),
    )


def _note_action(text: Template | None, **rest: Any) -> Action | None:
    if text is None:
        return None
    if text.constant:
        return FixedAnswer(Outcome(notes=(Note(text.source, **rest),)))
    return TemplateAnswer(SILENT, notes=((Note("", **rest), text),))


def _write_tell(action: Action, info: HookInfo) -> Any:
    match action:
        case FixedAnswer(Outcome(notes=(note,)) as outcome) if outcome == Outcome(notes=(note,)):
            return _write_note(note, templates.escape_braces(note.text))
        case TemplateAnswer(outcome, None, ((note, text),)) if outcome == SILENT:
            return _write_note(note, text.source)
    return NOT_WRITTEN


def split_answer(action: FixedAnswer | TemplateAnswer) -> tuple[Action, ...]:
    """The answer as actions of one part each: notes, requests, then the verdict and a halt, which end a chain."""
    outcome = action.constant if isinstance(action, FixedAnswer) else action.outcome
    reason = action.reason if isinstance(action, TemplateAnswer) else None
    parts: list[Action] = [FixedAnswer(Outcome(notes=(note,))) for note in outcome.notes]
    if isinstance(action, TemplateAnswer):
        parts += [TemplateAnswer(SILENT, notes=(note,)) for note in action.notes]
    parts += [FixedAnswer(Outcome(requests=(request,))) for request in outcome.requests]
    own = Outcome(outcome.verdict, outcome.reason, halt=outcome.halt, terms=outcome.terms)
    if own != SILENT or reason is not None:
        parts.append(FixedAnswer(own) if reason is None else TemplateAnswer(own, reason))
    return tuple(parts)


def _write_note(note: Note, text: str) -> Any:
    return text if note == Note(note.text) else write_mapping(_TELL_KEYS, note, text)


_TELL_KEYS: Final = key_table(
    template_key("text", required=True, help="the text", write=lambda note, text: text, example="text: Run the tests."),
    choice_key("to", Audience, default="`agent`", help="`agent` or `user`", write=lambda note, _: str(note.audience)),
    choice_key(
        "place",
        NotePlace,
        default="`context`",
        help="`context`, `result`, `last_user`, `system` or `message`",
        write=lambda note, _: str(note.place),
    ),
    choice_key(
        "role",
        ROLES,
        default="`user`",
        help="of a `message`: `user`, `assistant`, `system`",
        write=lambda note, _: note.role if note.place is NotePlace.MESSAGE else NOT_WRITTEN,
    ),
    choice_key(
        "position",
        _POSITIONS,
        default="`end`",
        help="of a `message`: `start`, `before_last`, `end`",
        write=lambda note, _: note.position if note.place is NotePlace.MESSAGE else NOT_WRITTEN,
    ),
)
_TELL: Final = ActionKey(
    "tell",
    read=_parse_tell,
    write=_write_tell,
    schema=lambda: {"anyOf": [TEXT, mapping_schema(_TELL_KEYS)]},
    mapping=_TELL_KEYS,
    help="a note for the agent or the user",
    example="{tell: Run the tests before you commit.}",
)


ANSWER_KEYS: Final = (*_VERDICT_KEYS, _TELL)

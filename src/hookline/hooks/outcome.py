"""What one action asks for, and how it can fail."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import timedelta
from enum import IntEnum, StrEnum
from typing import Any, Final

from hookline.hooks.event import Changes
from hookline.lazy_dataclasses import dataclass

NOBODY_HERE: Final = "no one can approve it here"  # who answers an ask where nobody can be asked
_WITHHELD_PREFIX: Final = "[withheld: hook "
_UNCHECKED: Final = " could not check it]"


class Verdict(IntEnum):
    """The strongest verdict of all hooks becomes the decision's."""

    SILENT = 0
    ALLOW = 1
    ASK = 2
    DENY = 3

    @property
    def word(self) -> str:
        return self.name.lower()


class Audience(StrEnum):
    AGENT = "agent"
    USER = "user"


class NotePlace(StrEnum):
    """Where a host puts a note for the agent."""

    CONTEXT = "context"  # in what the agent reads next
    RESULT = "result"  # with the tool's result
    LAST_USER = "last_user"  # appended to the last user message, else to the system prompt
    SYSTEM = "system"  # appended to the system prompt, which is created if missing
    MESSAGE = "message"  # a message of its own, with `role` and `position`


@dataclass(frozen=True, slots=True)
class Note:
    text: str
    audience: Audience = Audience.AGENT
    place: NotePlace = NotePlace.CONTEXT
    role: str = "user"
    position: str = "end"  # of a MESSAGE: start, before_last or end


@dataclass(frozen=True, slots=True)
class Compact:
    """Asks the host to shorten the history after the round."""

    strategy: str = "summarize"
    keep_recent: int = 10
    summary_max_tokens: int = 1024
    summary_prompt: str | None = None
    target_pressure: float | None = None


HostRequest = Compact


@dataclass(frozen=True, slots=True)
class AskTerms:
    """What an ask counts as if nobody answers it in time, where the host can wait."""

    default: Verdict = Verdict.DENY  # or ALLOW
    within: timedelta | None = None  # None: as long as the host waits


def merge_terms(terms: Sequence[AskTerms | None]) -> AskTerms:
    """The strictest of several asks: all must default to allow, and the shortest time counts."""
    allows = bool(terms) and all(each is not None and each.default is Verdict.ALLOW for each in terms)
    times = [each.within for each in terms if each is not None and each.within is not None]
    return AskTerms(Verdict.ALLOW if allows else Verdict.DENY, min(times, default=None))


@dataclass(frozen=True, slots=True)
class Outcome:
    verdict: Verdict = Verdict.SILENT
    reason: str = ""
    changes: Changes = ()
    notes: tuple[Note, ...] = ()
    requests: tuple[HostRequest, ...] = ()
    halt: bool = False  # stop the agent
    final: bool = False  # no later hook of the same group runs
    applied: bool = True  # False: it had nothing to do, so the fire is not counted
    terms: AskTerms | None = None  # of an ask


def is_outcome(answer: object) -> bool:
    """True if it is a valid Outcome in every part. Third-party actions may return anything."""
    return (
        isinstance(answer, Outcome)
        and isinstance(answer.verdict, Verdict)
        and isinstance(answer.reason, str)
        and _is_tuple_of(answer.changes, _is_change)
        and _is_tuple_of(answer.notes, _is_note)
        and _is_tuple_of(answer.requests, lambda request: isinstance(request, Compact))
    )


def _is_tuple_of(held: object, is_one: Callable[[Any], bool]) -> bool:
    return isinstance(held, tuple) and all(map(is_one, held))


def _is_change(change: Any) -> bool:
    if not isinstance(change, tuple) or len(change) != 2:
        return False
    return _is_tuple_of(change[0], lambda step: isinstance(step, (str, int)))


def _is_note(note: Any) -> bool:
    return isinstance(note, Note) and isinstance(note.text, str) and isinstance(note.audience, Audience)


def withheld_text(hook_id: str) -> str:
    """What stands in the place of a result that a hook could not check."""
    return f"{_WITHHELD_PREFIX}{hook_id}{_UNCHECKED}"


def denied_changes(changes: Changes) -> Changes:
    """The same for a result that the hook checked and denied, too late to deny the call.

    The reason is left out: it may quote the result.
    """
    return tuple(
        (path, f"{value.removesuffix(_UNCHECKED)} denied it]" if is_withheld(value) else value)
        for path, value in changes
    )


def is_withheld(result: object) -> bool:
    """True for such a text, even if another hook added to it."""
    return isinstance(result, str) and result.startswith(_WITHHELD_PREFIX)


SILENT = Outcome()
NOT_APPLIED = Outcome(applied=False)
ALLOW = Outcome(Verdict.ALLOW)


class FailureKind(StrEnum):
    TIMEOUT = "timeout"
    CANNOT_START = "cannot_start"
    SIGNAL = "signal"
    EXIT = "exit"  # a program's exit code that its hook counts as an error
    UNREADABLE_ANSWER = "unreadable_answer"
    RAISED = "raised"
    NOT_ACCEPTED = "not_accepted"  # an answer that this event does not accept
    NOT_TRUSTED = "not_trusted"  # a project's hook that is not trusted yet
    UNAVAILABLE = "unavailable"  # the host has no tool, model or person for it


@dataclass(frozen=True, slots=True)
class Failure:
    kind: FailureKind
    text: str
    hook: str = ""
    answer: Outcome | None = None  # used instead of the hook's on_error, unless that is stronger
    partial_outcome: Outcome | None = None  # what the action asked for before it failed; it still counts
    detail: str = ""  # used instead of `text` in a reason; not for logs, as it may quote what the hook was given
    denied: bool = False  # the hook denied or asked, which the event does not accept
    is_urgent: bool = False  # the user is told each time, not once per session


class ActionError(Exception):
    """Raised by an action. `attempt` returns the Failure that it carries."""

    def __init__(
        self,
        kind: FailureKind,
        text: str,
        answer: Outcome | None = None,
        partial_outcome: Outcome | None = None,
        detail: str = "",
        *,
        is_urgent: bool = False,
    ) -> None:
        super().__init__(text)
        partial = partial_outcome
        self.failure = Failure(kind, text, answer=answer, partial_outcome=partial, detail=detail, is_urgent=is_urgent)

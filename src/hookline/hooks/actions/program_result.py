"""Turns a program's exit code and output into an outcome."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any, Final

from hookline.hooks.actions import claude_result, interchange_result
from hookline.hooks.actions.json_result import (
    MAX_REASON_CHARS,
    DuplicateKey,
    block_outcome,
    describe_bad_continue,
    describe_bad_decision,
    describe_unread_decision,
    log_answer_warnings,
    parse_answer_object,
    strip_padding,
    text_value,
    unreadable_as_deny,
    unreadable_error,
)
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.host import ProgramResult
from hookline.hooks.outcome import SILENT, ActionError, Audience, FailureKind, Note, Outcome, Verdict
from hookline.hooks.protocols import May
from hookline.lazy_dataclasses import dataclass, field, replace


class ResultFormat(StrEnum):
    NEVER = "never"  # ignore the exit code
    ERROR = "error"  # a non-zero exit is an error: the hook's on_error answers
    NONZERO = "nonzero"  # a non-zero exit denies
    EXIT2 = "exit2"  # exit 2 blocks with stderr; another code is an error that the user sees
    JSON = "json"  # like exit2, and on exit 0 a JSON object on stdout is the answer
    CLAUDE = "claude"  # like json, with the keys that Claude Code has for each event
    INTERCHANGE = "interchange"  # like json, with the keys of the Hook Interchange Format
    INTERCHANGE_ADVISORY = "interchange-advisory"  # the same, but exit 2 does not block
    CLINE = "cline"  # the others: as the coding agent of that name reads the results of its hooks
    CODEX = "codex"
    COPILOT = "copilot"
    CURSOR = "cursor"
    DROID = "droid"
    GEMINI = "gemini"
    KIMI = "kimi"
    QWEN = "qwen"


ANSWER_KEYS: Final = ("continue", "stopReason", "suppressOutput", "decision", "reason", "additionalContext")
NOT_FOUND_EXIT_CODES: Final = (126, 127)  # a shell's exit codes for a command that it cannot run
DEFAULT_REASON: Final = "{output} (exit code {exit_code})"


@dataclass(frozen=True, slots=True)
class ResultParser:
    format: ResultFormat
    tell: Audience | None = None  # who gets stdout after exit 0
    reason: str = (
        DEFAULT_REASON  # of a deny: {output} is stderr, else stdout, else the exit code if nothing else states it
    )

    block_is_deny: bool = field(default=False, compare=False)
    """A block is a deny even if the event cannot be denied, so that the hook's on_error answers, and not only a note."""

    @property
    def may(self) -> May:
        notes = May.NOTES if self.tell is Audience.AGENT else May.NOTHING
        return notes | _MAY_BY_FORMAT[self.format]

    def parse(self, finished: ProgramResult, event: Event) -> Outcome:
        outcome = _PARSERS[self.format](self, finished, event)
        return replace(outcome, verdict=Verdict.DENY) if self.block_is_deny and self._blocks(finished) else outcome

    def _blocks(self, finished: ProgramResult) -> bool:
        if self.format in (ResultFormat.NEVER, ResultFormat.ERROR, ResultFormat.NONZERO):
            return False
        if finished.exit_code or self.format is ResultFormat.EXIT2:
            return finished.exit_code == 2 and self.format is not ResultFormat.INTERCHANGE_ADVISORY
        answer = parse_answer_object(finished.stdout)
        return answer is not None and answer.get("decision") in ("deny", "block")

    def success_outcome(self, finished: ProgramResult) -> Outcome:
        """The outcome of exit 0: stdout as a note, if it is for someone."""
        text = finished.stdout.rstrip("\n")
        if self.tell is None or not text.strip():
            return SILENT
        return Outcome(notes=(Note(text, self.tell),))

    def failure_reason(self, finished: ProgramResult) -> str:
        output = (finished.stderr.strip() or finished.stdout.strip())[:MAX_REASON_CHARS]
        if not output and self.reason == DEFAULT_REASON:
            return f"exit code {finished.exit_code}"
        if not output and "{exit_code}" not in self.reason:
            output = f"exit code {finished.exit_code}"
        said = self.reason.replace("{exit_code}", str(finished.exit_code)).replace("{output}", output)
        return said.strip()


_MAY_BY_FORMAT: Final = {
    ResultFormat.NEVER: May.NOTHING,
    ResultFormat.ERROR: May.NOTHING,
    ResultFormat.NONZERO: May.DENY,
    ResultFormat.EXIT2: May.DENY | May.NOTES,
    ResultFormat.JSON: May.JUDGE | May.NOTES | May.HALT,
    ResultFormat.CLAUDE: May.JUDGE | May.NOTES | May.HALT | May.CHANGE,
    ResultFormat.INTERCHANGE: May.JUDGE | May.NOTES | May.HALT | May.CHANGE,
    ResultFormat.INTERCHANGE_ADVISORY: May.JUDGE | May.NOTES | May.HALT | May.CHANGE,
    ResultFormat.CLINE: May.DENY | May.NOTES | May.HALT | May.CHANGE,
    ResultFormat.CODEX: May.DENY | May.ASK | May.NOTES | May.HALT | May.CHANGE,
    ResultFormat.COPILOT: May.DENY | May.ASK | May.NOTES | May.HALT | May.CHANGE,
    ResultFormat.CURSOR: May.DENY | May.ASK | May.NOTES | May.HALT | May.CHANGE,
    ResultFormat.DROID: May.JUDGE | May.NOTES | May.HALT | May.CHANGE,
    ResultFormat.GEMINI: May.DENY | May.ASK | May.NOTES | May.HALT | May.CHANGE,
    ResultFormat.KIMI: May.DENY | May.NOTES,
    ResultFormat.QWEN: May.DENY | May.ASK | May.NOTES | May.HALT,
}


def not_found_error(finished: ProgramResult) -> ActionError:
    """For an exit code that is one of NOT_FOUND_EXIT_CODES."""
    said = finished.stderr.strip() or f"exit code {finished.exit_code}"
    return ActionError(FailureKind.CANNOT_START, f"could not start: {said[:MAX_REASON_CHARS]}")


def _parse_never(parser: ResultParser, finished: ProgramResult, event: Event) -> Outcome:
    if finished.exit_code in NOT_FOUND_EXIT_CODES:
        raise not_found_error(finished)
    return parser.success_outcome(finished)


def _parse_error(parser: ResultParser, finished: ProgramResult, event: Event) -> Outcome:
    if finished.exit_code:
        raise ActionError(FailureKind.EXIT, parser.failure_reason(finished))
    return parser.success_outcome(finished)


def _parse_nonzero(parser: ResultParser, finished: ProgramResult, event: Event) -> Outcome:
    if finished.exit_code:
        return Outcome(Verdict.DENY, parser.failure_reason(finished))
    return parser.success_outcome(finished)


def _parse_exit2(parser: ResultParser, finished: ProgramResult, event: Event) -> Outcome:
    if finished.exit_code == 2:
        return block_outcome(finished.stderr.strip(), event)
    if finished.exit_code:
        said = finished.stderr.strip() or f"exit code {finished.exit_code}"
        raise ActionError(FailureKind.EXIT, said[:MAX_REASON_CHARS])
    return parser.success_outcome(finished)


def _parse_json(parser: ResultParser, finished: ProgramResult, event: Event) -> Outcome:
    if finished.exit_code:
        return _parse_exit2(parser, finished, event)
    answer = _parse_stdout_object(finished, event)
    return parser.success_outcome(finished) if answer is None else _parse_answer(answer, event)


def _parse_stdout_object(finished: ProgramResult, event: Event) -> dict[str, Any] | None:
    try:
        answer = parse_answer_object(finished.stdout)
    except DuplicateKey as twice:
        raise unreadable_as_deny(str(twice), event) from None
    if answer is None and finished.is_cut and strip_padding(finished.stdout).startswith("{"):
        raise unreadable_as_deny("its answer is longer than what is kept of a program's output", event)
    return answer


def _parse_answer(answer: dict[str, Any], event: Event) -> Outcome:
    log_answer_warnings(answer, ANSWER_KEYS)
    if answer.get("continue") is False:
        why = text_value(answer, "stopReason") or text_value(answer, "reason")
        return Outcome(Verdict.SILENT, why, notes=(Note(why, Audience.USER),) if why else (), halt=True)
    context = text_value(answer, "additionalContext")
    beside = (Note(context),) if context and EVENTS[event.name].accepts & May.NOTES else ()
    outcome = _parse_decision(answer, event, beside)
    if outcome.verdict is Verdict.DENY:
        return outcome
    if (wrong := describe_bad_continue(answer)) is not None:
        raise unreadable_error(wrong, event, beside=beside)
    if (unread := describe_unread_decision(answer)) is not None:
        raise unreadable_as_deny(unread, event)
    return replace(outcome, notes=(*outcome.notes, *beside))


def _parse_decision(answer: dict[str, Any], event: Event, beside: tuple[Note, ...]) -> Outcome:
    decision, reason = answer.get("decision"), text_value(answer, "reason")
    if decision is None:
        return SILENT
    if decision in ("deny", "block"):
        return block_outcome(reason, event)
    accepts = EVENTS[event.name].accepts
    if decision == "allow" and accepts & May.ALLOW:
        return Outcome(Verdict.ALLOW, reason)
    if decision == "ask" and accepts & May.ASK:
        return Outcome(Verdict.ASK, reason)
    raise unreadable_error(describe_bad_decision(decision, event), event, reason, beside)


def _parse_claude(parser: ResultParser, finished: ProgramResult, event: Event) -> Outcome:
    later = claude_result.is_async_result(finished.stdout)
    if finished.exit_code and not later:
        return _parse_failed_claude(finished, event)
    if later:
        return _parse_exit2(parser, replace(finished, stdout=""), event)
    answer = _parse_stdout_object(finished, event)
    if answer is not None:
        return claude_result.parse_claude_result(answer, event)
    if parser.tell is None and event.name in claude_result.TEXT_CONTEXT_EVENTS:
        parser = replace(parser, tell=Audience.AGENT)
    if parser.tell is None and strip_padding(finished.stdout).startswith("{"):
        raise ActionError(FailureKind.UNREADABLE_ANSWER, "answered invalid JSON")
    return parser.success_outcome(finished)


def _parse_failed_claude(finished: ProgramResult, event: Event) -> Outcome:
    """After a non-zero exit an answer on stdout still counts, except an allow."""
    try:
        answer = _parse_stdout_object(finished, event)
        outcome = SILENT if answer is None else claude_result.parse_claude_result(answer, event)
    except ActionError:
        outcome = SILENT
    if finished.exit_code == 2 and not claude_result.is_missing_program(finished.stderr, event):
        denied = outcome.verdict is Verdict.DENY or outcome.halt
        return outcome if denied else claude_result.claude_block_outcome(finished.stderr.strip(), event)
    said = finished.stderr.strip() or f"exit code {finished.exit_code}"
    kept = replace(outcome, verdict=Verdict.SILENT, reason="") if outcome.verdict is Verdict.ALLOW else outcome
    raise ActionError(FailureKind.EXIT, said[:MAX_REASON_CHARS], None if kept == SILENT else kept)


def _parse_interchange(parser: ResultParser, finished: ProgramResult, event: Event) -> Outcome:
    blocks = parser.format is ResultFormat.INTERCHANGE
    if finished.exit_code:
        return _parse_exit2(parser, finished if blocks else replace(finished, exit_code=1), event)
    answer = _parse_stdout_object(finished, event)
    if answer is not None:
        return interchange_result.parse_interchange_result(answer, event)
    if strip_padding(finished.stdout):
        raise ActionError(FailureKind.UNREADABLE_ANSWER, "answered text that is not a JSON object")
    return SILENT


def _parse_agent_result(parser: ResultParser, finished: ProgramResult, event: Event) -> Outcome:
    from hookline.hooks.actions.agent_results import parse_agent_result  # few files have such hooks

    return parse_agent_result(parser.format, finished, event)


_PARSERS: Final[dict[ResultFormat, Callable[[ResultParser, ProgramResult, Event], Outcome]]] = {
    ResultFormat.NEVER: _parse_never,
    ResultFormat.ERROR: _parse_error,
    ResultFormat.NONZERO: _parse_nonzero,
    ResultFormat.EXIT2: _parse_exit2,
    ResultFormat.JSON: _parse_json,
    ResultFormat.CLAUDE: _parse_claude,
    ResultFormat.INTERCHANGE: _parse_interchange,
    ResultFormat.INTERCHANGE_ADVISORY: _parse_interchange,
    **dict.fromkeys(
        (
            ResultFormat.CLINE,
            ResultFormat.CODEX,
            ResultFormat.COPILOT,
            ResultFormat.CURSOR,
            ResultFormat.DROID,
            ResultFormat.GEMINI,
            ResultFormat.KIMI,
            ResultFormat.QWEN,
        ),
        _parse_agent_result,
    ),
}

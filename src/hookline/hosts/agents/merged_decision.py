"""Decisions → one answer, and that answer within what an agent's event can be told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.hooks.event import MISSING, Event, FactPath, deep_equal
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Audience, Verdict
from hookline.hooks.protocols import May
from hookline.hosts.agents.agent_event import ENDING_EVENTS, Ability

TRUNCATION_MARK: Final = " …[cut by hookline]"
_MAX_SUGGESTION: Final = 4000  # characters of a suggested input
_CHANGEABLE_PATHS: Final[dict[str, FactPath]] = {
    "tool.before": ("tool", "input"),
    "prompt.submit": ("prompt",),
    "tool.after": ("tool", "result"),
}


@dataclass(frozen=True, slots=True)
class MergedDecision:
    event: str
    verdict: Verdict = Verdict.SILENT
    reason: str = ""  # never blank where the verdict is ask or deny, or with halt
    halt: bool = False
    context: str = ""  # for the agent
    message: str = ""  # for the user
    new: Any = MISSING  # the whole input, prompt or result, if hooks changed it
    old: Any = MISSING
    is_partial: bool = False  # `new` is the input of one call among several in the payload

    @property
    def is_denied(self) -> bool:
        return self.verdict is Verdict.DENY

    @property
    def is_changed(self) -> bool:
        return self.new is not MISSING


def merge_decisions(events: Sequence[Event], decisions: Sequence[Decision]) -> MergedDecision:
    """Any deny denies the whole, any ask asks, and only if all allow is it allowed."""
    name = events[0].name
    verdict = _merge_verdicts(name, len(events), decisions)
    halting = next((each for each in decisions if each.halt), None)
    heard = next((each for each in decisions if each.verdict is verdict and each.reason.strip()), halting)
    spoken = verdict is not Verdict.SILENT or halting is not None
    reason = heard.reason.strip() if heard and spoken else ""
    new, old = _find_change(events, decisions)
    return MergedDecision(
        name,
        verdict,
        reason or _default_reason(verdict, halting is not None, len(decisions) < len(events)),
        halting is not None,
        _join_notes(decisions, Audience.AGENT),
        _join_notes(decisions, Audience.USER),
        new,
        old,
        is_partial=name == "tool.before" and len(events) > 1,
    )


def _merge_verdicts(name: str, expected: int, decisions: Sequence[Decision]) -> Verdict:
    said = [Verdict.DENY if each.halt and event_accepts(name, May.DENY) else each.verdict for each in decisions]
    strongest = max(said, default=Verdict.SILENT)
    if strongest is Verdict.DENY:
        return Verdict.DENY
    if len(decisions) < expected and event_accepts(name, May.DENY):
        return Verdict.DENY
    if strongest is Verdict.ALLOW and not all(each is Verdict.ALLOW for each in said):
        return Verdict.SILENT
    return strongest


def _default_reason(verdict: Verdict, halt: bool, unjudged: bool) -> str:
    if halt:
        return "Stopped by a hook"
    if unjudged:
        return "Not all of this could be judged by the hooks"
    return {Verdict.DENY: "Blocked by a hook", Verdict.ASK: "A hook wants somebody to look at this first"}.get(
        verdict, ""
    )


def event_accepts(event: str, answer: May) -> bool:
    return bool(EVENTS[event].accepts & answer)


def _join_notes(decisions: Sequence[Decision], audience: Audience) -> str:
    notes = [note for each in decisions for note in each.notes if note.audience is audience]
    return join_texts(note.text for note in notes)


def join_texts(texts: Iterable[str]) -> str:
    return "\n\n".join(dict.fromkeys(text for text in texts if text.strip()))


def _find_change(events: Sequence[Event], decisions: Sequence[Decision]) -> tuple[Any, Any]:
    path = _CHANGEABLE_PATHS.get(events[0].name)
    if path is None:
        return MISSING, MISSING
    for event, decision in zip(events, decisions, strict=False):
        old, new = event.read(path), decision.event.read(path)
        if not deep_equal(old, new):
            return (None if new is MISSING else new), old
    return MISSING, MISSING


def limit_to(answer: MergedDecision, ability: Ability) -> MergedDecision:
    """The nearest answer that the event can be told, never one that lets more happen."""
    answer = _limit_change(answer, ability)
    if answer.halt:
        answer = _limit_halt(answer, ability)
    answer = _limit_verdict(answer, ability)
    return _limit_texts(answer, ability)


def _limit_halt(answer: MergedDecision, ability: Ability) -> MergedDecision:
    if answer.event in ENDING_EVENTS:  # to deny it would make the agent go on
        answer = replace(answer, verdict=Verdict.SILENT)
    if ability.halt:
        return answer
    answer = replace(answer, halt=False)
    if answer.event in ENDING_EVENTS:
        return replace(answer, message=join_texts((answer.message, answer.reason)))
    if answer.is_denied:
        return answer
    return _tell_agent_or_user(answer, f"A hook stopped the agent here: {answer.reason}", "End your turn now.", ability)


def _limit_change(answer: MergedDecision, ability: Ability) -> MergedDecision:
    if not answer.is_changed or answer.is_denied:
        return replace(answer, new=MISSING)
    added = _appended_text(answer)
    if added:
        return replace(answer, new=MISSING, context=join_texts((answer.context, added)))
    if ability.change and not answer.is_partial and _is_expressible(answer):
        return answer
    suggested = truncate_utf8(value_text(answer.new), _MAX_SUGGESTION)
    if answer.event == "tool.after":
        said = f"A hook changed this result. Read it as:\n{suggested}"
        return replace(answer, new=MISSING, context=join_texts((answer.context, said)))
    what = "prompt" if answer.event == "prompt.submit" else "input"
    reason = f"A hook changed the {what}, which cannot be done here. Use this instead: {suggested}"
    asked = answer.reason if answer.verdict is Verdict.ASK else ""
    return replace(answer, new=MISSING, verdict=Verdict.DENY, reason=join_texts((reason, asked)))


def _appended_text(answer: MergedDecision) -> str:
    """What was only appended to a prompt or a result."""
    if answer.event == "tool.before":
        return ""
    old, new = value_text(answer.old), value_text(answer.new)
    return new[len(old) :].strip() if new.startswith(old) else ""


def _is_expressible(answer: MergedDecision) -> bool:
    if answer.event == "tool.before" and not isinstance(answer.new, dict):
        return False
    try:
        json.dumps(answer.new, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _limit_verdict(answer: MergedDecision, ability: Ability) -> MergedDecision:
    if answer.verdict is Verdict.ASK and not ability.ask:
        reason = f"{answer.reason} (nobody can be asked here)"
        answer = replace(answer, verdict=Verdict.DENY, reason=reason, new=MISSING)
    if answer.verdict is Verdict.ALLOW and not ability.allow:
        return replace(answer, verdict=Verdict.SILENT, reason=answer.reason if answer.halt else "")
    if answer.is_denied and not ability.deny:
        answer = replace(answer, verdict=Verdict.SILENT)
        if answer.halt:
            return answer
        return _tell_agent_or_user(answer, f"A hook denied this: {answer.reason}", "Do not go on with it.", ability)
    return answer


def _limit_texts(answer: MergedDecision, ability: Ability) -> MergedDecision:
    if answer.is_denied and answer.context:
        if answer.event == "prompt.submit":  # the agent does not get to see a denied prompt, nor what belongs to it
            return replace(answer, context="")
        return replace(answer, reason=join_texts((answer.reason, answer.context)), context="")
    if answer.context and not ability.context:
        return replace(answer, message=join_texts((answer.context, answer.message)), context="")
    return answer


def _tell_agent_or_user(answer: MergedDecision, text: str, order: str, ability: Ability) -> MergedDecision:
    """Said to the agent, with what it shall do; where it cannot hear, to the user."""
    if ability.context:
        return replace(answer, context=join_texts((answer.context, f"{text}\n{order}")))
    return replace(answer, message=join_texts((answer.message, f"{text}\nIt cannot be done here.")))


def value_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return "" if value is MISSING else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "(it cannot be shown)"


def value_as_reason(value: Any) -> str:
    """A value as a reason, which must not be blank."""
    text = value_text(value)
    return text if text.strip() else "(empty)"


def truncate_utf8(text: str, size: int) -> str:
    """At most `size` bytes of UTF-8, with a mark where something is missing."""
    held = text.encode("utf-8", "replace")
    if len(held) <= size:
        return text
    return held[: size - len(TRUNCATION_MARK.encode())].decode("utf-8", "ignore") + TRUNCATION_MARK


def json_line(said: dict[str, Any]) -> str:
    """One line of JSON, or nothing for nothing.

    A lone surrogate is replaced: a strict reader refuses it, and with it the whole answer.
    """
    return (
        replace_surrogates(json.dumps(said, ensure_ascii=False, separators=(",", ":"), allow_nan=False)) if said else ""
    )


def replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")

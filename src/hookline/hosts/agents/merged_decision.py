"""Merges the decisions about a payload into one answer, and limits it to what an agent's event supports."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.hooks.event import MISSING, Event, FactPath, deep_equal
from hookline.hooks.events import ENDING_EVENTS, EVENTS
from hookline.hooks.outcome import Audience, Verdict
from hookline.hooks.protocols import May
from hookline.hosts.agents.agent_event import Ability
from hookline.lazy_dataclasses import dataclass, replace

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
    reason: str = ""  # never blank if the verdict is ask or deny, or with halt
    halt: bool = False
    context: str = ""  # for the agent
    message: str = ""  # for the user
    new: Any = MISSING  # the whole input, prompt or result, if hooks changed it
    old: Any = MISSING
    is_partial: bool = False  # `new` is the input of one call among several in the payload
    source: str = ""  # the end of `reason`: the hook and its place in a file

    @property
    def is_denied(self) -> bool:
        return self.verdict is Verdict.DENY

    def add_to_reason(self, remark: str) -> str:
        """The reason with a remark. It still ends with the hook and its place."""
        return f"{self.reason.removesuffix(self.source)} {remark}{self.source}"

    @property
    def is_changed(self) -> bool:
        return self.new is not MISSING


def merge_for(ability: Ability, events: Sequence[Event], decisions: Sequence[Decision]) -> MergedDecision:
    """All decisions as one, as far as the event supports it."""
    if len(events) == 1 == len(decisions) and _says_nothing(events, decisions):
        return _silent_answer(events[0].name)
    return limit_to(merge_decisions(events, decisions), ability)


@cache  # one for each event
def _silent_answer(event: str) -> MergedDecision:
    return MergedDecision(event)


def _says_nothing(events: Sequence[Event], decisions: Sequence[Decision]) -> bool:
    """As almost every decision does: then there is nothing to merge and nothing to limit."""
    only = decisions[0]
    if only.verdict is not Verdict.SILENT or only.halt or only.notes:
        return False
    return _find_change(events, decisions)[0] is MISSING


def merge_decisions(events: Sequence[Event], decisions: Sequence[Decision]) -> MergedDecision:
    """Any deny denies the whole call, any ask asks, and it is allowed only if every decision allows."""
    name = events[0].name
    verdict = _merge_verdicts(name, len(events), decisions)
    halting = next((each for each in decisions if each.halt), None)
    deciding = next((each for each in decisions if each.verdict is verdict and each.reason.strip()), halting)
    needs_reason = verdict is not Verdict.SILENT or halting is not None
    reason = deciding.reason.strip() if deciding and needs_reason else ""
    source = _reason_source(name, deciding) if deciding and reason else ""
    new, old = _find_change(events, decisions)
    return MergedDecision(
        name,
        verdict,
        (reason + source) or _default_reason(verdict, halting is not None, len(decisions) < len(events)),
        halting is not None,
        _join_notes(decisions, Audience.AGENT),
        _join_notes(decisions, Audience.USER),
        new,
        old,
        is_partial=name == "tool.before" and len(events) > 1,
        source=source,
    )


def _reason_source(event: str, decision: Decision) -> str:
    """An agent takes the reason of a denied stop as its next instruction, so nothing is added to it."""
    return "" if event in ENDING_EVENTS and not decision.halt else decision.source


def _merge_verdicts(name: str, expected: int, decisions: Sequence[Decision]) -> Verdict:
    verdicts = [Verdict.DENY if each.halt and event_accepts(name, May.DENY) else each.verdict for each in decisions]
    strongest = max(verdicts, default=Verdict.SILENT)
    if strongest is Verdict.DENY:
        return Verdict.DENY
    if len(decisions) < expected and event_accepts(name, May.DENY):
        return Verdict.DENY
    if strongest is Verdict.ALLOW and not all(each is Verdict.ALLOW for each in verdicts):
        return Verdict.SILENT
    return strongest


def _default_reason(verdict: Verdict, halt: bool, is_incomplete: bool) -> str:
    if halt:
        return "Stopped by a hook"
    if is_incomplete:
        return "The hooks could not check all of this"
    return {Verdict.DENY: "Blocked by a hook", Verdict.ASK: "A hook requires approval"}.get(verdict, "")


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
        if decision.event is event:
            continue
        old, new = event.read(path), decision.event.read(path)
        if not deep_equal(old, new):
            return (None if new is MISSING else new), old
    return MISSING, MISSING


def limit_to(answer: MergedDecision, ability: Ability) -> MergedDecision:
    """The nearest answer that the event supports. It never permits more than the given one."""
    answer = _limit_change(answer, ability)
    if answer.halt:
        answer = _limit_halt(answer, ability)
    answer = _limit_verdict(answer, ability)
    return _limit_texts(answer, ability)


def removes_fields(answer: MergedDecision) -> bool:
    """True if the new input lacks fields of the old one: an agent that merges the two would keep them."""
    old, new = answer.old, answer.new
    return answer.is_changed and isinstance(old, dict) and isinstance(new, dict) and bool(old.keys() - new.keys())


def _limit_halt(answer: MergedDecision, ability: Ability) -> MergedDecision:
    if answer.event in ENDING_EVENTS:  # a deny would make the agent continue
        answer = replace(answer, verdict=Verdict.SILENT)
    if ability.halt:
        return answer
    answer = replace(answer, halt=False)
    if answer.event in ENDING_EVENTS:
        return replace(answer, message=join_texts((answer.message, answer.reason)))
    if answer.is_denied:
        return answer
    return _tell_agent_or_user(answer, f"A hook stopped the agent: {answer.reason}", "End your turn now.", ability)


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
        text = f"A hook changed this result. Read it as:\n{suggested}"
        return replace(answer, new=MISSING, context=join_texts((answer.context, text)))
    what = "prompt" if answer.event == "prompt.submit" else "input"
    reason = f"A hook changed the {what}, but the change cannot be applied here. Use this instead: {suggested}"
    ask_reason = answer.reason if answer.verdict is Verdict.ASK else ""
    return replace(answer, new=MISSING, verdict=Verdict.DENY, reason=join_texts((reason, ask_reason)))


def _appended_text(answer: MergedDecision) -> str:
    """The appended text, if a prompt or a result was changed in no other way."""
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
        reason = answer.add_to_reason("(approval cannot be requested here)")
        answer = replace(answer, verdict=Verdict.DENY, reason=reason, new=MISSING)
    if answer.verdict is Verdict.ALLOW and not ability.allow:
        return replace(answer, verdict=Verdict.SILENT, reason=answer.reason if answer.halt else "")
    if answer.is_denied and not ability.deny:
        answer = replace(answer, verdict=Verdict.SILENT)
        if answer.halt:
            return answer
        return _tell_agent_or_user(answer, f"A hook denied this: {answer.reason}", "Do not continue with it.", ability)
    return answer


def _limit_texts(answer: MergedDecision, ability: Ability) -> MergedDecision:
    if answer.is_denied and answer.context:
        if answer.event == "prompt.submit":  # the agent sees neither a denied prompt nor its context
            return replace(answer, context="")
        return replace(answer, reason=join_texts((answer.reason, answer.context)), context="")
    if answer.context and not ability.context:
        return replace(answer, message=join_texts((answer.context, answer.message)), context="")
    return answer


def _tell_agent_or_user(answer: MergedDecision, text: str, order: str, ability: Ability) -> MergedDecision:
    """Tells the agent what to do, or the user if the event carries no text for the agent."""
    if ability.context:
        return replace(answer, context=join_texts((answer.context, f"{text}\n{order}")))
    return replace(answer, message=join_texts((answer.message, f"{text}\nThe agent does not support that here.")))


def value_text(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return "" if value is MISSING else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "(cannot be displayed)"


def value_as_reason(value: Any) -> str:
    """The value as a reason, which must not be blank."""
    text = value_text(value)
    return text if text.strip() else "(empty)"


def truncate_utf8(text: str, size: int) -> str:
    """At most `size` bytes of UTF-8, with a mark if something was cut."""
    data = text.encode("utf-8", "replace")
    if len(data) <= size:
        return text
    return data[: size - len(TRUNCATION_MARK.encode())].decode("utf-8", "ignore") + TRUNCATION_MARK


def json_line(output: dict[str, Any]) -> str:
    """One line of JSON; empty for an empty object.

    Lone surrogates are replaced, because a strict reader rejects the whole reply for one.
    """
    if not output:
        return ""
    return replace_surrogates(json.dumps(output, ensure_ascii=False, separators=(",", ":"), allow_nan=False))


def replace_surrogates(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")

"""Decisions → one answer, and that answer within what an agent's event can be told."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from hookline.engine.account import Decision
from hookline.hooks.action import May
from hookline.hooks.event import MISSING, Event, Path, same
from hookline.hooks.events import EVENTS
from hookline.hooks.outcome import Audience, Verdict
from hookline.hosts.agent import Ability

CUT: Final = " …[cut by hookline]"
_SUGGESTED: Final = 4000  # characters of a suggested input
ENDINGS: Final = {"stop", "subagent.end"}
_NEW: Final[dict[str, Path]] = {
    "tool.before": ("tool", "input"),
    "prompt.submit": ("prompt",),
    "tool.after": ("tool", "result"),
}


@dataclass(frozen=True, slots=True)
class Answer:
    event: str
    verdict: Verdict = Verdict.SILENT
    reason: str = ""  # never blank where the verdict is ask or deny, or with halt
    halt: bool = False
    context: str = ""  # for the agent
    message: str = ""  # for the user
    new: Any = MISSING  # the whole input, prompt or result, if hooks changed it
    old: Any = MISSING
    part: bool = False  # `new` is the input of one call among several in the payload

    @property
    def denied(self) -> bool:
        return self.verdict is Verdict.DENY

    @property
    def changed(self) -> bool:
        return self.new is not MISSING


def combined(events: Sequence[Event], decisions: Sequence[Decision]) -> Answer:
    """Any deny denies the whole, any ask asks, and only if all allow is it allowed."""
    name = events[0].name
    verdict = _verdict(name, len(events), decisions)
    halting = next((each for each in decisions if each.halt), None)
    heard = next((each for each in decisions if each.verdict is verdict and each.reason.strip()), halting)
    spoken = verdict is not Verdict.SILENT or halting is not None
    reason = heard.reason.strip() if heard and spoken else ""
    new, old = _changed(events, decisions)
    return Answer(
        name,
        verdict,
        reason or _default(verdict, halting is not None, len(decisions) < len(events)),
        halting is not None,
        _notes(decisions, Audience.AGENT),
        _notes(decisions, Audience.USER),
        new,
        old,
        part=name == "tool.before" and len(events) > 1,
    )


def _verdict(name: str, expected: int, decisions: Sequence[Decision]) -> Verdict:
    said = [Verdict.DENY if each.halt and takes(name, May.DENY) else each.verdict for each in decisions]
    strongest = max(said, default=Verdict.SILENT)
    if strongest is Verdict.DENY:
        return Verdict.DENY
    if len(decisions) < expected and takes(name, May.DENY):
        return Verdict.DENY
    if strongest is Verdict.ALLOW and not all(each is Verdict.ALLOW for each in said):
        return Verdict.SILENT
    return strongest


def _default(verdict: Verdict, halt: bool, unjudged: bool) -> str:
    if halt:
        return "Stopped by a hook"
    if unjudged:
        return "Not all of this could be judged by the hooks"
    return {Verdict.DENY: "Blocked by a hook", Verdict.ASK: "A hook wants somebody to look at this first"}.get(
        verdict, ""
    )


def takes(event: str, answer: May) -> bool:
    return bool(EVENTS[event].accepts & answer)


def _notes(decisions: Sequence[Decision], audience: Audience) -> str:
    notes = [note for each in decisions for note in each.notes if note.audience is audience]
    return joined(note.text for note in notes)


def joined(texts: Iterable[str]) -> str:
    return "\n\n".join(dict.fromkeys(text for text in texts if text.strip()))


def _changed(events: Sequence[Event], decisions: Sequence[Decision]) -> tuple[Any, Any]:
    path = _NEW.get(events[0].name)
    if path is None:
        return MISSING, MISSING
    for event, decision in zip(events, decisions, strict=False):
        old, new = event.read(path), decision.event.read(path)
        if not same(old, new):
            return (None if new is MISSING else new), old
    return MISSING, MISSING


def within(answer: Answer, ability: Ability) -> Answer:
    """The nearest answer that the event can be told, never one that lets more happen."""
    answer = _change_within(answer, ability)
    if answer.halt:
        answer = _halt_within(answer, ability)
    answer = _verdict_within(answer, ability)
    return _texts_within(answer, ability)


def _halt_within(answer: Answer, ability: Ability) -> Answer:
    if answer.event in ENDINGS:  # to deny it would make the agent go on
        answer = replace(answer, verdict=Verdict.SILENT)
    if ability.halt:
        return answer
    answer = replace(answer, halt=False)
    if answer.event in ENDINGS:
        return replace(answer, message=joined((answer.message, answer.reason)))
    if answer.denied:
        return answer
    return _told(answer, f"A hook stopped the agent here: {answer.reason}", "End your turn now.", ability)


def _change_within(answer: Answer, ability: Ability) -> Answer:
    if not answer.changed or answer.denied:
        return replace(answer, new=MISSING)
    added = _added(answer)
    if added:
        return replace(answer, new=MISSING, context=joined((answer.context, added)))
    if ability.change and not answer.part and _sayable(answer):
        return answer
    suggested = cut(text_of(answer.new), _SUGGESTED)
    if answer.event == "tool.after":
        said = f"A hook changed this result. Read it as:\n{suggested}"
        return replace(answer, new=MISSING, context=joined((answer.context, said)))
    what = "prompt" if answer.event == "prompt.submit" else "input"
    reason = f"A hook changed the {what}, which cannot be done here. Use this instead: {suggested}"
    asked = answer.reason if answer.verdict is Verdict.ASK else ""
    return replace(answer, new=MISSING, verdict=Verdict.DENY, reason=joined((reason, asked)))


def _added(answer: Answer) -> str:
    """What was only appended to a prompt or a result."""
    if answer.event == "tool.before":
        return ""
    old, new = text_of(answer.old), text_of(answer.new)
    return new[len(old) :].strip() if new.startswith(old) else ""


def _sayable(answer: Answer) -> bool:
    if answer.event == "tool.before" and not isinstance(answer.new, dict):
        return False
    try:
        json.dumps(answer.new, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def _verdict_within(answer: Answer, ability: Ability) -> Answer:
    if answer.verdict is Verdict.ASK and not ability.ask:
        reason = f"{answer.reason} (nobody can be asked here)"
        answer = replace(answer, verdict=Verdict.DENY, reason=reason, new=MISSING)
    if answer.verdict is Verdict.ALLOW and not ability.allow:
        return replace(answer, verdict=Verdict.SILENT, reason=answer.reason if answer.halt else "")
    if answer.denied and not ability.deny:
        answer = replace(answer, verdict=Verdict.SILENT)
        if answer.halt:
            return answer
        return _told(answer, f"A hook denied this: {answer.reason}", "Do not go on with it.", ability)
    return answer


def _texts_within(answer: Answer, ability: Ability) -> Answer:
    if answer.denied and answer.context:
        if answer.event == "prompt.submit":  # the agent does not get to see a denied prompt, nor what belongs to it
            return replace(answer, context="")
        return replace(answer, reason=joined((answer.reason, answer.context)), context="")
    if answer.context and not ability.context:
        return replace(answer, message=joined((answer.context, answer.message)), context="")
    return answer


def _told(answer: Answer, text: str, order: str, ability: Ability) -> Answer:
    """Said to the agent, with what it shall do; where it cannot hear, to the user."""
    if ability.context:
        return replace(answer, context=joined((answer.context, f"{text}\n{order}")))
    return replace(answer, message=joined((answer.message, f"{text}\nIt cannot be done here.")))


def text_of(value: Any) -> str:
    if isinstance(value, str):
        return value
    try:
        return "" if value is MISSING else json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        return "(it cannot be shown)"


def worded(value: Any) -> str:
    """A value as a reason, which must not be blank."""
    text = text_of(value)
    return text if text.strip() else "(empty)"


def cut(text: str, size: int) -> str:
    """At most `size` bytes of UTF-8, with a mark where something is missing."""
    held = text.encode("utf-8", "replace")
    if len(held) <= size:
        return text
    return held[: size - len(CUT.encode())].decode("utf-8", "ignore") + CUT


def line(said: dict[str, Any]) -> str:
    """One line of JSON, or nothing for nothing.

    A lone surrogate is replaced: a strict reader refuses it, and with it the whole answer.
    """
    return clean(json.dumps(said, ensure_ascii=False, separators=(",", ":"), allow_nan=False)) if said else ""


def clean(text: str) -> str:
    return text.encode("utf-8", "surrogatepass").decode("utf-8", "replace")

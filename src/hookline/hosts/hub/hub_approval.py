"""Turns a decision that asks into what a person answered at the hub."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Any, Final

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.hosts.hub.hub_file import AskAt, JoinedHub
from hookline.hosts.hub.hub_questions import HubAnswer, HubQuestion, ask_hub, report_denied_edit
from hookline.lazy_dataclasses import dataclass, replace

_UNATTENDED_MODES: Final = ("bypassPermissions", "dontAsk")  # in which Claude Code shows no question

DecideAgain = Callable[[Event], Awaitable[Decision]]


@dataclass(frozen=True, slots=True)
class SettledAsk:
    decision: Decision
    answer: HubAnswer

    @property
    def edit_denied(self) -> bool:
        """Whether hooks denied the input that the person approved instead."""
        return self.answer.edited is not None and (self.decision.denied or self.decision.halt)


def should_ask_hub(hub: JoinedHub, event: Event, can_ask: bool) -> bool:
    """`can_ask`: the host can ask a person by itself."""
    if hub.ask is not AskAt.AUTO:
        return hub.ask is AskAt.HUB
    return not can_ask or event.read(("session", "mode")) in _UNATTENDED_MODES


async def settle_ask(
    hub: JoinedHub, decision: Decision, patience: timedelta, can_edit: bool, decide: DecideAgain
) -> SettledAsk | None:
    """The decision with the person's answer. None if nobody answered: then the host does what it would do without a hub.

    An input that the person changed is decided again, as the hooks' own: a deny counts, an ask is answered by the person who
    wrote it. The hub is told of a deny.
    """
    until = time.monotonic() + patience.total_seconds()
    answer = await ask_hub(hub, _question_about(decision, can_edit), patience)
    if answer is None:
        return None
    settled = SettledAsk(await _apply_answer(decision, answer, can_edit, decide), answer)
    if settled.edit_denied:
        await report_denied_edit(hub, answer.question, until - time.monotonic())
    return settled


async def _apply_answer(decision: Decision, answer: HubAnswer, can_edit: bool, decide: DecideAgain) -> Decision:
    if not answer.approved:
        why = f": {answer.why}" if answer.why else ""
        reason = f"{decision.reason or 'This was not approved'} ({answer.by or 'a person'} denied it{why})"
        return replace(decision, verdict=Verdict.DENY, reason=reason)
    if answer.edited is None:
        return replace(decision, verdict=Verdict.ALLOW, reason=_approval_text(answer))
    if not can_edit:
        reason = f"{decision.reason} (the input was changed, which cannot be done here)"
        return replace(decision, verdict=Verdict.DENY, reason=reason)
    again = await decide(_with_input(decision.event, answer.edited))
    if again.denied or again.halt:
        return again
    notes = (*decision.notes, *again.notes)
    return replace(again, verdict=Verdict.ALLOW, reason=_approval_text(answer), notes=notes)


def _approval_text(answer: HubAnswer) -> str:
    return f"Approved by {answer.by or 'a person'} at the hub"


def _question_about(decision: Decision, can_edit: bool) -> HubQuestion:
    facts = decision.event.facts
    tool: dict[str, Any] = facts["tool"]
    return HubQuestion(
        host=_text(facts, "host", "name"),
        session=_text(facts, "session", "id"),
        tool=tool["name"],
        input=tool["input"],
        reason=decision.full_reason,
        hook=decision.by or "",
        call=_text(facts, "tool", "id"),
        agent=_text(facts, "agent", "name"),
        can_edit=can_edit,
    )


def _text(facts: dict[str, Any], name: str, key: str) -> str:
    held = facts.get(name)
    value = held.get(key) if isinstance(held, dict) else None
    return value if isinstance(value, str) else ""


def _with_input(event: Event, input: dict[str, Any]) -> Event:
    return Event(event.name, {**event.facts, "tool": {**event.facts["tool"], "input": input}})

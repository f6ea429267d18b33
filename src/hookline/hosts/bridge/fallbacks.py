"""Emulates what an agent's protocol lacks: halt and context are delivered on a later event.

A result that must be withheld, where the agent cannot replace it, halts the agent.

An agent may stop after hooks have kept it from that MAX_DENIED_STOPS times in a row.

An agent that cannot be halted has every tool denied until the user's next prompt. If it was halted at the session's
start, prompts are denied too. Context for the agent waits for the next event that can carry it.
"""

from __future__ import annotations

from typing import Final

from hookline.engine.decision import Decision
from hookline.hooks.event import Event, FactPath
from hookline.hooks.events import ENDING_EVENTS
from hookline.hooks.outcome import Audience, Note, Verdict, is_withheld
from hookline.hosts.agents.agent import CodingAgent
from hookline.hosts.agents.agent_event import Ability
from hookline.hosts.bridge.session_state import SessionStore
from hookline.hosts.denied_stops import add_stop_active, denies_stop, lacks_stop_active, limit_denied_stops
from hookline.lazy_dataclasses import dataclass, replace

_DENIED_AFTER_HALT: Final = frozenset({"prompt.submit", "tool.before", "approval.request", "subagent.start"})
_NO_ABILITY: Final = Ability()
_RESULT_PATH: Final[FactPath] = ("tool", "result")


@dataclass(frozen=True, slots=True)
class Fallbacks:
    agent: CodingAgent
    name: str  # the event, as the agent calls it
    sessions: SessionStore

    def deny_after_halt(self, event: Event) -> Decision | None:
        """Denies what an agent does after a hook has halted it."""
        if event.name in ("session.start", "prompt.submit"):
            self.sessions.resume(event)
            self.sessions.count_stop(event, denied=False)
        reason = self.sessions.halt_reason(event) if event.name in _DENIED_AFTER_HALT else ""
        return Decision(event, Verdict.DENY, f"A hook has stopped the agent: {reason}") if reason else None

    def add_stop_active(self, event: Event) -> Event:
        """Says whether hooks have already kept the agent from stopping, if the agent does not."""
        return add_stop_active(event, self.sessions.denied_stops(event)) if lacks_stop_active(event) else event

    def limit_denied_stops(self, event: Event, decision: Decision) -> Decision:
        """Counts the denied stops of the session."""
        if not self._ability.deny:
            return decision
        limited = limit_denied_stops(decision, self.sessions.denied_stops(event))
        self.sessions.count_stop(event, denied=denies_stop(limited))
        return limited

    def denies_instead_of_asking(self, event: Event) -> bool:
        """Whether a call about which hooks ask is denied, because the agent cannot ask its user."""
        return event.name == "tool.before" and self._ability.deny and not self._ability.ask

    def apply(self, event: Event, decision: Decision) -> Decision:
        ability = self._ability
        if not ability.change:
            decision = _halt_instead_of_withholding(event, decision)
        if decision.halt and not ability.halt and event.name not in ENDING_EVENTS and self._has_prompt_event:
            self.sessions.halt(event, decision.full_reason.strip() or "Stopped by a hook")
        if ability.context:
            kept = self.sessions.take_context(event)
            return replace(decision, notes=(*map(Note, kept), *decision.notes)) if kept else decision
        return self._keep_context(event, decision)

    def _keep_context(self, event: Event, decision: Decision) -> Decision:
        texts = [note.text for note in decision.notes if note.audience is Audience.AGENT]
        if not texts or decision.verdict is Verdict.DENY or decision.halt or not self._can_deliver_later(event):
            return decision
        self.sessions.keep_context(event, texts)
        return replace(decision, notes=tuple(n for n in decision.notes if n.audience is not Audience.AGENT))

    def _can_deliver_later(self, event: Event) -> bool:
        """True if a later event of the same session can carry context."""
        later = {"tool.after", "prompt.submit"} if event.name != "session.end" else set()
        return any(each.event in later and each.ability.context for each in self.agent.events)

    @property
    def _has_prompt_event(self) -> bool:
        """Without a prompt event, nothing would ever lift the halt."""
        return any(each.event == "prompt.submit" for each in self.agent.events)

    @property
    def _ability(self) -> Ability:
        known = self.agent.find_event(self.name)
        return known.ability if known is not None else _NO_ABILITY


def _halt_instead_of_withholding(event: Event, decision: Decision) -> Decision:
    """A hook with `on_error: closed` could not check a result that the agent gets nevertheless."""
    result = decision.event.read(_RESULT_PATH)
    if event.name != "tool.after" or not is_withheld(result) or result == event.read(_RESULT_PATH):
        return decision
    reason = decision.reason or f"This result must not be used: {result}"
    return replace(decision, halt=True, reason=reason)

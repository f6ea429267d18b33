"""Lets hookline's own engine decide an event that the solver made up. Nothing is run: see `_for_judging`."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from hookline.engine.book import Book, Layer
from hookline.engine.decision import Decision
from hookline.errors import AmbiguousField, ConditionError, UndecidedError
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.change import ChangeFacts
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.event import Event
from hookline.hooks.hook import UNLIMITED, Hook
from hookline.hooks.outcome import SILENT, Verdict
from hookline.hooks.readings import holds_in_readings
from hookline.hooks.session_facts import SessionInfo, session_facts
from hookline.lazy_dataclasses import dataclass, replace
from hookline.prove.properties import Property
from hookline.prove.sure_guards import certain_answer, fires_always, may_matter

_WITHOUT_EFFECTS: Final = (FixedAnswer, TemplateAnswer, ChangeFacts, HoldCall)
_SESSION: Final = "prove"


@dataclass(frozen=True, slots=True)
class Judgement:
    meets_property: bool  # whether the property is about this event
    is_stopped: bool
    stopped_by: tuple[Hook, ...] = ()
    unknown: tuple[Hook, ...] = ()  # hooks that would be asked and whose answer nobody knows


class Judge:
    """`directory` is where the session would run."""

    def __init__(self, book: Book, wanted: Property, directory: Path) -> None:
        self._property = wanted
        self._session = SessionInfo(_SESSION, "user", directory, 0.0)
        self._originals: dict[int, Hook] = {}  # by id() of the hook that stands for it
        self._unknown: dict[int, Hook] = {}
        self._book = Book([self._layer(layer) for layer in book.layers])

    def _layer(self, layer: Layer) -> Layer:
        event = self._property.event
        hooks = [hook for hook in layer.hooks if hook.event == event]
        judged = [self._for_judging(hook) for hook in hooks]
        if all(one is other for one, other in zip(hooks, judged, strict=True)):
            return layer
        return Layer(layer.name, [hook for hook in judged if hook is not None])

    def _for_judging(self, hook: Hook) -> Hook | None:
        """The hook without effects; one that says nothing for a hook whose answer nobody knows."""
        if not hook.wait or not hook.enabled:
            return None
        if fires_always(hook) and isinstance(hook.then, _WITHOUT_EFFECTS):
            return hook
        answer = certain_answer(hook.then) if fires_always(hook) else None
        judged = replace(hook, then=FixedAnswer(answer or SILENT), limit=UNLIMITED, on_error=SILENT)
        if answer is not None:
            self._originals[id(judged)] = hook
        elif may_matter(hook):
            self._unknown[id(judged)] = hook
        return judged

    def complete(self, facts: dict[str, Any]) -> Event:
        """The event with the facts that every session has."""
        return Event(self._property.event, session_facts(self._property.event, facts, self._session))

    def judge(self, facts: dict[str, Any]) -> Judgement:
        event = self.complete(facts)
        if not self._meets_property(event):
            return Judgement(False, False)
        decision = self._book.decide_now(event)
        stopping = self._property.stopping
        ran = [entry for entry in decision.trace if not entry.skip_reason and entry.outcome is not None]
        stopped_by = [
            self._originals.get(id(entry.hook), entry.hook)
            for entry in ran
            if entry.outcome is not None and (entry.outcome.verdict in stopping or entry.outcome.halt)
        ]
        unknown = [self._unknown[id(entry.hook)] for entry in ran if id(entry.hook) in self._unknown]
        return Judgement(True, _is_stopped(decision, stopping), tuple(stopped_by), tuple(unknown))

    def _meets_property(self, event: Event) -> bool:
        try:
            return holds_in_readings(self._property.condition, event, every=False)
        except (UndecidedError, ConditionError, AmbiguousField):
            return False


def _is_stopped(decision: Decision, stopping: frozenset[Verdict]) -> bool:
    return decision.verdict in stopping or decision.halt

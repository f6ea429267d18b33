"""The rules of a decision as plain loops, for tests: no index, no shortcuts. The engine must decide as this does.

The hooks of one event are asked in order about the event as the hooks before them left it. Then those that may stop it
and came before the last change are asked again. Then the background hooks run.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hookline.errors import AmbiguousField, ConditionError, UnavailableError
from hookline.hooks import outcome as outcomes
from hookline.hooks.attempt import accept_outcome
from hookline.hooks.conditions.tool import tool_matchers
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.field_readings import strictest_answer
from hookline.hooks.hook import Hook
from hookline.hooks.host import NO_HOST, CurrentHook, Host, current_hook
from hookline.hooks.outcome import SILENT, ActionError, Audience, Failure, FailureKind, Note, Outcome, Verdict
from hookline.hooks.protocols import May
from hookline.hooks.readings import holds_in_readings

Fires = Counter[tuple[str, str, str]]  # by the hook's key


@dataclass
class ReferenceDecision:
    event: Event
    verdict: Verdict = Verdict.SILENT
    reason: str = ""
    by: str | None = None
    halt: bool = False
    notes: list[Note] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    failures: list[tuple[str, str]] = field(default_factory=list)  # hook and kind
    asked: list[tuple[str, bool]] = field(default_factory=list)  # hook, and whether again


@dataclass
class Answer:
    at: int  # the hook's place in the order
    hook: Hook
    outcome: Outcome
    again: bool


def in_order(layers: Sequence[Sequence[Hook]]) -> list[Hook]:
    """Lower order first, then as loaded."""
    places = [(hook.order, n, at) for n, layer in enumerate(layers) for at, hook in enumerate(layer)]
    return [layers[n][at] for _, n, at in sorted(places)]


class ReferenceRound:
    def __init__(
        self, layers: Sequence[Sequence[Hook]], event: Event, host: Host = NO_HOST, fires: Fires | None = None
    ) -> None:
        self.hooks = [hook for hook in in_order(layers) if hook.event == event.name]
        self.event = event
        self.host = host
        self.fires: Fires = Counter() if fires is None else fires  # how often each hook fired in the session
        self.answers: list[Answer] = []
        self.found = ReferenceDecision(event)
        self.fired: set[int] = set()
        self.last_change = -1
        self.stopped_event: Event | None = None  # as it was at the first deny
        self.denied_groups: set[str] = set()
        self.ended_groups: dict[str, int] = {}  # by an answer that is final
        self.background: list[tuple[Hook, Event]] = []
        self.undecided: set[tuple[str, str, str]] = set()

    async def decide(self) -> ReferenceDecision:
        for at, hook in enumerate(self.hooks):
            await self.ask(at, hook)
        if self.last_change >= 0 and not self.is_over():
            await self.ask_again()
        return self.decision()

    async def ask(self, at: int, hook: Hook) -> None:
        holds = self.holds(at, hook)
        if holds is False:
            return
        if isinstance(holds, Failure) and not hook.fires_undecided(self.event):
            if (outcome := self.counted(hook, holds)) != SILENT and hook.wait:
                self.hear(at, hook, outcome)
            return
        if hook.limit.max_fires is not None and self.fires[hook.key] >= hook.limit.max_fires:
            return
        if isinstance(holds, Failure):
            self.note_failure(hook, holds)
        self.fires[hook.key] += 1
        self.fired.add(at)
        if not hook.wait:
            self.background.append((hook, self.event))
            self.found.asked.append((hook.id, False))
            return
        answer = await run(hook, self.event, self.host)
        self.fires[hook.key] -= isinstance(answer, Failure) or not answer.applied
        self.hear(at, hook, self.counted(hook, answer))

    def hear(self, at: int, hook: Hook, outcome: Outcome) -> None:
        self.found.asked.append((hook.id, False))
        if outcome.verdict is not Verdict.DENY:
            before, self.event = self.event, self.event.with_changes(outcome.changes)
            if what_runs(before) != what_runs(self.event):
                self.last_change = at
                self.answers = [given for given in self.answers if given.outcome.verdict is not Verdict.ALLOW]
        self.count(Answer(at, hook, outcome, again=False))
        self.found.notes += outcome.notes
        self.found.requests += outcome.requests
        if outcome.final and hook.group:
            self.ended_groups.setdefault(hook.group, at)

    async def ask_again(self) -> None:
        final_asks = [a for a in self.answers if a.at >= self.last_change and a.outcome.verdict is Verdict.ASK]
        for at, hook in enumerate(self.hooks[: self.last_change]):
            holds = self.holds(at, hook)
            if holds is False or not hook.wait or not hook.judges:
                continue
            limited = hook.limit.max_fires is not None and self.fires[hook.key] >= hook.limit.max_fires
            if at not in self.fired and limited:
                continue
            if isinstance(holds, Failure) and not hook.fires_undecided(self.event):
                if (outcome := self.counted(hook, holds)) == SILENT:
                    continue
            else:
                if isinstance(holds, Failure):
                    self.note_failure(hook, holds)
                outcome = self.counted(hook, await run(hook, self.event, self.host, again=True))
            self.found.asked.append((hook.id, True))
            paths = [path for path, _ in hook.on_error.changes]
            withheld = outcome.changes[-len(paths) :] if paths else ()
            withheld = withheld if [path for path, _ in withheld] == paths else ()
            self.event = self.event.with_changes(withheld)
            if outcome.verdict >= Verdict.ASK or outcome.halt or withheld:
                self.count(Answer(at, hook, outcome, again=True))
                self.found.notes += [note for note in outcome.notes if note not in self.found.notes]
                final_asks += self.answers[-1:] if outcome.verdict is Verdict.ASK else []
        self.reword_ask(final_asks)

    def reword_ask(self, final_asks: list[Answer]) -> None:
        """A person reads the first question about the final event, or that the question is older."""
        found = self.found
        if found.verdict is Verdict.ASK and not found.halt:
            if final_asks:
                first = min(final_asks, key=lambda answer: (answer.at, not answer.again))
                found.reason, found.by = first.outcome.reason, first.hook.id
            else:
                found.reason = f"{found.reason} (asked before a hook changed it)".lstrip()

    async def run_background(self) -> list[str]:
        """The hooks whose action ran. Their answers do not count."""
        ended, ran = set[str](), []
        for hook, event in self.background:
            fired = False
            if hook.group not in ended:
                ran.append(hook.id)
                fired = isinstance(answer := await run_once(hook, event, self.host), Outcome) and answer.applied
                if isinstance(answer, Failure) and answer_to(label(answer, hook), hook.on_error).final and hook.group:
                    ended.add(hook.group)
            if not fired:
                self.fires[hook.key] -= 1
        return ran

    def holds(self, at: int, hook: Hook) -> bool | Failure:
        """A failure if it cannot be known. A guard is asked all the same; for any other hook its on_error answers."""
        ended = self.found.halt or hook.group in self.denied_groups or at > self.ended_groups.get(hook.group, at)
        if ended or not hook.enabled or not hook.scope.covers(self.event):
            return False
        try:
            return hook.when.holds(self.event)
        except AmbiguousField:
            return holds_in_readings(hook.when, self.event, every=hook.only_allows)
        except Exception as error:
            why = str(error) if isinstance(error, ConditionError) else f"it raised {type(error).__name__}"
            return Failure(FailureKind.RAISED, f"the condition of hook {hook.id} could not be evaluated: {why}")

    def is_over(self) -> bool:
        return self.found.halt or all(hook.group in self.denied_groups for hook in self.hooks)

    def counted(self, hook: Hook, answer: Outcome | Failure) -> Outcome:
        """The part of an answer that the event accepts, beside the on_error for the rest; of a failure, the on_error."""
        if isinstance(answer, Failure):
            failure = label(answer, hook)
            self.note_failure(hook, failure)
            if (accepted := self.accepted(declared := answer_to(failure, hook.on_error))) != declared:
                self.found.failures.append((hook.id, str(FailureKind.NOT_ACCEPTED)))
            return accepted
        if (accepted := self.accepted(answer)) == answer:
            return answer
        _, found = accept_outcome(answer, hook.event, hook.origin.wording, hook.event_name)  # for its words
        self.note_failure(hook, failure := found or Failure(FailureKind.NOT_ACCEPTED, ""))
        if (answer.verdict, answer.changes, answer.halt) == (accepted.verdict, accepted.changes, accepted.halt):
            return accepted
        declared = self.accepted(answer_to(failure, hook.on_error))
        return replace(both(accepted, declared), final=accepted.final or declared.final, applied=accepted.applied)

    def accepted(self, answer: Outcome) -> Outcome:
        kind = EVENTS[self.event.name]
        word = {Verdict.ALLOW: May.ALLOW, Verdict.ASK: May.ASK, Verdict.DENY: May.DENY}.get(answer.verdict)
        takes_verdict = word is None or bool(kind.accepts & word)
        return replace(
            answer,
            verdict=answer.verdict if takes_verdict else Verdict.SILENT,
            reason=answer.reason if takes_verdict or answer.halt else "",
            changes=tuple(change for change in answer.changes if kind.accepts_change(change[0])),
            notes=tuple(n for n in answer.notes if n.audience is Audience.USER or kind.accepts & May.NOTES),
            requests=answer.requests if kind.accepts & May.COMPACT else (),
            halt=answer.halt and bool(kind.accepts & May.HALT),
        )

    def count(self, answer: Answer) -> None:
        """The strongest verdict wins, with the first reason given for it; a halt beats all."""
        found, outcome = self.found, answer.outcome
        self.answers.append(answer)
        found.verdict = max(given.outcome.verdict for given in self.answers)
        if outcome.halt:
            found.halt, found.reason, found.by = True, outcome.reason, answer.hook.id
        else:
            first = next(given for given in self.answers if given.outcome.verdict is found.verdict)
            found.reason, found.by = (first.outcome.reason, first.hook.id) if found.verdict else ("", None)
        if outcome.verdict is Verdict.DENY or outcome.halt:
            self.denied_groups.add(answer.hook.group)
            self.stopped_event = self.stopped_event or self.event  # a later change does not count

    def note_failure(self, hook: Hook, failure: Failure) -> None:
        """That a condition cannot be evaluated is said once."""
        if not (is_undecided := failure.text.startswith("the condition of hook")) or hook.key not in self.undecided:
            self.found.failures.append((hook.id, str(failure.kind)))
        self.undecided |= {hook.key} if is_undecided else set()

    def decision(self) -> ReferenceDecision:
        """What hooks changed after a deny does not count, except what they leave for each other."""
        found, self.found.event = self.found, self.event
        if self.stopped_event is not None:
            left = {name: value for name, value in self.event.facts.items() if name == "metadata"}
            found.event = Event(self.event.name, {**self.stopped_event.facts, **left})
        found.verdict = Verdict.DENY if found.halt and EVENTS[self.event.name].accepts & May.DENY else found.verdict
        found.reason = found.reason or (f"Blocked by hook {found.by}" if found.verdict is Verdict.DENY else "")
        return found


async def run(hook: Hook, event: Event, host: Host, again: bool = False) -> Outcome | Failure:
    return await strictest_answer(hook, event, lambda reading: run_once(hook, reading, host, again))


async def run_once(hook: Hook, event: Event, host: Host, again: bool = False) -> Outcome | Failure:
    token = current_hook.set(CurrentHook(hook.id, again, tool_matchers=tuple(tool_matchers(hook.when))))
    try:
        return hook.then.constant or await hook.then.run(event, host)
    except ActionError as error:
        return error.failure
    except UnavailableError as error:
        return Failure(FailureKind.UNAVAILABLE, str(error))
    except Exception as error:
        return Failure(FailureKind.RAISED, f"{type(error).__name__}: {error}")
    finally:
        current_hook.reset(token)


def answer_to(failure: Failure, on_error: Outcome) -> Outcome:
    """The failure's own answer if it is as strong, else the declared one; with what was asked for before the failure."""
    if failure.answer is not None and failure.answer.verdict >= on_error.verdict and not on_error.changes:
        answer = failure.answer
    else:
        text = failure.detail or failure.text
        answer = replace(on_error, reason=on_error.reason.replace("{failure}", text))
        if not answer.reason and (answer.verdict > Verdict.ALLOW or answer.halt):
            answer = replace(answer, reason=text)
        notes = tuple(n if n.text else replace(n, text=failure.text) for n in answer.notes)
        changes = outcomes.denied_changes(answer.changes) if failure.denied else answer.changes
        answer = replace(answer, notes=notes, changes=changes)
    early = failure.partial_outcome
    return answer if early is None else replace(both(early, answer), final=answer.final)


def both(first: Outcome, second: Outcome) -> Outcome:
    stronger = second if second.verdict > first.verdict or (second.halt and not first.halt) else first
    return Outcome(
        max(first.verdict, second.verdict),
        stronger.reason if stronger.verdict or stronger.halt else "",
        first.changes + second.changes,
        first.notes + second.notes,
        first.requests + second.requests,
        first.halt or second.halt,
    )


def label(failure: Failure, hook: Hook) -> Failure:
    own_words = failure.kind in (FailureKind.EXIT, FailureKind.RAISED)
    return failure if own_words else replace(failure, text=f"hook {hook.id} {failure.text}")


def what_runs(event: Event) -> str:
    """Everything but the notes that hooks leave for each other."""
    return repr({name: value for name, value in event.facts.items() if name != "metadata"})

"""Hooks that can never act, are never asked, or contradict each other: warnings, for whoever wrote them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import PurePath
from typing import Final, TypeAlias

from hookline.config.problem import Problem, Severity
from hookline.hooks.actions.answer import UntrustedAction, may_of
from hookline.hooks.actions.chain import Chain
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.actions.script import RunScript
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.text import Matches
from hookline.hooks.event import FactPath, path_text
from hookline.hooks.events import EVENTS
from hookline.hooks.hook import GLOBAL_SCOPE, UNLIMITED, Hook, Scope
from hookline.hooks.outcome import Verdict
from hookline.hooks.protocols import Action, Condition, May
from hookline.hooks.tools import NATIVE, VOCABULARIES, ToolKind, ToolName, kind_of_name
from hookline.patterns.matchers import Shorthand

_MAX_COMPARED_HOOKS: Final = 256  # earlier hooks that a hook is compared with for each part of its condition
_MAX_EVENTS_IN_HINT: Final = 4  # events that a hint names

_FLAG_TEXTS: Final = {
    May.ALLOW: "allow",
    May.ASK: "ask",
    May.DENY: "deny",
    May.NOTES: "text for the agent",
    May.HALT: "halt",
    May.COMPACT: "compact",
}


def lint_hooks(hooks: Sequence[Hook]) -> tuple[Problem, ...]:
    """`hooks` in the order in which they are asked, as `book.hooks` has them; those that are switched off do not count."""
    asked = [hook for hook in hooks if hook.enabled and not isinstance(hook.when, Never)]
    found = [problem for hook in asked for check in _CHECKS for problem in check(hook)]
    found += _check_shadowed(asked)
    found += _check_duplicate_ids(asked)
    return tuple(sorted(found))


def _make_warning(code: str, hook: Hook, what: str, hint: str = "") -> Problem:
    return Problem(code, hook.origin.file, hook.origin.line, what, hint, Severity.WARNING)


@dataclass(frozen=True, slots=True)
class _Rejection:
    """What an event does not accept of one action."""

    flags: May = May.NOTHING
    paths: tuple[FactPath, ...] = ()  # changes
    dead: bool = False  # nothing else of it would be left

    def describe(self) -> list[str]:
        return [*_flag_texts(self.flags), *(f"a change of {path_text(path)}" for path in self.paths)]


def _check_never_acts(hook: Hook) -> Iterator[Problem]:
    if not hook.wait and hook.may_stop:
        what = f"a part of {hook.id} never counts: it runs in the background, so nobody waits for its deny or ask."
        yield _make_warning("never-acts", hook, what, "Leave background out where its answer should count.")
    done = tuple(leaf_actions(hook.then))
    refused = [_find_rejection(hook.event, deed.may, tuple(deed.changes()), deed.instant) for deed in done]
    words = list(dict.fromkeys(word for each in refused for word in each.describe()))
    if not words:
        return
    said = f"{hook.event} does not accept {' or '.join(words)}"
    if all(each.dead and deed.instant for each, deed in zip(refused, done, strict=True)):
        what = f"{hook.id} can never act: {said}."
    else:
        what = f"a part of {hook.id} never counts: {said}."
    yield _make_warning("never-acts", hook, what, _accepting_events_hint(refused))


def _check_on_error(hook: Hook) -> Iterator[Problem]:
    """A failure that should stop what cannot be stopped."""
    stops = may_of(hook.on_error) & (May.DENY | May.ASK) & ~EVENTS[hook.event].accepts
    if stops and hook.then.constant is None:
        what = (
            f"the on_error of {hook.id} never counts: {hook.event} does not accept {' or '.join(_flag_texts(stops))}."
        )
        yield _make_warning("never-acts", hook, what, _accepting_events_hint([_Rejection(stops)]))


@lru_cache(maxsize=4096)
def _find_rejection(event: str, may: May, paths: tuple[FactPath, ...], instant: bool) -> _Rejection:
    kind = EVENTS[event]
    flags = may & ~kind.accepts & ~May.CHANGE
    wrong = tuple(path for path in paths if not kind.accepts_change(path))
    changes_count = May.CHANGE in may and (len(wrong) < len(paths) if paths else May.CHANGE in kind.accepts)
    dead = may is not May.NOTHING and flags == may & ~May.CHANGE and not changes_count
    if instant or (dead and May.ALLOW not in may):
        return _Rejection(flags, wrong, dead)
    return _Rejection()  # what it answers is known only when it has run


def _accepting_events_hint(refused: Iterable[_Rejection]) -> str:
    flags = May.NOTHING
    paths: list[FactPath] = []
    for each in refused:
        flags |= each.flags
        paths += each.paths
    able = [
        kind.name
        for kind in EVENTS.values()
        if flags & kind.accepts == flags and all(kind.accepts_change(path) for path in paths)
    ]
    return f"These events do: {_join_names(able)}." if able else ""


def _flag_texts(flags: May) -> list[str]:
    return [word for flag, word in _FLAG_TEXTS.items() if flag in flags]


def leaf_actions(action: Action) -> Iterator[Action]:
    """What an action does, one by one, whether or not the user trusts it."""
    match action:
        case Chain(steps):
            for step in steps:
                yield from leaf_actions(step.action)
        case UntrustedAction(inner):
            yield from leaf_actions(inner)
        case _:
            yield action


def _check_unknown_facts(hook: Hook) -> Iterator[Problem]:
    told: set[FactPath] = set()
    paths = [*hook.when.reads(), *(path for deed in leaf_actions(hook.then) for path in _required_facts(deed))]
    for path in paths:
        if path[:2] in told or _has_fact(hook.event, path):
            continue
        told.add(path[:2])
        having = [name for name in EVENTS if _has_fact(name, path)]
        hint = f"These events have it: {_join_names(having)}." if having else "No event has it."
        yield _make_warning(
            "unknown-fact", hook, f"{hook.id} reads {path_text(path)}, which {hook.event} never has.", hint
        )


def _required_facts(deed: Action) -> Iterable[FactPath]:
    """What it cannot do without. A program's stdin and environment and a script's variables only lack what is absent."""
    match deed:
        case RunProgram(program):
            texts = [*program.argv, *(text for text in (program.shell, program.cwd) if text)]
            return [path for text in texts for path in text.reads()]
        case RunScript():
            return ()
        case _:
            return deed.reads()


@lru_cache(maxsize=4096)
def _has_fact(event: str, path: FactPath) -> bool:
    return EVENTS[event].has_fact(path)


def _check_never_holds(hook: Hook) -> Iterator[Problem]:
    if _always_answers(hook.when, no=True):
        yield _make_warning(
            "never-holds", hook, f"the condition of {hook.id} never holds.", "Write when: never if that is meant."
        )


def _always_answers(when: Condition, no: bool = False) -> bool:
    """Whether its answer is yes, or with `no` no, whatever the event."""
    match when:
        case Always():
            return not no
        case Never():
            return no
        case All(parts):
            return (
                any(_always_answers(part, no) for part in parts) if no else all(_always_answers(part) for part in parts)
            )
        case AnyOf(parts):
            return (
                all(_always_answers(part, no) for part in parts) if no else any(_always_answers(part) for part in parts)
            )
        case Not(part):
            return _always_answers(part, not no)
        case _:
            return False


def _check_tool_names(hook: Hook) -> Iterator[Problem]:
    for match in _match_conditions(hook.when):
        subject, pattern = match.subject, match.pattern
        if (
            not isinstance(subject, ToolName)
            or subject.vocabulary.name != NATIVE.name
            or not isinstance(pattern, Shorthand)
        ):
            continue
        heard = [name.strip() for name in pattern.text.split("|")] if pattern.word == "tool" else [pattern.text]
        theirs = {name: _foreign_tool_names()[name] for name in heard if name in _foreign_tool_names()}
        ours = {NATIVE.names[kind][0]: kind for kind in theirs.values() if NATIVE.names[kind][0] not in heard}
        if ours:
            what = f"{hook.id} hears {' and '.join(theirs)} by name, in few agents."
            own = "; ".join(f"hookline's own name is {name}, which hears the {kind}" for name, kind in ours.items())
            yield _make_warning("other-name", hook, what, f"{own} of every agent.")


def _match_conditions(when: Condition) -> Iterator[Matches]:
    match when:
        case Matches():
            yield when
        case All(parts) | AnyOf(parts):
            for part in parts:
                yield from _match_conditions(part)
        case Not(part):
            yield from _match_conditions(part)


@lru_cache(maxsize=1)
def _foreign_tool_names() -> dict[str, ToolKind]:
    """The names of tools that hookline's own tools do not have, where hookline has another name for that kind."""
    ours = {name for names in NATIVE.names.values() for name in names}
    return {
        name: kind_of_name(name)
        for vocabulary in VOCABULARIES.values()
        for kind, names in vocabulary.names.items()
        for name in names
        if name not in ours and NATIVE.names.get(kind)
    }


PartNumbers: TypeAlias = frozenset[int]


@dataclass(slots=True)
class _PartNumbering:
    """Equal parts of conditions have equal numbers."""

    known: dict[Condition, int] = field(default_factory=dict)
    given: int = 0

    def number_parts(self, when: Condition) -> PartNumbers:
        match when:
            case Always():
                return frozenset()
            case All(parts):
                return frozenset(number for part in parts for number in self.number_parts(part))
            case _:
                return frozenset((self._number_part(when),))

    def _number_part(self, part: Condition) -> int:
        self.given += 1
        try:
            return self.known.setdefault(part, self.given)
        except TypeError:  # it holds a list or a mapping: equal to nothing else, as far as we look
            return self.given


@dataclass(slots=True)
class _DenialIndex:
    """The hooks on one event that always end a round, each under the rarest part of its condition."""

    common: Counter[int]
    by_rarest_part: dict[int | None, list[tuple[PartNumbers, Hook]]] = field(default_factory=dict)

    def add(self, parts: PartNumbers, hook: Hook) -> None:
        rarest = min(parts, key=lambda part: (self.common[part], part), default=None)
        self.by_rarest_part.setdefault(rarest, []).append((parts, hook))

    def find_covering(self, parts: PartNumbers, scope: Scope) -> Hook | None:
        """One that has ended every round in which a hook with these parts would be asked."""
        for part in (None, *parts):
            for needed, hook in self.by_rarest_part.get(part, ())[:_MAX_COMPARED_HOOKS]:
                if needed <= parts and _scope_covers(hook.scope, scope):
                    return hook
        return None


def _check_shadowed(hooks: Sequence[Hook]) -> Iterator[Problem]:
    numbers = _PartNumbering()
    parts_of = [numbers.number_parts(hook.when) for hook in hooks]
    common = Counter(part for parts in parts_of for part in parts)
    denied = _constant_denials(hooks, parts_of)
    denials: dict[str, _DenialIndex] = {}
    for hook, parts in zip(hooks, parts_of, strict=True):
        of_event = denials.setdefault(hook.event, _DenialIndex(common))
        against = _find_contradiction(hook, parts, denied)
        earlier = of_event.find_covering(parts, hook.scope)
        if against is not None:
            what = f"the allow of {hook.id} never counts: {_describe_location(against, hook)} denies the same."
            yield _make_warning("contradicts", hook, what, "Remove one of the two, or narrow the deny.")
        elif earlier is not None:
            what = f"{hook.id} is never asked: {_describe_location(earlier, hook)} {_describe_denial(earlier)} first."
            yield _make_warning("shadowed", hook, what, "Remove it, or give it a lower order.")
        if earlier is None and _ends_every_round(hook):
            of_event.add(parts, hook)


def _constant_denials(
    hooks: Sequence[Hook], parts_of: Sequence[PartNumbers]
) -> dict[tuple[str, PartNumbers, Scope], Hook]:
    found: dict[tuple[str, PartNumbers, Scope], Hook] = {}
    for hook, parts in zip(hooks, parts_of, strict=True):
        if _constant_verdict(hook) is Verdict.DENY and _ends_every_round(hook):
            found.setdefault((hook.event, parts, hook.scope), hook)
    return found


def _find_contradiction(
    hook: Hook, parts: PartNumbers, denied: dict[tuple[str, PartNumbers, Scope], Hook]
) -> Hook | None:
    if _constant_verdict(hook) is not Verdict.ALLOW:
        return None
    return denied.get((hook.event, parts, hook.scope)) or denied.get((hook.event, parts, GLOBAL_SCOPE))


def _ends_every_round(hook: Hook) -> bool:
    """It denies or halts whenever its condition holds."""
    constant, accepts = hook.then.constant, EVENTS[hook.event].accepts
    if constant is None or not hook.wait or replace(hook.limit, is_counted=False) != UNLIMITED:
        return False
    denies = constant.verdict is Verdict.DENY and May.DENY in accepts
    return denies or (constant.halt and May.HALT in accepts)


def _constant_verdict(hook: Hook) -> Verdict | None:
    constant = hook.then.constant
    return None if constant is None else constant.verdict


def _scope_covers(wide: Scope, narrow: Scope) -> bool:
    return wide in (GLOBAL_SCOPE, narrow)


def _describe_denial(hook: Hook) -> str:
    verb = "denies" if _constant_verdict(hook) is Verdict.DENY else "halts at"
    return f"{verb} every {hook.event}" if isinstance(hook.when, Always) else f"{verb} all that it would hear"


def _check_duplicate_ids(hooks: Sequence[Hook]) -> Iterator[Problem]:
    """Within one file its dialect looks for them; an id that was made from the file's name is nobody's choice."""
    first: dict[tuple[str, Scope], Hook] = {}
    told: set[tuple[str, str]] = set()
    for hook in hooks:
        known = first.setdefault((hook.id, hook.scope), hook)
        file = hook.origin.file
        if known.origin.file == file or (hook.id, file) in told or hook.id.startswith(f"{PurePath(file).name}:"):
            continue
        told.add((hook.id, file))
        what = f"the id {hook.id} is used by {_describe_location(known, hook)} too; both are in force."
        yield _make_warning("duplicate-id", hook, what, "Give one of them another id.")


def _describe_location(other: Hook, seen_from: Hook) -> str:
    if other.origin.file == seen_from.origin.file:
        return f"{other.id} on line {other.origin.line}"
    return f"{other.id} in {other.origin.file}:{other.origin.line}"


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_EVENTS_IN_HINT} more" if len(names) > _MAX_EVENTS_IN_HINT else ""
    return ", ".join(names[:_MAX_EVENTS_IN_HINT]) + more


_CHECKS: Final = (_check_never_acts, _check_on_error, _check_unknown_facts, _check_never_holds, _check_tool_names)

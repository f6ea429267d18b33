"""Warns about hooks that can never act, never run, or contradict each other."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from pathlib import PurePath
from typing import Final, TypeAlias

from hookline.config.problem import Problem, Severity
from hookline.formatting import file_label, is_typo
from hookline.hooks.actions.call_tool import CallTool
from hookline.hooks.actions.chain import leaf_actions
from hookline.hooks.actions.change import ChangeFacts, Set
from hookline.hooks.actions.failing import InvalidAction
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.actions.script import RunScript
from hookline.hooks.conditions.logic import All, Always, AnyOf, Never, Not
from hookline.hooks.conditions.text import Matches
from hookline.hooks.event import FactPath, path_text
from hookline.hooks.events import COMMON_FACTS, EVENTS
from hookline.hooks.hook import GLOBAL_SCOPE, UNLIMITED, Hook, Scope
from hookline.hooks.kind_guess import is_command_field
from hookline.hooks.outcome import Verdict
from hookline.hooks.protocols import Action, Condition, May, may_of
from hookline.hooks.templates import ShellTemplate
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import NATIVE, VOCABULARIES, ToolKind, kind_of_name
from hookline.hooks.wording import Wording
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.patterns.matchers import Shorthand
from hookline.project.condition_lint import check_never_holds, lint_condition
from hookline.project.hook_problem import hook_problem
from hookline.project.program_lint import lint_command

_MAX_COMPARED_HOOKS: Final = 256  # for each part of a hook's condition
_MAX_EVENTS_IN_HINT: Final = 4
_CHOSEN_BY_AGENTS: Final = ("tool", "messages")


def lint_hooks(hooks: Sequence[Hook]) -> tuple[Problem, ...]:
    """Takes `hooks` in the order in which they run, like `book.hooks`. Disabled hooks do not count."""
    active = [hook for hook in hooks if hook.enabled and (not isinstance(hook.when, Never) or hook.when.is_mistake)]
    found = [problem for hook in active for check in _CHECKS for problem in check(hook)]
    found += _check_shadowed(active)
    found += _check_duplicate_ids(active)
    return tuple(sorted(found))


@dataclass(frozen=True, slots=True)
class _Rejection:
    """The part of one action that an event does not accept."""

    flags: May = May.NOTHING
    paths: tuple[FactPath, ...] = ()  # changes
    is_total: bool = False  # nothing of the action is left


def _check_never_acts(hook: Hook) -> Iterator[Problem]:
    words = hook.origin.wording
    if isinstance(hook.then, HoldCall | InvalidAction):
        return  # what is wrong with it is a problem of its own
    if not hook.wait and hook.may_stop:
        what = f"a part of {hook.id} has no effect: it runs in the background, so its deny or ask comes too late."
        yield hook_problem("never-acts", hook, what, words.wait)
    withheld = May.JUDGE if hook.on_error.changes else May.NOTHING  # a verdict withholds the result then
    actions = tuple(leaf_actions(hook.then))
    rejections = [
        _find_rejection(hook.event, each.may & ~withheld, tuple(each.changes()), each.instant) for each in actions
    ]
    parts = list(
        dict.fromkeys(part for rejection in rejections for part in words.rejection(rejection.flags, rejection.paths))
    )
    if not parts:
        return
    why = f"{hook.event_name} does not accept {' or '.join(parts)}"
    if all(rejection.is_total and action.instant for rejection, action in zip(rejections, actions, strict=True)):
        what = f"{hook.id} can never act: {why}."
    else:
        what = f"a part of {hook.id} has no effect: {why}."
    yield hook_problem("never-acts", hook, what, _accepting_events_hint(rejections, words))


def _check_on_error(hook: Hook) -> Iterator[Problem]:
    """Warns if on_error should stop an event that cannot be stopped."""
    stops = may_of(hook.on_error) & (May.DENY | May.ASK) & ~EVENTS[hook.event].accepts
    if stops and hook.then.constant is None:
        words = hook.origin.wording
        stopping = " or ".join(words.answer_words(stops))
        what = f"the {words.on_error} of {hook.id} has no effect: {hook.event_name} does not accept {stopping}."
        yield hook_problem("never-acts", hook, what, _accepting_events_hint([_Rejection(stops)], words))


@lru_cache(maxsize=4096)
def _find_rejection(event: str, may: May, paths: tuple[FactPath, ...], instant: bool) -> _Rejection:
    kind = EVENTS[event]
    flags = may & ~kind.accepts & ~May.CHANGE
    wrong = tuple(path for path in paths if not kind.accepts_change(path))
    changes_count = May.CHANGE in may and (len(wrong) < len(paths) if paths else May.CHANGE in kind.accepts)
    is_total = may is not May.NOTHING and flags == may & ~May.CHANGE and not changes_count
    if instant or (is_total and May.ALLOW not in may):
        return _Rejection(flags, wrong, is_total)
    return _Rejection()  # its answer is known only once it has run


def _accepting_events_hint(rejections: Iterable[_Rejection], words: Wording) -> str:
    flags = May.NOTHING
    paths: list[FactPath] = []
    for rejection in rejections:
        flags |= rejection.flags
        paths += rejection.paths
    accepting = words.events(
        kind.name
        for kind in EVENTS.values()
        if flags & kind.accepts == flags and all(kind.accepts_change(path) for path in paths)
    )
    return f"These events do: {_join_names(accepting)}." if accepting else ""


def _check_unknown_facts(hook: Hook) -> Iterator[Problem]:
    reported: set[FactPath] = set()
    actions = leaf_actions(hook.then)
    paths = [*hook.when.reads(), *(path for action in actions for path in _required_facts(action))]
    for path in paths:
        if reported & {path[:1], path[:2]} or _has_fact(hook.event, path):
            continue
        words = hook.origin.wording
        events = words.events(name for name in EVENTS if _has_fact(name, path))
        is_whole_missing = bool(events) and not _has_fact(
            hook.event, path[:1]
        )  # no tool at all: one problem, not three
        reported.add(path[:1] if is_whole_missing else path[:2])
        hint = f"These events have it: {_join_names(events)}." if events else "No event has it."
        what = f"{hook.id} reads {words.fact(path)}, which {hook.event_name} never has."
        meant = None if events else _misspelled_fact(path)
        if meant is not None:
            hint = f"Did you mean {meant}?"
        is_dead = meant is not None and hook.may_stop
        severity = Severity.ERROR if is_dead else Severity.WARNING
        yield hook_problem("unknown-fact", hook, what, hint, severity, about=words.fact(path))


@lru_cache(maxsize=4096)
def _misspelled_fact(path: FactPath) -> str | None:
    """The fact that was probably meant: `tool.inputt.command`."""
    facts = dict.fromkeys((*COMMON_FACTS, *(fact for event in EVENTS.values() for fact in event.facts)))
    written = {fact: ".".join(map(str, path[: fact.count(".") + 1])) for fact in facts}
    return next((fact for fact, given in written.items() if is_typo(given, fact)), None)


def _required_facts(action: Action) -> Iterable[FactPath]:
    """The facts that it cannot run without. A program's stdin and environment and a script's variables may lack facts."""
    match action:
        case RunProgram(program):
            texts = [*program.argv, *(text for text in (program.shell, program.cwd) if text)]
            return [path for text in texts for path in text.reads()]
        case RunScript():
            return ()
        case _:
            return action.reads()


@lru_cache(maxsize=4096)
def _has_fact(event: str, path: FactPath) -> bool:
    return EVENTS[event].has_fact(path)


def _check_tool_names(hook: Hook) -> Iterator[Problem]:
    for match in _match_conditions(hook.when):
        subject, pattern = match.subject, match.pattern
        if (
            not isinstance(subject, ToolName)
            or subject.vocabulary.name != NATIVE.name
            or not isinstance(pattern, Shorthand)
        ):
            continue
        names = [name.strip() for name in pattern.text.split("|")] if pattern.word == "tool" else [pattern.text]
        foreign = {name: _foreign_tool_names()[name] for name in names if name in _foreign_tool_names()}
        native = {NATIVE.names[kind][0]: kind for kind in foreign.values() if NATIVE.names[kind][0] not in names}
        if native:
            what = f"{hook.id} matches only tools named {' and '.join(foreign)}, which few agents have."
            hints = [f"Use {name} to match the {kind} tools of every agent." for name, kind in native.items()]
            yield hook_problem("other-name", hook, what, " ".join(hints), about=next(iter(foreign)))


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
    """Tool names of other agents, where hookline has its own name for that kind of tool."""
    native = {name for names in NATIVE.names.values() for name in names}
    return {
        name: kind_of_name(name)
        for vocabulary in VOCABULARIES.values()
        for kind, names in vocabulary.names.items()
        for name in names
        if name not in native and NATIVE.names.get(kind)
    }


PartNumbers: TypeAlias = frozenset[int]


@dataclass(slots=True)
class _PartNumbering:
    """Gives equal parts of conditions equal numbers."""

    known: dict[Condition, int] = field(default_factory=dict)
    last_number: int = 0

    def number_parts(self, when: Condition) -> PartNumbers:
        match when:
            case Always():
                return frozenset()
            case All(parts):
                return frozenset(number for part in parts for number in self.number_parts(part))
            case _:
                return frozenset((self._number_part(when),))

    def _number_part(self, part: Condition) -> int:
        self.last_number += 1
        try:
            return self.known.setdefault(part, self.last_number)
        except TypeError:  # not hashable: it contains a list or a mapping, and counts as unique
            return self.last_number


@dataclass(slots=True)
class _DenialIndex:
    """The hooks that always end one event for a group, or for all, each under the rarest part of its condition."""

    frequency: Counter[int]
    by_rarest_part: dict[int | None, list[tuple[PartNumbers, Hook]]] = field(default_factory=dict)

    def add(self, parts: PartNumbers, hook: Hook) -> None:
        rarest = min(parts, key=lambda part: (self.frequency[part], part), default=None)
        self.by_rarest_part.setdefault(rarest, []).append((parts, hook))

    def find_covering(self, parts: PartNumbers, scope: Scope) -> Hook | None:
        """A hook that stops every event for which a hook with these parts would run."""
        for part in (None, *parts):
            for needed, hook in self.by_rarest_part.get(part, ())[:_MAX_COMPARED_HOOKS]:
                if needed <= parts and _scope_covers(hook.scope, scope):
                    return hook
        return None


def _check_shadowed(hooks: Sequence[Hook]) -> Iterator[Problem]:
    numbers = _PartNumbering()
    parts_of = [numbers.number_parts(hook.when) for hook in hooks]
    frequency = Counter(part for parts in parts_of for part in parts)
    denied = _constant_denials(hooks, parts_of)
    denials: dict[tuple[str, str | None], _DenialIndex] = {}  # by event and the group that they end; None: all groups
    for hook, parts in zip(hooks, parts_of, strict=True):
        denial = _find_contradiction(hook, parts, denied)
        indexes = [found for group in (hook.group, None) if (found := denials.get((hook.event, group))) is not None]
        earlier = next(filter(None, (index.find_covering(parts, hook.scope) for index in indexes)), None)
        if denial is not None:
            what = f"the allow of {hook.id} has no effect: {_describe_location(denial, hook)} denies the same."
            yield hook_problem("contradicts", hook, what, "Remove one of the two, or narrow the deny.")
        elif earlier is not None:
            run_earlier = hook.origin.wording.run_earlier
            what = f"{hook.id} never runs: {_describe_location(earlier, hook)} {_describe_denial(earlier)} first."
            yield hook_problem("shadowed", hook, what, f"Remove it, or {run_earlier}.")
        if earlier is None and _ends_every_round(hook):
            ended = None if _halts(hook) else hook.group
            denials.setdefault((hook.event, ended), _DenialIndex(frequency)).add(parts, hook)


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
    """True if it denies or halts whenever its condition holds."""
    constant, accepts = hook.then.constant, EVENTS[hook.event].accepts
    if constant is None or not hook.wait or replace(hook.limit, is_counted=False) != UNLIMITED:
        return False
    return _halts(hook) or (constant.verdict is Verdict.DENY and May.DENY in accepts)


def _halts(hook: Hook) -> bool:
    constant = hook.then.constant
    return constant is not None and constant.halt and May.HALT in EVENTS[hook.event].accepts


def _constant_verdict(hook: Hook) -> Verdict | None:
    constant = hook.then.constant
    return None if constant is None else constant.verdict


def _scope_covers(wide: Scope, narrow: Scope) -> bool:
    return wide in (GLOBAL_SCOPE, narrow)


def _describe_denial(hook: Hook) -> str:
    verb = "denies" if _constant_verdict(hook) is Verdict.DENY else "halts at"
    return f"{verb} every {hook.event_name}" if isinstance(hook.when, Always) else f"{verb} everything that it matches"


def _check_duplicate_ids(hooks: Sequence[Hook]) -> Iterator[Problem]:
    """Warns about ids in several files. Dialects check within one file, and generated ids do not count."""
    first: dict[tuple[str, Scope], Hook] = {}
    reported: set[tuple[str, str]] = set()
    for hook in hooks:
        known = first.setdefault((hook.id, hook.scope), hook)
        file = hook.origin.file
        if (
            known.origin.file == file
            or (hook.id, file) in reported
            or hook.id.startswith((f"{PurePath(file).name}:", f"{file_label(file)}:"))
        ):
            continue
        reported.add((hook.id, file))
        what = f"the id {hook.id} is also used by {_describe_location(known, hook)}. Both hooks are active."
        yield hook_problem("duplicate-id", hook, what, "Give one of them another id.")


def _describe_location(other: Hook, seen_from: Hook) -> str:
    if other.origin.file == seen_from.origin.file:
        return f"{other.id} on line {other.origin.line}"
    return f"{other.id} in {other.origin.file}:{other.origin.line}"


def _join_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MAX_EVENTS_IN_HINT} more" if len(names) > _MAX_EVENTS_IN_HINT else ""
    return ", ".join(names[:_MAX_EVENTS_IN_HINT]) + more


def _check_values_as_code(hook: Hook) -> Iterator[Problem]:
    """Shell text that may run a value as code. Best effort: a value is always a literal, and the command is the author's."""
    for action in leaf_actions(hook.then):
        for found in (found for text in _shell_texts(action) for found in text.code_arguments()):
            yield hook_problem("value-as-code", hook, f"{hook.id}: {found.what}.", found.hint)
        for path in _values_in_changed_commands(action):
            what = f"{hook.id}: {path_text(path)} becomes part of the command, and the shell runs code in it."
            hint = "Change the command without a value that the agent chooses, or deny the call and say what to run."
            yield hook_problem("value-as-code", hook, what, hint)


def _shell_texts(action: Action) -> Iterator[ShellTemplate]:
    texts: list[object] = []
    if isinstance(action, RunProgram):
        commands = [command for command in (action.program, action.only_if) if command is not None]
        texts = [text for command in commands for text in (command.shell, *command.argv)]
    elif isinstance(action, CallTool) and isinstance(action.input.value, dict):
        values = action.input.value.values()
        texts = [text for value in values for text in (value if isinstance(value, list) else (value,))]
    yield from (text for text in texts if isinstance(text, ShellTemplate))


def _values_in_changed_commands(action: Action) -> Iterator[FactPath]:
    """The facts of a call, other than its command, that `set` writes into a command, where nothing quotes them."""
    for edit in action.edits if isinstance(action, ChangeFacts) else ():
        *_, field = edit.path
        if isinstance(edit, Set) and edit.path[:2] == ("tool", "input") and is_command_field(str(field)):
            yield from (
                path for path in edit.reads() if path[0] in _CHOSEN_BY_AGENTS and not is_command_field(str(path[-1]))
            )


def _check_command(hook: Hook) -> Iterator[Problem]:
    return lint_command(hook, list(leaf_actions(hook.then)))


_CHECKS: Final = (
    _check_never_acts,
    _check_on_error,
    _check_unknown_facts,
    check_never_holds,
    _check_tool_names,
    _check_values_as_code,
    lint_condition,
    _check_command,
)

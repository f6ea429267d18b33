"""Reads an agent's hook file into hooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from functools import partial
from typing import Any, Final

from hookline.config.document import Document, problems_within
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.agent_files.format import FAILURE_OUTCOME, HOOK_NAME, AgentFormat, BadPatternPolicy, Layout
from hookline.dialects.agent_files.handlers import handler_type, is_own_entry, parse_action, parse_timeout
from hookline.dialects.agent_files.matchers import (
    COMMAND_PATTERN,
    command_pattern,
    is_valid_matcher,
    parse_matcher,
    takes_matcher,
)
from hookline.dialects.dialect import LoadResult
from hookline.dialects.settings_json import (
    CLAUDE_ONLY_EVENTS,
    UNREADABLE,
    EventEntry,
    hook_id,
    hooks_of_group,
    parse_entries,
    report_unknown_event,
    warn_ignored_matcher,
)
from hookline.formatting import file_label, is_typo
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.conditions.logic import ALWAYS, Always, AnyOf, all_of
from hookline.hooks.events import EVENTS, canonical_event, event_name_in
from hookline.hooks.hook import UNLIMITED, Hook, Limit, Origin
from hookline.hooks.outcome import Outcome, Verdict
from hookline.hooks.protocols import Action, Condition, May
from hookline.lazy_dataclasses import dataclass, replace
from hookline.lazy_imports import json
from hookline.patterns.pattern import BadPattern

_MODEL_GUARDS: Final = {"tool.before": Verdict.ASK, "prompt.submit": Verdict.DENY}
"""What it counts as if a model that could have blocked does not answer."""
_HOLD_TIMEOUT: Final = timedelta(seconds=60)
_DENY: Final = Outcome(Verdict.DENY)


def load_agent_file(format: AgentFormat, document: Document) -> LoadResult:
    problems: list[Problem] = []
    rewritten = None if format.rewrite is None else format.rewrite(document.value)
    if rewritten is not None:
        document = replace(document, value=rewritten)
    hooks = tuple(_parse_hooks(format, document, problems))
    return LoadResult(hooks, tuple(problems), is_readable=_is_readable(format, document))


def hooks_value(format: AgentFormat, document: Document) -> Any:
    """The part of the file that has the hooks, by event or as a list."""
    value = document.value
    if type(value) is not dict:
        return UNREADABLE
    return value if has_events_at_top(format, document) else value.get("hooks")


def has_list(format: AgentFormat, document: Document) -> bool:
    """Whether the file has a list of entries as this format has them."""
    hooks = hooks_value(format, document)
    if not isinstance(hooks, list):
        return False
    return any(isinstance(each, dict) and {format.entry_event_key, format.action_key} <= each.keys() for each in hooks)


def has_events_at_top(format: AgentFormat, document: Document) -> bool:
    return _belong_at_top(format, document) and not isinstance(document.value.get("hooks"), dict)


def _belong_at_top(format: AgentFormat, document: Document) -> bool:
    return format.events_at_top is not None and format.events_at_top(document.file) and type(document.value) is dict


def _is_readable(format: AgentFormat, document: Document) -> bool:
    """Whether the hooks are a list for each event, or absent."""
    hooks = hooks_value(format, document)
    if hooks is None:
        return True
    if format.layout is Layout.LIST:
        return type(hooks) is list
    names = hooks.keys() - set(format.other_hook_keys) if type(hooks) is dict else ()
    return type(hooks) is dict and all(hooks[name] is None or type(hooks[name]) is list for name in names)


def _parse_hooks(format: AgentFormat, document: Document, problems: list[Problem]) -> Iterable[Hook]:
    found: dict[str, Hook] = {}
    names: dict[str, str] = {}
    for entry in _parse_entries(format, document, problems):
        if not entry.event:
            _warn_unsupported_event(format, entry)
            continue
        for handler, hook in _parse_entry(format, entry):
            key = f"{entry.event_name} {_handler_key(format, handler)}" if format.deduplicates else hook.id
            found[key] = _merge(found[key], hook) if key in found else hook
            names.setdefault(key, _name_of(handler))
    return _with_names(found, names, file_label(document.file))


def _with_names(hooks: Mapping[str, Hook], names: Mapping[str, str], file: str) -> list[Hook]:
    """A hook is called by the name that its file gives it, unless another has the same: a position changes easily."""
    taken = Counter(names.values())
    return [
        replace(hook, id=f"{file}:{name}") if (name := names[key]) and taken[name] == 1 else hook
        for key, hook in hooks.items()
    ]


def _name_of(handler: Any) -> str:
    name = handler.get("name") if isinstance(handler, dict) else None
    return name if isinstance(name, str) and HOOK_NAME.fullmatch(name) else ""


def _parse_entries(format: AgentFormat, document: Document, problems: list[Problem]) -> Iterator[EventEntry]:
    events = {**format.events, **dict.fromkeys(format.unsupported_events, "")}
    if format.layout is Layout.LIST:
        yield from _parse_list(format, document, problems, events)
        return
    at_top = has_events_at_top(format, document)
    if _belong_at_top(format, document) and not at_top:
        hooks = Node.of(document, problems).get("hooks")
        what = f"hooks: {format.title} itself does not read events that stand below this key; other agents do."
        if hooks is not None:
            hint = "Move them to the top of the file."
            hooks.add_problem("not-here", what, hint, at_key=True, severity=Severity.WARNING)
    if format.has_only_hooks(document.file) and not at_top:
        _warn_unknown_file_keys(format, Node.of(document, problems))
    with_conflicts = format.layout is not Layout.GROUPS
    yield from parse_entries(
        document,
        problems,
        events,
        with_conflicts=with_conflicts,
        other_keys=format.other_hook_keys,
        at_top=at_top,
        report_unknown=partial(_report_unknown_event, format),
    )


def _warn_unknown_file_keys(format: AgentFormat, at: Node) -> None:
    reported = [key for key in at.value if is_typo(key, "hooks")] if isinstance(at.value, dict) else []
    known = (*format.file_keys, *reported)  # a typo of hooks is reported with the hooks
    at.warn_unknown_keys(known, f"a hooks file of {format.title}", essential=("hooks",))


def _parse_list(
    format: AgentFormat, document: Document, problems: list[Problem], events: Mapping[str, str]
) -> Iterator[EventEntry]:
    at = Node.of(document, problems)
    if format.file_keys:
        _warn_unknown_file_keys(format, at)
    hooks = at.get("hooks") if at.mapping() is not None else None
    if hooks is None:
        at.report_misspelling("hooks")
    for index, each in enumerate(hooks.items() if hooks is not None else ()):
        named = each.require(format.entry_event_key, "Name an event.") if isinstance(each.value, dict) else None
        name = None if named is None else named.text()
        if each.mapping() is None or named is None or name is None:
            continue
        if name in events:
            yield EventEntry(each, name, events[name], index)
            continue
        _report_unknown_event(format, named, name, events)


def _report_unknown_event(format: AgentFormat, at: Node, name: str, events: Mapping[str, str]) -> None:
    """An event of another agent is no mistake, unless it is this agent's event for a guard by another name."""
    meant = canonical_event(name)
    own = None if meant is None else event_name_in(format.name, meant)
    if own is not None and meant is not None and EVENTS[meant].accepts & May.DENY:
        what = f"{at.location}: there is no event {name!r}."
        at.add_problem("unknown-event", what, f"Did you mean {own}?", at_key=True)
    elif meant is not None or name in CLAUDE_ONLY_EVENTS:
        what = f"{at.location}: {format.title} has no event {name}, so these hooks never run."
        at.add_problem("not-here", what, at_key=True, severity=Severity.WARNING)
    else:
        report_unknown_event(at, name, events)


def _warn_unsupported_event(format: AgentFormat, entry: EventEntry) -> None:
    siblings = entry.at.document.value_at(entry.at.path[:-1])
    others = (
        [at for at, each in enumerate(siblings) if not is_own_entry(format, each)] if isinstance(siblings, list) else []
    )
    if entry.index in others[:1] or (entry.index in others and format.layout is Layout.LIST):
        what = f"{entry.at.location}: only {format.title} has {entry.event_name}; these hooks never run elsewhere."
        entry.at.add_problem("not-here", what, "", severity=Severity.WARNING)


def _parse_entry(format: AgentFormat, entry: EventEntry) -> Iterator[tuple[Any, Hook]]:
    is_group = format.layout is Layout.GROUPS or (
        format.layout is Layout.EITHER and isinstance(entry.at.value.get("hooks"), list)
    )
    document = entry.at.document
    if not is_group:
        if not is_own_entry(format, entry.at.value):
            hook = _parse_hook(format, entry.at, entry, None, hook_id(document, _id_event(format, entry), entry.index))
            if hook is not None:
                yield entry.at.value, hook
        return
    if "hooks" not in entry.at.value and "type" in entry.at.value:
        _warn_hook_without_group(format, entry.at)
        return
    entry.at.warn_unknown_keys(format.group_keys, "a group")
    when = _parse_condition(format, entry.at, entry.event_name)
    command = _parse_command_pattern(format, entry)
    when = None if when is None or command is None else all_of([when, command])
    for number, place in enumerate(hooks_of_group(entry.at)):
        if is_own_entry(format, place.value):
            continue
        id = hook_id(document, entry.event_name, entry.index, number)
        hook = _parse_hook(format, place, entry, when or ALWAYS, id)
        if hook is not None and when is not None:
            yield place.value, hook


def _warn_hook_without_group(format: AgentFormat, at: Node) -> None:
    what = f"{at.location}: {format.title} does not run this, because it is not in a list of a group, and neither does hookline."
    at.add_problem("not-here", what, 'Write {"hooks": […]} around it.', severity=Severity.WARNING)


def _parse_command_pattern(format: AgentFormat, entry: EventEntry) -> Condition | None:
    """`commandRegex`: a pattern that the command of a shell must match."""
    place = entry.at.get(COMMAND_PATTERN) if COMMAND_PATTERN in format.group_keys else None
    text = None if place is None else place.text()
    if place is None or text is None:
        return ALWAYS if place is None else None
    try:
        return command_pattern(format, text)
    except BadPattern as bad:
        place.add_problem("bad-pattern", f"{place.location}: {bad.why}.", "Write a regular expression.")
        return None


def _id_event(format: AgentFormat, entry: EventEntry) -> str:
    return "hooks" if format.layout is Layout.LIST else entry.event_name


def _parse_condition(format: AgentFormat, at: Node, event_name: str) -> Condition | None:
    """None after a problem that leaves open what is guarded."""
    place = at.get("matcher")
    text = None if place is None else place.text(empty=True)
    if place is None or text is None:
        return ALWAYS if place is None else None
    if not takes_matcher(format, event_name):
        if text not in ("", "*"):
            warn_ignored_matcher(place, event_name)
        return ALWAYS
    if format.bad_matcher is not BadPatternPolicy.SKIPS and not is_valid_matcher(format, text):
        means = (
            "the text is compared literally"
            if format.bad_matcher is BadPatternPolicy.LITERAL
            else "it runs for every tool"
        )
        what = f"{place.location}: this is not a regular expression, so {means}."
        place.add_problem("bad-pattern", what, "Write a regular expression.")
    try:
        return parse_matcher(format, text, event_name)
    except BadPattern as bad:
        place.add_problem(
            "bad-pattern", f"{place.location}: {bad.why}.", "Write names as a|b, a regular expression, or *."
        )
        return None


def _parse_hook(format: AgentFormat, at: Node, entry: EventEntry, when: Condition | None, id: str) -> Hook | None:
    """None after a problem. Without `when`, the handler has its own matcher."""
    before = len(at.problems)
    part = at.readable_part(("matcher", format.entry_event_key))
    if part is None or part[0].mapping() is None:
        return None
    at, damaged = part
    handler = None if damaged else _handler_part(format, at)
    type_ = None if handler is None else handler_type(format, handler)
    if handler is not None and type_ is not None:
        _warn_unknown_keys(format, at, handler, type_, is_flat=when is None)
        before = len(at.problems)  # a misspelt key is a problem, but the hook acts
    if type_ is not None and format.handlers[type_].not_here:
        what = f"{at.location}: {format.handlers[type_].not_here}"
        at.add_problem("not-here", what, "Write a command.", severity=Severity.WARNING)
        return None
    condition = _parse_condition(format, at, entry.event_name) if when is None else when
    timeout = (
        _HOLD_TIMEOUT if type_ is None else parse_timeout(format, at, format.default_timeout(entry.event_name, type_))
    )
    action = (
        None if handler is None or type_ is None else parse_action(format, handler, entry.event_name, type_, timeout)
    )
    on_error = FAILURE_OUTCOME if type_ is None else _on_failure(format, at, entry.event, type_)
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    if condition is None:
        return None
    if (errors or action is None) and not _only_matcher_errors(errors):
        why = str(errors[0]) if errors else "it cannot be read"
        action, timeout = HoldCall(why, written=at.value), _HOLD_TIMEOUT
    return None if action is None else _build_hook(format, at, entry, id, condition, _Effect(action, timeout, on_error))


def _handler_part(format: AgentFormat, at: Node) -> Node | None:
    """The mapping that has the handler's keys. None after a problem."""
    if not format.action_key:
        return at
    place = at.require(format.action_key, f'Write "{format.action_key}": {{"type": "command", "command": "…"}}.')
    return None if place is None or place.mapping() is None else place


def _only_matcher_errors(errors: list[Problem]) -> bool:
    """A matcher that cannot be read, to which the agent gives a meaning: the hook acts."""
    return bool(errors) and all(problem.code == "bad-pattern" for problem in errors)


@dataclass(frozen=True, slots=True)
class _Effect:
    action: Action
    timeout: timedelta
    on_error: Outcome


def _build_hook(format: AgentFormat, at: Node, entry: EventEntry, id: str, when: Condition, effect: _Effect) -> Hook:
    keys = format.entry_keys
    if not format.action_key and _has_type(format, at):
        keys = format.handlers[at.value.get("type") or format.default_type or "command"].keys
    once, background, switch = (at.get(key) if key in keys else None for key in ("once", "async", "enabled"))
    return Hook(
        id=id,
        event=entry.event,
        when=all_of([when, format.condition(entry.event_name)]),
        then=effect.action,
        origin=Origin(at.document.file, at.line, format.name, entry.event_name, format.wording),
        group=format.name,
        timeout=effect.timeout,
        wait=background is None or background.flag() is not True,
        on_error=effect.on_error,
        limit=Limit(max_fires=1) if once is not None and once.flag() else UNLIMITED,
        enabled=(switch is None or switch.flag() is not False) and not _is_switched_off(format, at),
        ignored_by=format.ignored_by,
    )


def _has_type(format: AgentFormat, at: Node) -> bool:
    written = at.value.get("type")
    return written is None or (isinstance(written, str) and written in format.handlers)


def _is_switched_off(format: AgentFormat, at: Node) -> bool:
    """Whether the file disables all hooks, or this one by its name or command."""
    if format.switch is None:
        return False
    all_off, names = format.switch(at.document.value)
    return all_off or any(at.value.get(key) in names for key in ("name", *format.command_keys) if at.value.get(key))


def _on_failure(format: AgentFormat, at: Node, event: str, type_: str) -> Outcome:
    if type_ == "prompt" and event in _MODEL_GUARDS:
        return Outcome(_MODEL_GUARDS[event])
    key, closed = format.fail_closed
    place = at.get(key) if key in format.handlers[type_].keys else None
    if place is None:
        return FAILURE_OUTCOME
    said = place.flag() if closed is True else place.one_of(("open", closed))
    return _DENY if said == closed else FAILURE_OUTCOME


def _warn_unknown_keys(format: AgentFormat, at: Node, handler: Node, type_: str, *, is_flat: bool) -> None:
    keys: tuple[str, ...] = ("type", *format.handlers[type_].keys)
    if format.action_key:
        handler.warn_unknown_keys(keys, f"an action of type {type_}")
        at.warn_unknown_keys((*format.entry_keys, format.action_key, format.entry_event_key, "matcher"), "a hook")
        return
    if is_flat:
        keys = (*keys, "matcher", *((format.entry_event_key,) if format.layout is Layout.LIST else ()))
    essential = tuple(key for key in format.fail_closed[:1] if key in keys)
    at.warn_unknown_keys(keys, "a hook" if format.default_type else f"a hook of type {type_}", essential=essential)


def _handler_key(format: AgentFormat, handler: Any) -> str:
    """Equal for handlers that do the same."""
    if problems_within(handler):
        return str(id(handler))
    keys = ("name", *format.command_keys, "args", "env", "shell", "url", "prompt", "server", "tool", "input")
    return json.dumps({key: handler[key] for key in keys if handler.get(key) is not None}, sort_keys=True, default=str)


def _merge(first: Hook, second: Hook) -> Hook:
    if second.on_error == _DENY:
        first = replace(first, on_error=_DENY)
    if first.when == second.when or isinstance(first.when, Always):
        return first
    return replace(first, when=AnyOf((first.when, second.when)))

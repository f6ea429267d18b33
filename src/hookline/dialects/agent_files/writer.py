"""Writes hooks as an agent's hook file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import count
from typing import Any

from hookline.dialects.agent_files.format import (
    FAILURE_OUTCOME,
    HOOK_NAME,
    MILLISECOND,
    AgentFormat,
    Layout,
    Matching,
)
from hookline.dialects.agent_files.handlers import is_default_directory
from hookline.dialects.agent_files.matchers import write_group_keys
from hookline.dialects.condition_form import join_names, without_parts
from hookline.dialects.conversion import (
    NotExpressible,
    event_not_expressible,
    flatten_all,
    write_duration,
    write_each,
)
from hookline.dialects.dialect import WriteResult
from hookline.dialects.settings_json import append_to_group, check_expressible, require_shell_command
from hookline.hooks.actions.answer import FixedAnswer
from hookline.hooks.actions.ask_model import AskModel
from hookline.hooks.actions.post import PostEvent
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.conditions.logic import AnyOf, Not
from hookline.hooks.conditions.text import Exists, Matches
from hookline.hooks.hook import UNLIMITED, Hook
from hookline.hooks.outcome import Note, Outcome, Verdict
from hookline.hooks.protocols import Condition
from hookline.lazy_dataclasses import dataclass, field, replace
from hookline.patterns.matchers import Shorthand
from hookline.patterns.pattern import Pattern


def write_agent_file(format: AgentFormat, hooks: Iterable[Hook], extra: dict[str, Any]) -> WriteResult:
    all_hooks = list(hooks)
    file = _File(format, all_disabled=bool(all_hooks) and not any(hook.enabled for hook in all_hooks))
    not_expressible = write_each(all_hooks, lambda hook, _: file.add(hook))
    return WriteResult(file.value(extra), format.file_kind, not_expressible)


@dataclass(slots=True)
class _File:
    format: AgentFormat
    all_disabled: bool
    by_event: dict[str, list[dict[str, Any]]] = field(default_factory=dict)
    entries: list[dict[str, Any]] = field(default_factory=list)  # of a file with one list
    disabled: list[str] = field(default_factory=list)  # names of hooks that the file switches off

    def add(self, hook: Hook) -> None:
        """Raises NotExpressible."""
        format, is_off = self.format, self._is_off_by_name(hook)
        for event_name, matcher, handler in list(_entries(format, hook)):
            if is_off:
                handler.setdefault("name", hook.id)
                self.disabled.append(handler["name"])
            if format.layout is Layout.LIST:
                named = {"name": self._unused_name(_name(hook) or hook.id)} if "name" in format.entry_keys else {}
                entry = {**named, format.entry_event_key: event_name, **matcher}
                self.entries.append({**entry, **_under_action_key(format, handler)})
            elif format.layout is Layout.GROUPS:
                append_to_group(self.by_event.setdefault(event_name, []), matcher, handler)
            else:
                self.by_event.setdefault(event_name, []).append({**matcher, **handler})

    def value(self, extra: dict[str, Any]) -> Any:
        if self.format.restore is not None and self.entries:
            return self.format.restore(self.entries)
        switch, write = {}, self.format.write_switch
        if write is not None and (self.all_disabled or self.disabled):
            switch = write(None if self.all_disabled else list(dict.fromkeys(self.disabled))) or {}
        return {**extra, **switch, "hooks": self.entries if self.format.layout is Layout.LIST else self.by_event}

    def _is_off_by_name(self, hook: Hook) -> bool:
        """Whether the file names it among its disabled hooks. Raises NotExpressible if nothing can say that it is off."""
        if hook.enabled or "enabled" in self.format.entry_keys:
            return False
        write = self.format.write_switch
        if write is not None and (self.all_disabled or write([]) is not None):
            return not self.all_disabled
        raise NotExpressible("that it is disabled")

    def _unused_name(self, id: str) -> str:
        used = {entry["name"] for entry in self.entries}
        return next(name for number in count(1) if (name := id if number == 1 else f"{id} {number}") not in used)


def _name(hook: Hook) -> str:
    """The name that its file gave it; "" if its id is its place in the file."""
    name = hook.id.rpartition(":")[2]
    return name if HOOK_NAME.fullmatch(name) else ""


def _under_action_key(format: AgentFormat, handler: dict[str, Any]) -> dict[str, Any]:
    if not format.action_key:
        return handler
    of_entry = {key: value for key, value in handler.items() if key in format.entry_keys}
    of_action = {key: value for key, value in handler.items() if key not in of_entry}
    return {format.action_key: of_action, **of_entry}


def _entries(format: AgentFormat, hook: Hook) -> Iterator[tuple[str, dict[str, str], dict[str, Any]]]:
    """Event, matcher and handler of each entry that the hook needs."""
    for part in _alternatives(format, hook.when):
        yield _entry(format, hook, part)


def _entry(format: AgentFormat, hook: Hook, when: Condition) -> tuple[str, dict[str, str], dict[str, Any]]:
    """Under the first of the agent's names for the event that stands for the hook's condition, input and results."""
    names = [name for name, event in format.events.items() if event == hook.event]
    if not names:
        raise event_not_expressible(hook)
    missing: NotExpressible | None = None
    for name in sorted(names, key=lambda each: each != hook.origin.event_name):
        rest = without_parts(when, flatten_all(format.condition(name)))
        if rest is None:
            continue
        try:
            return name, write_group_keys(format, rest, name), _write_handler(format, hook, name)
        except NotExpressible as found:
            missing = missing or found
    other = "its condition" if len(names) > 2 else "that it runs whether the tool succeeded or failed"
    raise missing or NotExpressible(other)


def _alternatives(format: AgentFormat, when: Condition) -> Iterator[Condition]:
    match when:
        case AnyOf((_, Not(Exists()))):
            yield when
        case AnyOf((Matches(_, Pattern()), Matches(_, Shorthand()))) if format.matching is Matching.ALIASES:
            yield when  # one pattern, and the tools that have a name which it matches
        case AnyOf(parts):
            for part in join_names(parts):
                yield from _alternatives(format, part)
        case _:
            yield when


def _write_handler(format: AgentFormat, hook: Hook, event_name: str) -> dict[str, Any]:
    match hook.then:
        case RunProgram():
            value = _write_command(format, hook, hook.then, event_name)
        case PostEvent() if "http" in format.handlers:
            value = _write_http(format, hook, hook.then, event_name)
        case FixedAnswer(Outcome(notes=(Note(text),)) as outcome) if _tells_agent(format, outcome):
            value = {"type": format.type_name("agent"), "prompt": text}
        case AskModel(prompt, payload) if "prompt" in format.handlers and payload == format.stdin_template(event_name):
            value = {"type": "prompt", "prompt": prompt}
        case _:
            raise NotExpressible(action=hook.then)
    type_ = value["type"]
    keys = format.handlers[type_].keys
    once = "once" in keys and hook.limit.keys == ("max_fires",) and hook.limit.max_fires == 1
    check_expressible(replace(hook, enabled=True, limit=UNLIMITED if once else hook.limit))
    if not hook.enabled and "enabled" in format.entry_keys:
        value["enabled"] = False
    if format.deduplicates and "name" in keys and _name(hook):
        value["name"] = _name(hook)
    value |= _write_failure(format, hook, keys)
    if type_ != format.type_name("agent") and hook.timeout != format.default_timeout(event_name, type_):
        value |= _write_timeout(format, hook.timeout)
    if once:
        value["once"] = True
    if not hook.wait and "async" not in keys:
        raise NotExpressible("that the agent does not wait for it")
    if not hook.wait:
        value["async"] = True
    return {key: held for key, held in value.items() if key != "type" or not _omits_type(format)}


def _tells_agent(format: AgentFormat, outcome: Outcome) -> bool:
    """True if the outcome is one text for the agent, and the format has a handler for that."""
    type_ = format.type_name("agent")
    has_type = type_ in format.handlers and not format.handlers[type_].not_here
    return has_type and outcome == Outcome(notes=(Note(outcome.notes[0].text),))


def _omits_type(format: AgentFormat) -> bool:
    return bool(format.default_type) and len(format.handlers) == 1


def _write_timeout(format: AgentFormat, timeout: timedelta) -> dict[str, Any]:
    if not format.timeout_keys:
        raise NotExpressible("a timeout")
    key = format.timeout_keys[0]
    unit = MILLISECOND if key.endswith("_ms") else format.timeout_unit
    number = write_duration(timeout, unit)
    limit = format.reads_milliseconds_from
    return {key: write_duration(timeout, MILLISECOND) if limit is not None and number >= limit else number}


def _write_failure(format: AgentFormat, hook: Hook, keys: tuple[str, ...]) -> dict[str, Any]:
    if hook.on_error == FAILURE_OUTCOME or isinstance(hook.then, AskModel | FixedAnswer):
        return {}
    key, closed = format.fail_closed
    if key in keys and hook.on_error == Outcome(Verdict.DENY):
        return {key: closed}
    raise NotExpressible("what a failure counts as")


def _write_command(format: AgentFormat, hook: Hook, run: RunProgram, event_name: str) -> dict[str, Any]:
    program, type_ = run.program, format.type_name("command")
    keys = format.handlers[type_].keys
    if run.only_if is not None:
        raise NotExpressible(hook.origin.wording.only_if)
    if run.result_parser != format.result_parser(event_name):
        raise NotExpressible(hook.origin.wording.result(run.result_parser.format))
    own = dict(format.environment_templates(event_name))
    more = [(name, text) for name, text in program.env if name not in own or own[name] != text]
    if program.stdin not in (None, format.stdin_template(event_name)):
        raise NotExpressible("its stdin and environment")
    if more and ("env" not in keys or any(text is None or not text.constant for _, text in more)):
        raise NotExpressible("its stdin and environment")
    directory = [key for key in ("cwd", "working_directory") if key in keys]
    if program.cwd is not None and is_default_directory(format, program.cwd):
        program = replace(program, cwd=None)
    if program.cwd is not None and not directory:
        raise NotExpressible("a working directory")
    if program.argv and "args" not in keys:
        raise NotExpressible("a program without a shell")
    value: dict[str, Any] = {"type": type_}
    if program.argv:
        command, *args = (part.source for part in program.argv)
        value |= {format.program_key or format.command_keys[0]: command, "args": args}
    else:
        value[format.command_keys[0]] = require_shell_command(replace(program, cwd=None))
    if program.cwd is not None:
        value[directory[0]] = program.cwd.source.removeprefix("{{workspace}}/")
    return {**value, "env": {name: text.source for name, text in more if text is not None}} if more else value


def _write_http(format: AgentFormat, hook: Hook, action: PostEvent, event_name: str) -> dict[str, Any]:
    if action.result_parser != format.result_parser(event_name):
        raise NotExpressible(hook.origin.wording.result(action.result_parser.format))
    if action.body != format.stdin_template(event_name):
        raise NotExpressible("the body that it posts")
    value: dict[str, Any] = {"type": "http", "url": action.url}
    if action.headers:
        value["headers"] = dict(action.headers)
    if action.variables:
        value["allowedEnvVars"] = list(action.variables)
    return value

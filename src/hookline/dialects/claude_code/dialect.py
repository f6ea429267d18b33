"""Reads the `hooks` of Claude Code's settings.json and of its plugins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document, problems_within
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.claude_code.copilot import COPILOT, is_rejected_by_copilot
from hookline.dialects.claude_code.handlers import parse_handler, warn_unknown_handler_keys
from hookline.dialects.claude_code.matchers import TOOL_FAILED, parse_matcher, parse_permission_rule, tool_of_rule
from hookline.dialects.claude_code.names import (
    CONTINUE,
    EVENTS,
    FAILURE_OUTCOME,
    HANDLER_KEYS,
    MATCHER_FACTS,
    MODEL_GUARDS,
    MODEL_TYPES,
    NAME,
    TOOL_EVENTS,
    VOCABULARY,
    failure_outcome,
    is_component_file,
    is_plugin_file,
)
from hookline.dialects.claude_code.permissions import parse_permissions
from hookline.dialects.claude_code.wording import WORDING
from hookline.dialects.conversion import is_complete
from hookline.dialects.dialect import Excerpt, LoadResult, WriteResult, has_disabling_error
from hookline.dialects.settings_json import (
    CLAUDE_ONLY_EVENTS,
    GROUP_KEYS,
    TOOL_SUCCEEDED,
    EventEntry,
    agent_of_own_entry,
    hook_id,
    hooks_of_group,
    is_group,
    is_settings_file,
    load_hooks,
    parse_entries,
    recognise_entries,
    warn_ignored_matcher,
)
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.conditions.logic import ALWAYS, Always, AnyOf, Never, all_of
from hookline.hooks.hook import UNLIMITED, Hook, Limit, Origin
from hookline.hooks.outcome import Outcome
from hookline.hooks.protocols import Condition
from hookline.hooks.tools import ToolKind, kind_of_name
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import json
from hookline.patterns.pattern import BadPattern

EVENT_NAMES: Final = {**EVENTS, **dict.fromkeys(CLAUDE_ONLY_EVENTS, "")}
_OUTCOME_CONDITIONS: Final[dict[str, Condition]] = {"PostToolUse": TOOL_SUCCEEDED, "PostToolUseFailure": TOOL_FAILED}
_OWN_EVENTS: Final = set(EVENT_NAMES) - {"PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop"}
"""Events that no other dialect with this shape has."""
_OWN_KEYS: Final = {key for keys in HANDLER_KEYS.values() for key in keys} - {"type", "command", "timeout"}

_MISREADING_AGENTS: Final = ("cursor", "grok-build", "vscode-copilot")
"""They run the hooks of these files, but with other names of tools and fields, or without reading a deny in JSON, and Cursor
only if the user enables it. So guards of these files run a second time there.
"""


class ClaudeCodeDialect:
    name = NAME
    has_app_keys = False

    def recognises(self, document: Document) -> bool:
        folder = PurePath(document.file).parent.name
        if folder.startswith("."):  # other agents' files may look the same but count in other units
            return folder == ".claude"
        if is_plugin_file(document.file):
            return True
        groups = recognise_entries(document, EVENT_NAMES)
        if groups is None or not all(is_group(group, HANDLER_KEYS) for group in groups):
            return False
        if is_component_file(document.file) or not _OWN_EVENTS.isdisjoint(document.value["hooks"]):
            return True
        has_own_key = any(_OWN_KEYS & hook.keys() for group in groups for hook in group["hooks"])
        return has_own_key or (
            is_settings_file(document) and not any(_uses_other_tool_names(group) for group in groups)
        )

    def load(self, document: Document) -> LoadResult:
        loaded = load_hooks(document, _parse_hooks)
        return replace(loaded, problems=(*loaded.problems, *_warn_relaxed_json(document)))

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.claude_code.schema import build_schema

        return build_schema()

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        from hookline.dialects.claude_code.writer import write_hooks

        return write_hooks(hooks)

    def excerpt(self, hook: Hook) -> Excerpt | None:
        written = self.write([hook])
        return Excerpt(written.value) if is_complete(hook, written.not_expressible) else None


DIALECT: Final = ClaudeCodeDialect()


def _uses_other_tool_names(group: dict[str, Any]) -> bool:
    """Whether it calls a kind of tool by a name that Claude Code does not use."""
    own_names = {name for names in VOCABULARY.names.values() for name in names}
    names = str(group.get("matcher", "")).split("|")
    return any(kind_of_name(name) is not ToolKind.OTHER and name not in own_names for name in names)


def _warn_relaxed_json(document: Document) -> tuple[Problem, ...]:
    """A warning for comments and trailing commas: with them, Claude Code ignores the whole file."""
    if PurePath(document.file).suffix != ".json" or not document.text.strip():
        return ()
    try:
        json.loads(document.text, parse_int=str)  # a number may have too many digits for an int
    except json.JSONDecodeError as error:
        what = "Claude Code ignores this whole file, because it reads JSON without comments and trailing commas."
        warning = Problem("relaxed-json", document.file, error.lineno, what, "Remove them.", Severity.WARNING)
        return (warning,)
    except RecursionError:
        pass
    return ()


def _disables_all_hooks(document: Document, problems: list[Problem]) -> bool:
    flag = Node.of(document, problems).get("disableAllHooks")
    return flag is not None and flag.flag() is True


def _parse_hooks(document: Document, problems: list[Problem]) -> Iterable[Hook]:
    """A handler that occurs in several groups of an event is one hook, which runs if any of the groups matches."""
    hooks: dict[str, Hook] = {}
    for entry in parse_entries(document, problems, EVENT_NAMES):
        if not entry.event:
            _warn_unsupported_event(entry)
            continue
        for handler, hook in _parse_group(entry):
            key = f"{entry.event_name} {hook.id if problems_within(handler) else _handler_key(handler)}"
            hooks[key] = _merge_hooks(hooks[key], hook) if key in hooks else hook
    rejecting = (COPILOT,) if is_rejected_by_copilot(document) else ()
    hooks = {
        key: replace(hook, ignored_by=rejecting + (_MISREADING_AGENTS if _is_guard(hook) else ()))
        for key, hook in hooks.items()
    }
    rules = tuple(parse_permissions(document, problems))
    if _disables_all_hooks(document, problems):
        return [*(replace(hook, enabled=False) for hook in hooks.values()), *rules]
    return [*hooks.values(), *rules]


def _is_guard(hook: Hook) -> bool:
    return hook.event in ("tool.before", "prompt.submit") and hook.wait


def _warn_unsupported_event(entry: EventEntry) -> None:
    if entry.index == 0:
        what = f"{entry.at.location}: only Claude Code has {entry.event_name}; these hooks never run elsewhere."
        entry.at.add_problem("not-here", what, "", severity=Severity.WARNING)


def _handler_key(handler: dict[str, Any]) -> str:
    """Equal for handlers that do the same; a flag that is false and a null count as absent."""
    written = {key: value for key, value in handler.items() if value is not None and value is not False}
    compared = {key: value for key, value in written.items() if key != "statusMessage"}
    return json.dumps(compared, sort_keys=True)


def _merge_hooks(first: Hook, second: Hook) -> Hook:
    if first.when == second.when or isinstance(first.when, Always):
        return first
    return replace(first, when=AnyOf((first.when, second.when)))


def _parse_group(entry: EventEntry) -> Iterator[tuple[dict[str, Any], Hook]]:
    entry.at.warn_unknown_keys(GROUP_KEYS, "a group")
    when = _parse_group_matcher(entry)
    for number, place in enumerate(hooks_of_group(entry.at)):
        if _is_own_entry(place.value):
            continue
        id = hook_id(place.document, entry.event_name, entry.index, number)
        hook = _parse_hook(place, entry, when or ALWAYS, id)
        if hook is not None and when is not None:
            yield place.value, hook


def _is_own_entry(handler: Any) -> bool:
    """hookline's own entry is not a hook: through it, other agents would ask every hook a second time."""
    return isinstance(handler, dict) and any(
        agent_of_own_entry(str(handler.get(key, ""))) for key in ("command", "url")
    )


def _parse_group_matcher(entry: EventEntry) -> Condition | None:
    place = entry.at.get("matcher")
    text = None if place is None else place.text(empty=True)
    if place is None or text is None:
        return ALWAYS if place is None else None
    if entry.event_name not in TOOL_EVENTS and entry.event_name not in MATCHER_FACTS:
        if text not in ("", "*"):
            warn_ignored_matcher(place, entry.event_name)
        return ALWAYS
    try:
        return parse_matcher(text, entry.event_name)
    except BadPattern as bad:
        tool = tool_of_rule(text)
        hint = (
            WORDING.input_rule.format(tool, text) if tool else "Write names as Edit|Write, a regular expression, or *."
        )
        place.add_problem("bad-pattern", f"{place.location}: {bad.why}.", hint)
        return None


def _parse_hook(at: Node, entry: EventEntry, when: Condition, id: str) -> Hook | None:
    """None after a problem."""
    before = len(at.problems)
    part = at.readable_part(("if",))
    if part is None or part[0].mapping() is None:
        return None
    at, damaged = part
    if not damaged:
        warn_unknown_handler_keys(at)
        before = len(at.problems)
    parsed, rule = None if damaged else parse_handler(at, entry.event_name), _parse_rule(at, entry.event_name)
    once = at.get("once")
    limit = Limit(max_fires=1) if once is not None and once.flag() else UNLIMITED
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    if rule is None:
        return None
    if errors and not _lets_errors_through(at):  # it could have blocked
        parsed = HoldCall(str(errors[0]), written=at.value), timedelta(seconds=60)
    elif parsed is None or has_disabling_error(errors):
        return None
    action, timeout = parsed
    if _rewakes(at):
        what = f"{at.location}: only Claude Code wakes the model after asyncRewake; elsewhere the hook just runs in the background."
        at.add_problem("not-here", what, "", severity=Severity.WARNING)
    return Hook(
        id=id,
        event=entry.event,
        when=all_of([when, rule, _OUTCOME_CONDITIONS.get(entry.event_name, ALWAYS)]),
        then=action,
        origin=Origin(at.document.file, at.line, NAME, entry.event_name, WORDING),
        group=NAME,
        timeout=timeout,
        wait=not _runs_in_background(at),
        on_error=_parse_on_failure(at, entry.event_name),
        limit=limit,
    )


def _parse_on_failure(at: Node, event_name: str) -> Outcome:
    """The agent does not wait for a hook in the background, so its failure blocks nothing."""
    if _runs_in_background(at):
        return FAILURE_OUTCOME
    if at.value.get("type") in MODEL_TYPES and event_name in MODEL_GUARDS:
        return MODEL_GUARDS[event_name]
    return failure_outcome(event_name, str(at.value.get("onFailure") or CONTINUE))


def _lets_errors_through(at: Node) -> bool:
    """Its author wrote that failures do not block, or the agent does not wait for it."""
    return at.value.get("onFailure") == CONTINUE or _runs_in_background(at)


def _runs_in_background(at: Node) -> bool:
    return at.value.get("async") is True or _rewakes(at)


def _rewakes(at: Node) -> bool:
    return at.value.get("asyncRewake") is True


def _parse_rule(at: Node, event_name: str) -> Condition | None:
    place = at.get("if")
    text = None if place is None else place.text()
    if place is None or text is None:
        return ALWAYS if place is None else None
    try:
        rule = parse_permission_rule(text)
    except BadPattern as bad:
        place.add_problem(
            "bad-rule", f"{place.location}: {bad.why}.", "Write a rule such as Bash(rm *) or Edit(src/**)."
        )
        return None
    if event_name not in TOOL_EVENTS:
        why = f"{event_name} has no tool, so a hook with if never runs."
        place.add_problem("never-applies", f"{place.location}: {why}", "Remove if.", severity=Severity.WARNING)
        return Never(why)
    if rule.warning:
        place.add_problem("ignored", f"{place.location}: {rule.warning}", "", severity=Severity.WARNING)
    return rule.condition

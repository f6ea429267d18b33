"""Reads the hooks of a digitorn app file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node, format_value
from hookline.config.problem import Problem, Severity
from hookline.dialects.capabilities import digitorn_capabilities
from hookline.dialects.dialect import LoadResult, WriteResult, has_errors
from hookline.dialects.digitorn.actions import ParsedAction, could_deny, parse_action
from hookline.dialects.digitorn.conditions import parse_condition
from hookline.dialects.digitorn.wording import WORDING
from hookline.formatting import closest_match, is_typo
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.events import events_by_name
from hookline.hooks.hook import GLOBAL_SCOPE, Hook, Limit, Origin, Scope

_MAX_NESTING: Final = 8

NAME: Final = "digitorn"
EVENTS: Final = events_by_name(NAME)
HOOK_KEYS: Final = ("id", "on", "condition", "action", "cooldown", "max_fires", "priority", "enabled", "tags")
COORDINATOR_EVENTS: Final = ("session_start", "session_end", "agent_spawn", "agent_complete")
DEFAULT_EVENT: Final = "turn_end"
DEFAULT_PRIORITY: Final = 100
MAX_COOLDOWN_SECONDS: Final = 1_000_000_000
"""Far longer than any session, and safely within what a timedelta can hold."""


class DigitornDialect:
    name = NAME
    has_app_keys = False

    def recognises(self, document: Document) -> bool:
        path, value = PurePath(document.file), document.value
        if not isinstance(value, dict) or path.name.startswith("hookline.") or path.parent.name == ".hookline":
            return False
        if path.stem == NAME:
            return True
        if path.name == "app.yaml":
            return any(is_typo(key, name) for key in value for name in ("runtime", "agents", "execution"))
        return any(_has_hooks(value.get(key)) for key in ("runtime", "execution")) or _agents_have_hooks(value)

    def load(self, document: Document) -> LoadResult:
        problems: list[Problem] = []
        hooks = tuple(_parse_hooks(Node.of(document, problems)))
        capabilities = digitorn_capabilities(document)
        return LoadResult(hooks, tuple(problems), capabilities=capabilities, is_readable=_is_readable(document.value))

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.digitorn.schema import build_schema

        return build_schema()

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        from hookline.dialects.digitorn.writer import write_hooks

        return write_hooks(hooks)


DIALECT: Final = DigitornDialect()


def _is_readable(value: Any) -> bool:
    """Whether each place for hooks is a list or absent."""
    if type(value) is not dict:
        return True  # a file of something else
    agents = value.get("agents")
    blocks = [value.get("runtime"), value.get("execution"), *(agents if type(agents) is list else [])]
    if not (agents is None or type(agents) is list) or any(isinstance(each, list) and each for each in blocks):
        return False
    return all(type(block.get("hooks") or []) is list for block in blocks if isinstance(block, dict))


def _has_hooks(block: Any) -> bool:
    return isinstance(block, dict) and "hooks" in block


def _agents_have_hooks(value: dict[str, Any]) -> bool:
    agents = value.get("agents")
    return isinstance(agents, list) and any(_has_hooks(agent) for agent in agents)


def _parse_hooks(at: Node) -> Iterator[Hook]:
    """The app's hooks, then each agent's. Other keys of the file are ignored."""
    if not isinstance(at.value, dict):
        if at.value is not None and _is_own_file(at):
            at.mapping()  # adds a problem
        return
    if not any(_has_hooks(at.value.get(key)) for key in ("runtime", "execution")) and not _agents_have_hooks(at.value):
        at.report_misspelling("runtime")
        at.report_misspelling("agents")
        _report_misplaced_hooks(at)
    app = _block_hooks(at, "runtime")
    legacy = _block_hooks(at, "execution")
    if app is not None and legacy is not None:
        what = "execution.hooks is not read because there is also runtime.hooks."
        legacy.add_problem(
            "legacy-key", what, "Move its hooks to runtime.hooks.", at_key=True, severity=Severity.WARNING
        )
    yield from _parse_scope_hooks(app if app is not None else legacy, GLOBAL_SCOPE)
    agents = at.get("agents")
    if agents is None or agents.value is None:
        return
    started = _triggered_agents(at.value)
    for agent in agents.items():
        agent.report_misspelling("hooks")
        hooks = agent.get("hooks")
        if hooks is not None:
            value = agent.value if isinstance(agent.value, dict) else {}
            if value.get("role") == "specialist" and value.get("id") not in started:
                _warn_never_fired(hooks)
            yield from _parse_scope_hooks(hooks, _agent_scope(agent))


def _triggered_agents(config: dict[str, Any]) -> list[Any]:
    """The agents with which a trigger starts a session of their own."""
    triggers = config.get("triggers")
    return [each.get("agent") for each in triggers if isinstance(each, dict)] if isinstance(triggers, list) else []


def _warn_never_fired(hooks: Node) -> None:
    """A specialist has no session of its own, and starts nobody."""
    for place in hooks.items() if isinstance(hooks.value, list) else ():
        on = place.get("on") if isinstance(place.value, dict) else None
        if on is not None and on.value in COORDINATOR_EVENTS:
            what = f"{on.location}: {on.value} never fires for a specialist."
            hint = "Move the hook to runtime.hooks, or to the coordinator."
            on.add_problem("never-fires", what, hint, severity=Severity.WARNING)


def _is_own_file(at: Node) -> bool:
    """No other program has a file of this name."""
    return PurePath(at.document.file).name == "digitorn.yaml"


def _report_misplaced_hooks(at: Node) -> None:
    for key, place in at.entries():
        if key == "agents":  # a problem unless it is a list
            continue
        if "hooks" in key or _looks_like_hooks(place.value):
            what = f"{format_value(key)} is not read here."
            place.add_problem("not-read", what, "Write runtime: and hooks: below it.", at_key=True)
        else:
            _report_nested_hooks(place, key)


def _report_nested_hooks(at: Node, path: str) -> None:
    if not isinstance(at.value, dict) or path.count(".") > _MAX_NESTING:
        return
    for key, place in at.entries():
        if path in ("runtime", "execution") and is_typo(key, "hooks"):
            continue  # reported as such
        if _looks_like_hooks(place.value):
            what = f"{format_value(f'{path}.{key}')} is not read."
            place.add_problem("not-read", what, "Hooks are read from runtime.hooks.", at_key=True)
        else:
            _report_nested_hooks(place, f"{path}.{key}")


def _looks_like_hooks(value: Any) -> bool:
    """A list of mappings with an action: nothing else in such a file has that form."""
    return isinstance(value, list) and any(isinstance(each, dict) and "action" in each for each in value)


def _block_hooks(at: Node, key: str) -> Node | None:
    block = at.get(key)
    if block is None:
        return None
    if not isinstance(block.value, dict | None) and (
        _is_own_file(at) or (isinstance(block.value, list) and block.value)
    ):
        block.mapping()  # adds a problem; in app.yaml, a number or a text belongs to another program
    block.report_misspelling("hooks")
    return block.get("hooks")


def _agent_scope(agent: Node) -> Scope | None:
    id = agent.require("id", "Write id: name. Without it, the agent's hooks never run.")
    name = None if id is None else id.text()
    return None if name is None else Scope(agent=name)


def _parse_scope_hooks(hooks: Node | None, scope: Scope | None) -> Iterator[Hook]:
    """The hooks of one scope, with unique ids. Without a scope they are only checked."""
    if hooks is None or hooks.value is None:
        return
    seen: dict[str, int] = {}
    for place in hooks.items():
        hook = _parse_hook(place, scope or GLOBAL_SCOPE)
        if hook is None or scope is None:
            continue
        if hook.id in seen:
            what = f"{place.location}: id {hook.id} is used twice in this scope; first on line {seen[hook.id]}."
            place.add_problem("duplicate-id", what, "Give this hook another id.")
            continue
        seen[hook.id] = hook.origin.line
        yield hook


def _parse_hook(at: Node, scope: Scope) -> Hook | None:
    """None if nobody can say what it guards.

    If only the rest cannot be read, a hook that could deny holds the call. A command that cannot be rendered fails when
    it runs.
    """
    before = len(at.problems)
    part = at.readable_part(("on", "condition"))
    if part is None or part[0].mapping() is None:
        return None
    at, damaged = part
    readable = len(at.problems)
    misplaced = _misplaced_event(at)
    at.warn_unknown_keys(HOOK_KEYS if misplaced is None else (*HOOK_KEYS, str(misplaced.path[-1])), "a hook")
    event = _parse_event(at.get("on") if misplaced is None else misplaced, is_misplaced=misplaced is not None)
    when = parse_condition(at.get("condition"))
    is_readable = not has_errors(at.problems[readable:])
    id = at.get("id") if "id" in damaged else at.require("id", "Write id: name.")
    then = at.get("action") if "action" in damaged else at.require("action", "Write action: {type: …}.")
    name = None if id is None else id.text()
    parsed = None if then is None else parse_action(then)
    settings = _parse_settings(at, parsed)
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    if event is None or when is None or not is_readable:
        return None
    if name is None or parsed is None or len(errors) > parsed.broken_commands:
        if not could_deny(then):
            return None
        parsed = ParsedAction(HoldCall(str(errors[0]), written=at.value.get("action")))
    return Hook(
        id=name or f"{PurePath(at.document.file).name}:{at.line}",
        event=event,
        when=when,
        then=parsed.action,
        origin=Origin(at.document.file, at.line, NAME, str(at.value.get("on") or ""), WORDING),
        scope=scope,
        group=NAME,
        timeout=parsed.timeout,
        on_error=parsed.on_error,
        **settings,
    )


def _misplaced_event(at: Node) -> Node | None:
    """The event under another key than `on`. As a hook for turn_end, it would never do what its author meant."""
    if at.get("on") is not None:
        return None
    others = ((key, place) for key, place in at.entries() if key not in HOOK_KEYS)
    return next((place for key, place in others if is_typo(key, "on") or _is_event(place.value)), None)


def _is_event(value: object) -> bool:
    return isinstance(value, str) and value in EVENTS


def _parse_event(on: Node | None, *, is_misplaced: bool) -> str | None:
    if on is None:
        return EVENTS[DEFAULT_EVENT]
    if is_misplaced:
        what = f"{on.location}: the event of a hook stands under on."
        on.add_problem("unknown-key", what, f"Write on: {on.value}.", at_key=True)
        return None
    name = on.text()
    if name is None:
        return None
    if name not in EVENTS:
        guess = closest_match(name, EVENTS)
        hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(EVENTS)}."
        on.add_problem("unknown-event", f"{on.location}: there is no event {name!r}.", hint)
    return EVENTS.get(name)


def _parse_settings(at: Node, parsed: ParsedAction | None) -> dict[str, Any]:
    priority, enabled, tags = at.get("priority"), at.get("enabled"), at.get("tags")
    order = DEFAULT_PRIORITY if priority is None else priority.integer()
    tag_names = () if tags is None or tags.sequence() is None else tags.texts()
    return {
        "order": order_of(DEFAULT_PRIORITY if order is None else order),
        "enabled": True if enabled is None else enabled.flag() is not False,
        "tags": tag_names or (),
        "limit": _parse_limit(at, parsed),
    }


def order_of(priority: int) -> int:
    """digitorn's default priority is 100, hookline's order is 0. Lower comes first in both."""
    return priority - DEFAULT_PRIORITY


def _parse_limit(at: Node, parsed: ParsedAction | None) -> Limit:
    """0 means no limit. Every hook is counted, so that tools can report how often it fired."""
    fires, cooldown = at.get("max_fires"), at.get("cooldown")
    most = None if fires is None else fires.integer(least=0, hint="0 means no limit.")
    seconds = (
        None
        if cooldown is None
        else cooldown.number(least=0, most=MAX_COOLDOWN_SECONDS, hint="digitorn counts seconds; write 60 for a minute.")
    )
    return Limit(
        most or None,
        timedelta(seconds=seconds) if seconds else None,
        parsed.cooldown_turns if parsed is not None else None,
        is_counted=True,
    )

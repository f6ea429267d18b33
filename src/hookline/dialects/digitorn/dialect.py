"""Reads an app file's hooks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import PurePath
from typing import Any, Final

from hookline.config.document import Document
from hookline.config.node import Node
from hookline.config.problem import Problem, Severity
from hookline.dialects.capabilities import digitorn_capabilities
from hookline.dialects.dialect import ConfigLocation, LoadResult, WriteResult
from hookline.dialects.digitorn.actions import ParsedAction, parse_action
from hookline.dialects.digitorn.conditions import parse_condition
from hookline.formatting import closest_match
from hookline.hooks.events import events_by_name
from hookline.hooks.hook import GLOBAL_SCOPE, Hook, Limit, Origin, Scope

NAME: Final = "digitorn"
EVENTS: Final = events_by_name(NAME)
HOOK_KEYS: Final = ("id", "on", "condition", "action", "cooldown", "max_fires", "priority", "enabled", "tags")
DEFAULT_EVENT: Final = "turn_end"
DEFAULT_PRIORITY: Final = 100
MAX_COOLDOWN_SECONDS: Final = 1_000_000_000
"""Seconds; more would be longer than anything runs, and a few more than a timedelta holds."""


class DigitornDialect:
    name = NAME
    places = (ConfigLocation("digitorn.yaml"), ConfigLocation("app.yaml"))

    def recognises(self, document: Document) -> bool:
        path, value = PurePath(document.file), document.value
        if not isinstance(value, dict) or path.name.startswith("hookline.") or path.parent.name == ".hookline":
            return False
        if path.stem == NAME or path.name == "app.yaml":
            return any(key in value for key in ("runtime", "agents", "execution"))
        return any(_has_hooks(value.get(key)) for key in ("runtime", "execution")) or _agents_have_hooks(value)

    def load(self, document: Document) -> LoadResult:
        problems: list[Problem] = []
        hooks = tuple(_parse_hooks(Node.of(document, problems)))
        return LoadResult(hooks, tuple(problems), capabilities=digitorn_capabilities(document))

    def schema(self) -> dict[str, Any]:
        from hookline.dialects.digitorn.schema import build_schema

        return build_schema()

    def write(self, hooks: Iterable[Hook]) -> WriteResult:
        from hookline.dialects.digitorn.writer import write_hooks

        return write_hooks(hooks)


DIALECT: Final = DigitornDialect()


def _has_hooks(block: Any) -> bool:
    return isinstance(block, dict) and "hooks" in block


def _agents_have_hooks(value: dict[str, Any]) -> bool:
    agents = value.get("agents")
    return isinstance(agents, list) and any(_has_hooks(agent) for agent in agents)


def _parse_hooks(at: Node) -> Iterator[Hook]:
    """The app's own, then each agent's; the file's other keys are none of our business."""
    if not isinstance(at.value, dict):
        return
    app = _block_hooks(at, "runtime")
    legacy = _block_hooks(at, "execution")
    if app is not None and legacy is not None:
        what = "execution.hooks is not read: runtime.hooks stands beside it."
        legacy.add_problem(
            "legacy-key", what, "Move its hooks to runtime.hooks.", at_key=True, severity=Severity.WARNING
        )
    yield from _parse_scope_hooks(app if app is not None else legacy, GLOBAL_SCOPE)
    agents = at.get("agents")
    if agents is None or agents.value is None:
        return
    for agent in agents.items():
        hooks = agent.get("hooks")
        if hooks is not None:
            yield from _parse_scope_hooks(hooks, _agent_scope(agent))


def _block_hooks(at: Node, key: str) -> Node | None:
    block = at.get(key)
    return None if block is None else block.get("hooks")


def _agent_scope(agent: Node) -> Scope | None:
    id = agent.get("id")
    if id is None:
        agent.add_problem(
            "missing-key", f"{agent.location}: id is missing, so its hooks belong to nobody.", "Write id: name."
        )
        return None
    name = id.text()
    return None if name is None else Scope(agent=name)


def _parse_scope_hooks(hooks: Node | None, scope: Scope | None) -> Iterator[Hook]:
    """The hooks of one scope; their ids are unique within it. Without a scope they are only looked over."""
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
    """None after an error; a command that cannot be rendered is one, but its hook still answers for itself."""
    before = len(at.problems)
    if at.has_unreadable_parts() or at.mapping() is None:
        return None
    at.check_keys(HOOK_KEYS, "a hook")
    id, event = _require_key(at, "id", "id: name"), _parse_event(at)
    name = None if id is None else id.text()
    when = parse_condition(at.get("condition"))
    then = _require_key(at, "action", "action: {type: …}")
    made = None if then is None else parse_action(then)
    settings = _parse_settings(at, made)
    errors = [problem for problem in at.problems[before:] if problem.severity is Severity.ERROR]
    if name is None or event is None or when is None or made is None or len(errors) > made.broken_commands:
        return None
    return Hook(
        id=name,
        event=event,
        when=when,
        then=made.action,
        origin=Origin(at.document.file, at.line, NAME),
        scope=scope,
        group=NAME,
        timeout=made.timeout,
        on_error=made.on_error,
        **settings,
    )


def _require_key(at: Node, key: str, example: str) -> Node | None:
    place = at.get(key)
    if place is None:
        at.add_problem("missing-key", f"{at.location}: {key} is missing.", f"Write {example}.")
    return place


def _parse_event(at: Node) -> str | None:
    on = at.get("on")
    if on is None:
        return EVENTS[DEFAULT_EVENT]
    name = on.text()
    if name is None:
        return None
    if name not in EVENTS:
        guess = closest_match(name, EVENTS)
        hint = f"Did you mean {guess}?" if guess else f"The events are {', '.join(EVENTS)}."
        on.add_problem("unknown-event", f"{on.location}: there is no event {name!r}.", hint)
    return EVENTS.get(name)


def _parse_settings(at: Node, made: ParsedAction | None) -> dict[str, Any]:
    priority, enabled, tags = at.get("priority"), at.get("enabled"), at.get("tags")
    order = DEFAULT_PRIORITY if priority is None else priority.integer()
    listed = () if tags is None or tags.sequence() is None else tags.texts()
    return {
        "order": order_of(DEFAULT_PRIORITY if order is None else order),
        "enabled": True if enabled is None else enabled.flag() is not False,
        "tags": listed or (),
        "limit": _parse_limit(at, made),
    }


def order_of(priority: int) -> int:
    """The format's default is 100, ours is 0; lower is asked first in both."""
    return priority - DEFAULT_PRIORITY


def _parse_limit(at: Node, made: ParsedAction | None) -> Limit:
    """0 means no limit in the file; every hook is counted, for those who ask how often it fired."""
    fires, cooldown = at.get("max_fires"), at.get("cooldown")
    most = None if fires is None else fires.integer(least=0, hint="0 means no limit.")
    seconds = (
        None if cooldown is None else cooldown.number(least=0, most=MAX_COOLDOWN_SECONDS, hint="It counts seconds.")
    )
    return Limit(
        most or None,
        timedelta(seconds=seconds) if seconds else None,
        made.cooldown_turns if made is not None else None,
        is_counted=True,
    )

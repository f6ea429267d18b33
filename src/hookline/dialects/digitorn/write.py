"""Hooks in the format's own words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hookline.dialects.dialect import Written
from hookline.dialects.digitorn.actions import TIMEOUT
from hookline.dialects.digitorn.dialect import DEFAULT_PRIORITY, NAME
from hookline.dialects.digitorn.texts import TONGUE
from hookline.dialects.digitorn.write_actions import Writing, action_value, seconds
from hookline.dialects.digitorn.write_conditions import condition_value
from hookline.dialects.unsaid import Unsaid
from hookline.hooks.actions.chain import Chain
from hookline.hooks.actions.program import Run
from hookline.hooks.conditions.logic import Always
from hookline.hooks.events import name_in
from hookline.hooks.facts import FactReader
from hookline.hooks.hook import Hook


def written(hooks: Iterable[Hook]) -> Written:
    app: list[dict[str, Any]] = []
    agents: dict[str, list[dict[str, Any]]] = {}
    unsaid: list[str] = []
    for hook in hooks:
        writing = Writing(hook.id, hook.limit.cooldown_turns)
        try:
            value = _hook_value(hook, writing)
        except Unsaid as missing:
            writing.remarks = [str(missing)]
        else:
            agent = hook.scope.agent
            (app if agent is None else agents.setdefault(agent, [])).append(value)
        unsaid += [f"{hook.id} ({hook.origin.file}:{hook.origin.line}): {remark}" for remark in writing.remarks]
    value = {"runtime": {"hooks": app}}
    if agents:
        return Written(
            value | {"agents": [{"id": id, "hooks": own} for id, own in agents.items()]}, "yaml", tuple(unsaid)
        )
    return Written(value, "yaml", tuple(unsaid))


def _hook_value(hook: Hook, writing: Writing) -> dict[str, Any]:
    event = name_in(NAME, hook.event)
    if event is None:
        raise Unsaid(f"the event {hook.event}")
    if hook.scope.prompt is not None or hook.scope.session is not None:
        raise Unsaid("a scope of one prompt or session")
    if not hook.wait:
        raise Unsaid("work in the background")
    if _speaks_otherwise(hook.then):
        raise Unsaid("the tool's name in another format's words")
    value: dict[str, Any] = {"id": hook.id, "on": event}
    if not isinstance(hook.when, Always):
        value["condition"] = condition_value(hook.when)
    value["action"] = action_value(hook.then, hook.on_error, writing)
    if not hook.then.instant and not isinstance(hook.then, (Run, Chain)) and hook.timeout != TIMEOUT:
        writing.remarks.append(f"its timeout of {seconds(hook.timeout)} s")
    return value | _settings(hook, value["action"])


def _settings(hook: Hook, action: dict[str, Any]) -> dict[str, Any]:
    limit = hook.limit
    if limit.cooldown_turns is not None and not _compacts(action):
        raise Unsaid("a pause counted in turns")
    value: dict[str, Any] = {}
    if limit.cooldown is not None:
        value["cooldown"] = seconds(limit.cooldown)
    if limit.max_fires is not None:
        value["max_fires"] = limit.max_fires
    if hook.order:
        value["priority"] = hook.order + DEFAULT_PRIORITY
    if not hook.enabled:
        value["enabled"] = False
    if hook.tags:
        value["tags"] = list(hook.tags)
    return value


def _compacts(action: dict[str, Any]) -> bool:
    return action["type"] == "compact_context" or any(
        _compacts(step) for step in action.get("actions", ()) if action["type"] == "chain"
    )


def _speaks_otherwise(value: Any) -> bool:
    """Whether it says a tool's name in another tongue than the format's; fields have the same names in both."""
    if isinstance(value, FactReader):
        return value.path == ("tool", "name") and value.tongue.name != TONGUE.name
    if isinstance(value, dict):
        return _speaks_otherwise(list(value.values()))
    if isinstance(value, (list, tuple)):
        return any(_speaks_otherwise(part) for part in value)
    names = getattr(value, "__dataclass_fields__", ())
    return any(_speaks_otherwise(getattr(value, name)) for name in names)

"""Hooks in the native format's own words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hookline.config.duration import LONGEST, duration_text
from hookline.dialects.dialect import Written
from hookline.dialects.native.dialect import NAME, TIMEOUT
from hookline.dialects.native.write_actions import action_value, error_value
from hookline.dialects.native.write_conditions import condition_value
from hookline.dialects.unsaid import Unsaid
from hookline.hooks.actions.program import Run
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import SILENT


def written(hooks: Iterable[Hook]) -> Written:
    said: list[dict[str, Any]] = []
    unsaid: list[str] = []
    for hook in hooks:
        try:
            said.append(hook_value(hook))
        except Unsaid as missing:
            unsaid.append(f"{hook.id} ({hook.origin.file}:{hook.origin.line}): {missing}")
    return Written({"version": 1, "hooks": said}, "yaml", tuple(unsaid))


def hook_value(hook: Hook) -> dict[str, Any]:
    value: dict[str, Any] = {"id": hook.id, "on": hook.event}
    when = condition_value(hook.when)
    if when != {}:
        value["when"] = when
    value["then"] = action_value(hook.then, hook.event, hook.timeout)
    own = hook.then.timeout if isinstance(hook.then, Run) else hook.timeout
    if own != TIMEOUT:
        value["timeout"] = duration_text(own)
    if not hook.then.instant or hook.on_error != SILENT:
        value["on_error"] = error_value(hook.on_error)
    names = _tongues(hook)
    if len(names) > 1:
        raise Unsaid(f"it speaks of tools in the words of {' and '.join(sorted(names))}")
    if names - {NAME}:
        value["names"] = names.pop()
    return value | _rest(hook)


def _rest(hook: Hook) -> dict[str, Any]:
    rest: dict[str, Any] = {}
    if hook.order:
        rest["order"] = hook.order
    if hook.group != NAME:
        rest["group"] = hook.group
    if not hook.wait:
        rest["background"] = True
    if not hook.enabled:
        rest["enabled"] = False
    if hook.tags:
        rest["tags"] = list(hook.tags)
    scope = {key: getattr(hook.scope, key) for key in ("agent", "prompt", "session") if getattr(hook.scope, key)}
    if scope:
        rest["scope"] = scope
    if hook.limit.max_fires is not None:
        rest["max_fires"] = hook.limit.max_fires
    if hook.limit.cooldown is not None:
        if hook.limit.cooldown > LONGEST:
            raise Unsaid("a cooldown of more than 24h")
        rest["cooldown"] = duration_text(hook.limit.cooldown)
    if hook.limit.cooldown_turns is not None:
        rest["cooldown_turns"] = hook.limit.cooldown_turns
    return rest


def _tongues(hook: Hook) -> set[str]:
    """The tongues in which it speaks of tools; one that needs none speaks ours."""
    found: set[str] = set()
    _collect(hook.when, found)
    _collect(hook.then, found)
    return found or {NAME}


def _collect(value: Any, found: set[str]) -> None:
    tongue = getattr(value, "tongue", None)
    if tongue is not None:
        found.add(tongue.name)
    if isinstance(value, (list, tuple)):
        for part in value:
            _collect(part, found)
    elif isinstance(value, dict):
        _collect(list(value.values()), found)
    elif hasattr(value, "__dataclass_fields__") and tongue is None:
        _collect([getattr(value, name) for name in value.__dataclass_fields__], found)

"""Hooks in the native format's own words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hookline.config.scalars import MAX_DURATION, format_duration
from hookline.dialects.conversion import NotExpressible
from hookline.dialects.dialect import WriteResult
from hookline.dialects.native.actions import write_action, write_on_error
from hookline.dialects.native.conditions import write_condition
from hookline.dialects.native.dialect import DEFAULT_TIMEOUT, NAME
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import SILENT


def write_hooks(hooks: Iterable[Hook]) -> WriteResult:
    said: list[dict[str, Any]] = []
    unsaid: list[str] = []
    for hook in hooks:
        try:
            said.append(write_hook(hook))
        except NotExpressible as missing:
            unsaid.append(f"{hook.id} ({hook.origin.file}:{hook.origin.line}): {missing}")
    return WriteResult({"version": 1, "hooks": said}, "yaml", tuple(unsaid))


def write_hook(hook: Hook) -> dict[str, Any]:
    value: dict[str, Any] = {"id": hook.id, "on": hook.event}
    when = write_condition(hook.when)
    if when != {}:
        value["when"] = when
    value["then"] = write_action(hook.then, hook.event, hook.timeout)
    own = hook.then.timeout if isinstance(hook.then, RunProgram) else hook.timeout
    if own != DEFAULT_TIMEOUT:
        value["timeout"] = format_duration(own)
    if not hook.then.instant or hook.on_error != SILENT:
        value["on_error"] = write_on_error(hook.on_error)
    names = _used_vocabularies(hook)
    if len(names) > 1:
        raise NotExpressible(f"it speaks of tools in the words of {' and '.join(sorted(names))}")
    if names - {NAME}:
        value["names"] = names.pop()
    return value | _write_options(hook)


def _write_options(hook: Hook) -> dict[str, Any]:
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
        if hook.limit.cooldown > MAX_DURATION:
            raise NotExpressible("a cooldown of more than 24h")
        rest["cooldown"] = format_duration(hook.limit.cooldown)
    if hook.limit.cooldown_turns is not None:
        rest["cooldown_turns"] = hook.limit.cooldown_turns
    return rest


def _used_vocabularies(hook: Hook) -> set[str]:
    """The vocabularies in which it speaks of tools; one that needs none speaks ours."""
    found: set[str] = set()
    _collect_vocabularies(hook.when, found)
    _collect_vocabularies(hook.then, found)
    return found or {NAME}


def _collect_vocabularies(value: Any, found: set[str]) -> None:
    vocabulary = getattr(value, "vocabulary", None)
    if vocabulary is not None:
        found.add(vocabulary.name)
    if isinstance(value, (list, tuple)):
        for part in value:
            _collect_vocabularies(part, found)
    elif isinstance(value, dict):
        _collect_vocabularies(list(value.values()), found)
    elif hasattr(value, "__dataclass_fields__") and vocabulary is None:
        _collect_vocabularies([getattr(value, name) for name in value.__dataclass_fields__], found)

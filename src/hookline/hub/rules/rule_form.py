"""One rule of a set's text: added, changed or removed. Everything else of the text stays as it is."""

from __future__ import annotations

import json
import re
import uuid
from typing import Any, Final

from hookline.config.reader import salvage_text
from hookline.errors import HooklineError

EVENTS: Final = ("PreToolUse", "PostToolUse", "UserPromptSubmit", "Stop", "AgentStart", "AgentEnd")
_NOT_IN_ID: Final = re.compile(r"[^a-z0-9]+")


class NoSuchRule(HooklineError):
    pass


def list_rules(text: str) -> list[dict[str, Any]]:
    """Each rule with its event and its id, as the console shows them."""
    found = []
    for event, rules in _hooks_of(_parse(text)).items():
        for position, rule in enumerate(rules):
            id = rule.get("id") if isinstance(rule, dict) else None
            shown = rule if isinstance(rule, dict) else {}
            found.append({"event": event, "position": position, "id": id or f"{event}[{position}]", "rule": shown})
    return found


def add_rule(text: str, event: str, rule: dict[str, Any]) -> tuple[str, str]:
    """The text with the rule at the end of its event, and the rule's id."""
    document = _parse(text)
    id = _free_id(document, rule)
    document.setdefault("hooks", {}).setdefault(_check_event(event), []).append({"id": id, **_without_id(rule)})
    return _write(document), id


def change_rule(text: str, id: str, event: str, rule: dict[str, Any]) -> str:
    """Raises NoSuchRule. The rule keeps its id, and its place unless its event changes."""
    document = _parse(text)
    at, position = _find(document, id)
    hooks = _hooks_of(document)
    held = hooks[at][position].get("id")
    changed = {**({"id": held} if held else {}), **_without_id(rule)}
    if at == _check_event(event):
        hooks[at][position] = changed
    else:
        del hooks[at][position]
        hooks.setdefault(event, []).append(changed)
    return _write(document)


def remove_rule(text: str, id: str) -> str:
    """Raises NoSuchRule."""
    document = _parse(text)
    at, position = _find(document, id)
    hooks = _hooks_of(document)
    del hooks[at][position]
    if not hooks[at]:
        del hooks[at]
    return _write(document)


def _parse(text: str) -> dict[str, Any]:
    document, _ = salvage_text(text, "rules.json")
    value = None if document is None else document.value
    if not isinstance(value, dict) or not isinstance(value.get("hooks", {}), dict):
        raise HooklineError("the rules are not an object with `hooks`; correct the text first")
    copied: dict[str, Any] = json.loads(json.dumps(value))
    return copied


def _hooks_of(document: dict[str, Any]) -> dict[str, list[Any]]:
    held: dict[str, list[Any]] = document.get("hooks", {})
    return held


def _find(document: dict[str, Any], id: str) -> tuple[str, int]:
    for each in list_rules(_write(document)):
        if each["id"] == id:
            return each["event"], each["position"]
    raise NoSuchRule(f"there is no rule {id!r} in this set")


def _check_event(event: str) -> str:
    if event not in EVENTS:
        raise HooklineError(f"there is no event {event!r}; write one of {', '.join(EVENTS)}")
    return event


def _without_id(rule: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in rule.items() if name != "id"}


def _free_id(document: dict[str, Any], rule: dict[str, Any]) -> str:
    taken = {each["id"] for each in list_rules(_write(document))}
    wanted = rule.get("id") or rule.get("reason") or f"{rule.get('action', 'rule')}-{rule.get('matcher', '')}"
    base = _NOT_IN_ID.sub("-", str(wanted).lower()).strip("-")[:40] or "rule"
    if base not in taken:
        return base
    if rule.get("id"):
        raise HooklineError(f"there is a rule {base!r} already")
    return f"{base}-{uuid.uuid4().hex[:4]}"


def _write(document: dict[str, Any]) -> str:
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

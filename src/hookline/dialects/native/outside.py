"""`diagnose:` and `custom:` — what a language server or somebody else's function does."""

from __future__ import annotations

from typing import Any, Final

from hookline.config.shape import Reader
from hookline.dialects import registered
from hookline.hooks.action import Action
from hookline.hooks.actions.diagnose import Diagnose
from hookline.hooks.condition import Condition
from hookline.hooks.conditions.logic import all_of
from hookline.register import Entry, Register

DIAGNOSE_KEYS: Final = ("path", "content", "publish", "inject", "read_from_disk")


def diagnose(at: Reader, value: Reader, doing: object) -> Action | None:
    usual = Diagnose()
    if value.value is True:
        return usual
    before = len(at.problems)
    value.keys(DIAGNOSE_KEYS, "diagnose")
    fields = {key: place.texts() for key in ("path", "content") if (place := value.get(key)) is not None}
    flags = {key: place.flag() for key in DIAGNOSE_KEYS[2:] if (place := value.get(key)) is not None}
    if len(at.problems) > before:
        return None
    return Diagnose(
        fields.get("path", usual.path_fields) or (),
        fields.get("content", usual.content_fields) or (),
        flags.get("publish") is not False,
        flags.get("inject") is not False,
        flags.get("read_from_disk") is not False,
    )


def diagnose_value(action: Diagnose) -> Any:
    if action == Diagnose():
        return True
    return {
        "path": list(action.path_fields),
        "content": list(action.content_fields),
        "publish": action.publish,
        "inject": action.inject,
        "read_from_disk": action.read_from_disk,
    }


def custom_action(at: Reader, value: Reader, doing: object) -> Action | None:
    if value.mapping() is None:
        return None
    if len(value.value) != 1:
        value.problem("no-action", f"{value.place}: one action is expected here.", "Write custom: {name: {…}}.")
        return None
    [(name, place)] = value.entries()
    params = _params(place)
    entry = _entry(registered.ACTIONS, name, place)
    return None if entry is None or params is None else registered.action(entry, place, params)


def custom_conditions(at: Reader, asked: object) -> Condition | None:
    """All that are named must hold."""
    if at.mapping() is None:
        return None
    parts = [_custom_condition(name, place) for name, place in at.entries()]
    found = [part for part in parts if part is not None]
    return all_of(found) if len(found) == len(parts) else None


def _custom_condition(name: str, at: Reader) -> Condition | None:
    params = _params(at)
    entry = _entry(registered.CONDITIONS, name, at)
    return None if entry is None or params is None else registered.condition(entry, at, params)


def _params(at: Reader) -> dict[str, Any] | None:
    return {} if at.value is None else at.mapping()


def _entry(register: Register, name: str, at: Reader) -> Entry | None:
    before = len(at.problems)
    entry = registered.find(register, name, at)
    if entry is None and len(at.problems) == before:
        registered.unknown(register, name, at)
    return entry

"""Edits every text inside a value: it may be in a mapping, its keys, a list, bytes or an object."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from hookline.hooks.invisible_characters import without_invisible
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.hooks.readings import value_readings
from hookline.lazy_dataclasses import dataclass

_MAX_DEPTH: Final = 100


@dataclass(frozen=True, slots=True)
class TextEditor:
    edit: Callable[[str, str], str]
    """The new text, from the old one and the key of the mapping in which it is; "" for the key itself."""
    failure: str  # how an error begins
    edits_keys: bool = True

    def apply(self, value: Any, key: str = "", depth: int = 0) -> Any:
        """Raises ActionError if a text is where it cannot be edited: it must not pass as it is."""
        if isinstance(value, str):
            return self._edit_text(value, key)
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, bytes | bytearray):
            text = value.decode("utf-8", "surrogateescape")
            new = self._edit_text(text, key)
            return value if new == text else type(value)(new.encode("utf-8", "surrogateescape"))
        if not isinstance(value, dict | list | tuple | set | frozenset):
            return self._check_object(value, key)
        if depth > _MAX_DEPTH:
            raise ActionError(FailureKind.RAISED, f"{self.failure}: it is nested too deeply")
        if isinstance(value, dict):
            return self._edit_mapping(value, depth)
        items = [self.apply(each, key, depth + 1) for each in value]
        make = getattr(type(value), "_make", type(value))  # a named tuple takes its items one by one
        return items if isinstance(value, list) else make(items)

    def _edit_text(self, text: str, key: str) -> str:
        """Without its invisible characters only if they hide something that is edited."""
        new = self.edit(text, key)
        visible = without_invisible(new)
        if visible == new:
            return new
        edited = self.edit(visible, key)
        return new if edited == visible else edited

    def _edit_mapping(self, value: dict[Any, Any], depth: int) -> dict[Any, Any]:
        edited: dict[Any, Any] = {}
        for name, each in value.items():
            new = self.apply(name, "", depth + 1) if self.edits_keys else name
            if isinstance(new, str) and new != name:
                while new in edited or new in value:  # two secrets may become one name
                    new += "_"
            edited[new] = self.apply(each, str(name), depth + 1)
        return edited

    def _check_object(self, value: Any, key: str) -> Any:
        if any(self.edit(text, key) != text for reading in value_readings(value) for text in reading):
            raise ActionError(FailureKind.RAISED, f"{self.failure}: it is in a value of type {type(value).__name__}")
        return value

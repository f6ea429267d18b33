"""The facts of an event as they are recorded: secrets masked, long texts cut with their hash, any value as JSON."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable
from functools import cache
from typing import Any, Final

import re2

from hookline.hooks.masking import mask, secret_values
from hookline.hooks.record_settings import RecordedFacts
from hookline.hooks.secret_formats import TOKEN_STARTS

MAX_TEXT: Final = 4096  # characters of one text
_MAX_VALUES: Final = 2000  # of one event
_MAX_DEPTH: Final = 20

# Whatever `mask` would change contains one of these. Looking for them all at once costs a tenth of masking.
_MAY_BE_SECRET: Final = (
    r"(?i)passw|passphrase|secret|token|api[_-]?key|access[_-]?key|private[_-]?key|credential|bearer|basic"
    rf"|://[^\s/:@]*:|-u\b|-user\b|{'|'.join(re.escape(start) for start in TOKEN_STARTS)}"
)


class AsTheyAre:
    """Leaves all values as they are: enough for a short record without secrets, which most records are."""

    cut = 0

    def __init__(self, how: RecordedFacts) -> None:
        self.how = how

    def text(self, text: str) -> str:
        return text

    def value(self, value: Any) -> Any:
        return value


class RecordableFacts(AsTheyAre):
    """Makes values recordable. `cut` is how many texts and values were shortened or left out."""

    def __init__(self, how: RecordedFacts, *, masks: bool) -> None:
        super().__init__(how)
        self._masks = masks
        self._values = 0

    def text(self, text: str) -> str:
        if len(text) <= MAX_TEXT:
            return self._mask(text)
        short = self._mask(text[:MAX_TEXT])
        self.cut += 1
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{short}… ({len(text) - MAX_TEXT} more characters, sha256 {digest})"

    def _mask(self, text: str) -> str:
        if not self._masks or not _may_be_secret(text, environment_secrets()):
            return text
        return mask(text, environment_secrets())

    def value(self, value: Any, depth: int = 0) -> Any:
        kind = type(value)
        if kind is str:
            return self.text(value)
        if value is None or kind is int or kind is bool:
            return value
        self._values += 1
        if self._values > _MAX_VALUES or depth > _MAX_DEPTH:
            self.cut += 1
            return "…"
        if kind is dict:
            return {self._key(key): self.value(item, depth + 1) for key, item in value.items()}
        if kind is list or kind is tuple:
            return self._items(value, depth)
        if kind is float:
            return value if math.isfinite(value) else repr(value)
        return self._other(value, depth)

    def _items(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        if len(value) > _MAX_VALUES:
            self.cut += 1
            value = value[:_MAX_VALUES]
        return [self.value(item, depth + 1) for item in value]

    def _key(self, key: Any) -> str:
        return key if type(key) is str and len(key) < 100 else self.text(str(key))

    def _other(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(str.__str__(value))
        if isinstance(value, dict):
            return {self._key(key): self.value(item, depth + 1) for key, item in value.items()}
        if isinstance(value, (bytes, bytearray)):
            self.cut += len(value) > MAX_TEXT
            return self.text(bytes(value[:MAX_TEXT]).decode("utf-8", "replace"))
        if isinstance(value, (list, tuple)):
            return self._items(list(value), depth)
        self.cut += 1
        return self.text(f"<{type(value).__name__}>")  # its repr could run any code


@cache
def environment_secrets() -> tuple[str, ...]:
    """The values of variables with secret names in the environment of this process."""
    return secret_values(os.environ)


def may_have_secret(text: bytes) -> bool:
    """False only if masking would change nothing in the values of this JSON text."""
    if _search(text):
        return True
    known = _encoded_secrets()
    return bool(known) and any(secret in text for secret in known)


def _may_be_secret(text: str, known: tuple[str, ...]) -> bool:
    return bool(_search(text.encode("utf-8", "replace"))) or any(secret in text for secret in known)


def _compile_search(pattern: str) -> Callable[[bytes], list[int]]:
    """A set of one pattern: it is asked whether, never where, which costs half of a search."""
    patterns = re2.Set.SearchSet()
    patterns.Add(pattern)
    patterns.Compile()
    match: Callable[[bytes], list[int]] = patterns._set.Match  # without the wrapper, which accepts text as well
    return match


_search: Final = _compile_search(_MAY_BE_SECRET)


@cache
def _encoded_secrets() -> tuple[bytes, ...]:
    return tuple(json.dumps(secret)[1:-1].encode() for secret in environment_secrets())

"""`redact`: replaces the secrets in a fact."""

from __future__ import annotations

import time
from typing import Any, Final

from hookline.errors import UndecidedError
from hookline.hooks.conditions.secrets import SecretHints, allowed_out
from hookline.hooks.event import Event, FactPath, path_text
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.hooks.protocols import TextPattern
from hookline.hooks.secret_formats import find_secrets, is_named_secret, replace_secrets
from hookline.lazy_dataclasses import dataclass

MASK: Final = "***"
_REDACT_SECONDS: Final = 1.0
_MAX_DEPTH: Final = 100


@dataclass(frozen=True, slots=True)
class RedactSecrets:
    """Replaces each secret in the text at `path`, or in every text inside that value."""

    path: FactPath
    hints: SecretHints
    allow: tuple[TextPattern, ...] = ()
    is_default: bool = False  # the path is one of the event's

    def reads(self) -> tuple[FactPath, ...]:
        return (self.path,)

    def new_value(self, old: Any, event: Event) -> Any:
        try:
            return self._redact(old, time.perf_counter() + _REDACT_SECONDS, "", 0)
        except UndecidedError as undecided:
            what = f"could not redact secrets in {path_text(self.path)}: {undecided}"
            raise ActionError(FailureKind.TIMEOUT, what) from None

    def describe(self) -> tuple[str, str]:
        return "redact", f"secrets in {path_text(self.path)}"

    def _redact(self, value: Any, deadline: float, key: str, depth: int) -> Any:
        if isinstance(value, str):
            return self._redact_text(value, deadline, key)
        if depth > _MAX_DEPTH and isinstance(value, (dict, list)):
            what = f"could not redact secrets in {path_text(self.path)}: it is nested too deeply"
            raise ActionError(FailureKind.RAISED, what)
        if isinstance(value, dict):
            return {name: self._redact(each, deadline, str(name), depth + 1) for name, each in value.items()}
        return [self._redact(each, deadline, key, depth + 1) for each in value] if isinstance(value, list) else value

    def _redact_text(self, text: str, deadline: float, key: str) -> str:
        if key and is_named_secret(key, text) and not any(each.search(text, deadline) for each in self.allow):
            return MASK
        if not self.hints.search(text, deadline):
            return text
        found = list(allowed_out(text, find_secrets(text, deadline), self.allow, deadline))
        return replace_secrets(text, found, MASK) if found else text

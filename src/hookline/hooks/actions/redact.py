"""`redact`: replaces the secrets in a fact."""

from __future__ import annotations

import time
from typing import Any, Final

from hookline.errors import UndecidedError
from hookline.hooks.actions.text_editor import TextEditor
from hookline.hooks.conditions.secrets import SecretHints, allowed_out
from hookline.hooks.event import MISSING, Event, FactPath, path_text
from hookline.hooks.masking import MASK
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.hooks.protocols import TextPattern
from hookline.hooks.secret_formats import find_secrets, is_named_secret, replace_secrets
from hookline.lazy_dataclasses import dataclass

_REDACT_SECONDS: Final = 1.0


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
        if old is MISSING:
            return old
        deadline = time.perf_counter() + _REDACT_SECONDS
        failure = f"could not redact secrets in {path_text(self.path)}"
        edits_keys = self.path[:2] != ("tool", "input")
        editor = TextEditor(lambda text, key: self._redact_text(text, deadline, key), failure, edits_keys)
        try:
            return editor.apply(old)
        except UndecidedError as undecided:
            raise ActionError(FailureKind.TIMEOUT, f"{failure}: {undecided}") from None

    def describe(self) -> tuple[str, str]:
        return "redact", f"secrets in {path_text(self.path)}"

    def _redact_text(self, text: str, deadline: float, key: str) -> str:
        if key and is_named_secret(key, text) and not any(each.search(text, deadline) for each in self.allow):
            return MASK
        if not self.hints.search(text, deadline):
            return text
        found = list(allowed_out(text, find_secrets(text, deadline), self.allow, deadline))
        return replace_secrets(text, found, MASK) if found else text

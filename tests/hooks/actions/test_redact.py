"""What `redact` leaves, and how it fails."""

from __future__ import annotations

from typing import Any

import pytest

from hookline import Event
from hookline.hooks.actions.redact import RedactSecrets
from hookline.hooks.conditions.secrets import SecretHints
from hookline.hooks.outcome import ActionError
from hookline.hooks.secret_formats import HINTS
from hookline.patterns.pattern import pattern

EDIT = RedactSecrets(("tool", "result"), SecretHints(pattern(HINTS)))
EVENT = Event("tool.after", {})


def test_a_value_without_secrets_stays() -> None:
    value = {"a": [1, None, "text"], "b": True}
    assert EDIT.new_value(value, EVENT) == value


def test_it_is_described() -> None:
    assert EDIT.describe() == ("redact", "secrets in tool.result")


def test_a_value_that_is_nested_too_deeply_fails() -> None:
    value: Any = "x"
    for _ in range(200):
        value = [value]
    with pytest.raises(ActionError, match="nested too deeply"):
        EDIT.new_value(value, EVENT)

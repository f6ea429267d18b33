from __future__ import annotations

from typing import Any

import jsonschema
import pytest

from dialects.digitorn.digitorn_app import all_conditions, build_hook, load
from hookline.dialects.digitorn import DIALECT
from hookline.hooks.event import Event


def test_deep_nesting_is_read_and_decided() -> None:
    condition: dict[str, Any] = {"type": "always"}
    for _ in range(90):
        condition = {"type": "not", "condition": condition}
    (found,) = load(build_hook(on="tool_start", condition=condition)).hooks
    assert found.when.holds(Event("tool.before", {}))


@pytest.mark.parametrize("form", all_conditions(), ids=lambda form: str(form["type"]))
def test_every_condition_loads_with_every_key(form: dict[str, Any]) -> None:
    loaded = load(build_hook(condition=form))
    assert len(loaded.hooks) == 1
    jsonschema.validate(build_hook(condition=form), DIALECT.schema())

from __future__ import annotations

from datetime import timedelta
from typing import Any

import jsonschema
import pytest

from dialects.digitorn.digitorn_app import all_actions, build_hook, load
from hookline.dialects.digitorn import DIALECT


@pytest.mark.parametrize("form", all_actions(), ids=lambda form: str(form["type"]))
def test_every_action_loads_with_every_key(form: dict[str, Any]) -> None:
    loaded = load(build_hook(action=form))
    assert loaded.problems == ()
    jsonschema.validate(build_hook(action=form), DIALECT.schema())


@pytest.mark.parametrize(("keys", "seconds"), [({}, 30), ({"timeout": 2.5}, 2.5)])
def test_a_shell_has_30_seconds(keys: dict[str, Any], seconds: float) -> None:
    (hook,) = load(build_hook(action={"type": "shell", "command": "make", **keys})).hooks
    assert hook.timeout == timedelta(seconds=seconds)

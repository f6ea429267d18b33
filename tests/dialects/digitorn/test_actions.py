from __future__ import annotations

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

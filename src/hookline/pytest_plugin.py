"""One fixture for pytest; nothing of ours is imported before a test asks for it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def hookline_fire() -> Callable[..., Any]:
    """`hookline.testing.fire`: one event through a config, to its decision."""
    from hookline.testing import fire

    return fire

"""A pytest fixture. hookline is imported only when a test uses it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest


@pytest.fixture
def hookline_fire() -> Callable[..., Any]:
    """`hookline.testing.fire`: fires one event at a config and returns the decision."""
    from hookline.testing import fire

    return fire

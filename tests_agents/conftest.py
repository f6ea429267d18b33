"""What every test here shares: the agents from npm, and one story of each, told once."""

from __future__ import annotations

import pytest
from agents import MODULES
from closed_network import close_network

_open = close_network()


def pytest_report_header() -> str:
    return f"network: open, for {_open}" if _open else "network: nothing but loopback"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not MODULES.is_dir():
        for item in items:
            item.add_marker(pytest.mark.skip(reason="the agents are not installed; run make test-agents"))

"""Closes the network, and skips the tests if the agents are not installed."""

from __future__ import annotations

import pytest
from agents import MODULES
from closed_network import close_network

_open_reason = close_network()


def pytest_report_header() -> str:
    return f"network: open ({_open_reason})" if _open_reason else "network: loopback only"


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:  # the tests of one agent share its runs, and its files below the home directory
        parameters = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        agent = parameters.get("runs") or parameters.get("agent")
        item.add_marker(pytest.mark.xdist_group(agent.name if agent is not None else item.path.stem))
    if not MODULES.is_dir():
        for item in items:
            item.add_marker(pytest.mark.skip(reason="the agents are not installed; run make test-agents"))

"""Closes the network, and skips the tests if the agents are not installed."""

from __future__ import annotations

from typing import Any, Final

import pytest
from agents import AGENTS, MODULES
from closed_network import close_network
from xdist.scheduler import LoadScopeScheduling

_AGENT_NAMES: Final = {agent.name for agent in AGENTS}
_open_reason = close_network()


def pytest_report_header() -> str:
    return f"network: open ({_open_reason})" if _open_reason else "network: loopback only"


class AgentScheduling(LoadScopeScheduling):
    """The tests of one agent share its runs, so one process runs them all."""

    def _split_scope(self, nodeid: str) -> str:
        file, _, test = nodeid.partition("::")
        parameter = test.rpartition("[")[2].removesuffix("]")
        return parameter if parameter in _AGENT_NAMES else file


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> AgentScheduling:
    return AgentScheduling(config, log)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if not MODULES.is_dir():
        for item in items:
            item.add_marker(pytest.mark.skip(reason="the agents are not installed; run make test-agents"))

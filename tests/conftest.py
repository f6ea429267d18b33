"""Property tests try the same examples on every run, so that a change decides whether they pass, and not the day.

`make fuzz` lets them try others.
"""

import os
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("steady", derandomize=True, database=None)
settings.register_profile("random", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

SLOW = (
    "cli/chat",
    "cli/test_run.py",
    "engine/test_hostile.py",
    "hooks/test_template_shell.py",
    "hosts/bridge",
    "hosts/doctor",
    "hosts/install/test_restore.py",
    "hosts/mcp",
    "runners/test_warm_life.py",
    "runtime/faults/test_killed.py",
    "runtime/faults/test_killed_at_start.py",
    "runtime/faults/test_restarted.py",
    "runtime/faults/test_taken_over.py",
    "runtime/lsp",
    "runtime/mcp",
    "runtime/models",
    "runtime/storage",
    "runtime/triggers/test_files.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Marks what `make test` leaves to `make test-slow`."""
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.path.relative_to(here).as_posix().startswith(SLOW):
            item.add_marker("slow")

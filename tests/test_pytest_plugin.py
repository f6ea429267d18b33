"""The pytest fixture."""

from __future__ import annotations

import subprocess
import sys

from hookline.testing import fire


def test_the_plugin_gives_tests_the_same_fire(hookline_fire):
    assert hookline_fire is fire


def test_the_plugin_imports_nothing_of_ours_at_start():
    source = "import sys, hookline.pytest_plugin; print([n for n in sys.modules if n.startswith('hookline.')])"
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "['hookline.pytest_plugin']"

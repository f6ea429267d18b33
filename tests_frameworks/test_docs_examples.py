"""The examples in the documentation that need this environment's framework."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from trial import FRAMEWORK

from docs_pages import Block, all_blocks, files_before

BLOCKS = [each for each in all_blocks() if each.framework == FRAMEWORK]


@pytest.mark.parametrize("block", [pytest.param(each, id=str(each)) for each in BLOCKS])
def test_the_example_runs(block: Block, tmp_path: Path) -> None:
    for name, text in files_before(block).items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "example.py").write_text(block.text, "utf-8")
    run = [sys.executable, "example.py"]
    done = subprocess.run(run, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr


def test_there_is_an_example() -> None:
    assert BLOCKS

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("missing", ["re2", "click"])
def test_a_broken_installation_blocks_a_tool(tmp_path: Path, missing: str) -> None:
    """The package that is missing raises on import, as it does after a failed upgrade."""
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / f"{missing}.py").write_text("raise ImportError('gone')")
    (tmp_path / "hookline.yaml").write_text("hooks: [{id: a, on: tool.before, when: {tool: bash}, then: {deny: no}}]")
    code = f"import sys; sys.path.insert(0, {str(broken)!r}); from hookline.cli import bridge_process; bridge_process.run()"
    for event, expected in (("PreToolUse", 2), ("Stop", 1)):
        done = subprocess.run(
            [sys.executable, "-c", code, "bridge", "--direct", "claude-code", event],
            input=b'{"tool_name": "Bash", "tool_input": {"command": "ls"}}',
            capture_output=True,
            cwd=tmp_path,
            env={**os.environ, "HOME": str(tmp_path), "XDG_STATE_HOME": str(tmp_path)},
            timeout=60,
        )
        assert done.returncode == expected, done
        assert b"hookline could not decide: ImportError" in done.stderr
        assert done.stdout == b""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.hosts.hooks_now import load_hooks_now
from hookline.project import Trust, find_sources


@pytest.mark.parametrize(("host", "expected"), [("codex", 1), ("claude-code", 0), ("python", 1)])
def test_what_an_agent_runs_itself_is_left_out(host: str, expected: int, tmp_path: Path) -> None:
    settings = tmp_path / "home" / ".claude" / "settings.json"
    settings.parent.mkdir(parents=True)
    entry = '{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}'
    settings.write_text(f'{{"hooks": {{"PreToolUse": [{entry}]}}}}')
    sources = find_sources(tmp_path, tmp_path / "home")
    assert len(load_hooks_now(host, sources, Trust(tmp_path / "trust.json")).hooks) == expected

from __future__ import annotations

import os
from pathlib import Path

import pytest
from trial import FRAMEWORK, HERE

OTHERS = [file.stem.removeprefix("driver_") for file in HERE.glob("driver_*.py")]
collect_ignore_glob = [f"test_{name}*.py" for name in OTHERS if name != FRAMEWORK]

os.environ["OTEL_SDK_DISABLED"] = "true"
os.environ["CREWAI_DISABLE_TELEMETRY"] = "true"
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"


@pytest.fixture(autouse=True)
def own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test has a record of its own."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path

"""What hooks cost a tool call in other frameworks: an agent of each, alone and with hookline's adapter.

Each is measured in an environment of its own, that of its tests. The Claude Agent SDK runs Claude Code, whose work is part of
both figures.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from bench.adapter_agents import MAKERS
from bench.table import table
from bench.timing import format_seconds

ROOT = Path(__file__).resolve().parent.parent


def measure() -> list[dict[str, str]]:
    sys.path.insert(0, str(ROOT / "tests_frameworks"))
    import run as environments  # type: ignore[import-not-found]

    rows = []
    for name in MAKERS:
        try:
            rows.append(_row(name, environments.environment(name)))
        except environments.CannotInstallError as error:
            print(f"{name} skipped: {error}", file=sys.stderr)
    return rows


def _row(name: str, python: Path) -> dict[str, str]:
    done = subprocess.run(
        [str(python), "-m", "bench.adapter_agents", name],
        cwd=ROOT,
        env={**os.environ, "PYTHONWARNINGS": "ignore"},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    cost = json.loads(done.stdout.splitlines()[-1])
    return {
        "a turn with a tool call": cost["title"],
        "alone": format_seconds(cost["alone"]),
        "with 5 hooks": format_seconds(cost["hooked"]),
        "added": format_seconds(cost["hooked"] - cost["alone"]),
        "ratio": f"{cost['hooked'] / cost['alone']:.2f}",
    }


if __name__ == "__main__":
    print(table(measure()))

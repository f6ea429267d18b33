"""What a short process costs: processor time beside a bare Python, in turns, so that a busy machine slows all alike."""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from bench.rules import Workload

_ROUNDS = 15
BARE = "bare python"
DECIDE = "import hookline and decide"
FIRE = "hookline fire, cold"
CHECK = "hookline check, 1,000 rules"
_HOOK = r"""hooks:
  - id: no-recursive-delete
    on: tool.before
    when: {tool: bash, input: {command: '(?i)\brm\s(.*\s)?(-\w*r|--recursive)'}}
    then: {deny: Deleting whole directories is not allowed here.}
"""
_DECIDE = (
    "from hookline import Event, load; book = load('hookline.yaml');"
    "event = Event('tool.before', {'tool': {'name': 'bash', 'input': {'command': 'rm -rf build'}}});"
    "assert book.decide_now(event).denied"
)
_VERB = "import sys; sys.argv[0] = 'hookline'; from hookline.cli.main import main; main()"


def cpu_times() -> dict[str, float]:
    """Seconds of processor time of each process, as the median of many."""
    with tempfile.TemporaryDirectory() as place:
        Path(place, "hookline.yaml").write_text(_HOOK)
        Path(place, "many.yaml").write_text(native_file(1_000))
        python = [sys.executable, "-c"]
        fire = ["fire", "tool.before", "--tool", "bash", "--input", '{"command": "rm -rf build"}']
        return _medians(
            {
                BARE: [sys.executable, "-I", "-c", "pass"],
                DECIDE: [*python, _DECIDE],
                FIRE: [*python, _VERB, *fire],
                "hookline --help": [*python, _VERB, "--help"],
                CHECK: [*python, _VERB, "check", "many.yaml", "--dialect", "native"],
            },
            place,
        )


def native_file(rules: int) -> str:
    load = Workload("native", rules, 10)
    rows = (
        f"  - {{id: r{n}, on: tool.before, when: {{tool: write_file, input: {{path: '{load.path_pattern(n)}',"
        f" content: '{load.content_pattern(n)}'}}}}, then: {{deny: no}}}}\n"
        for n in range(rules)
    )
    return "hooks:\n" + "".join(rows)


def goals(times: Mapping[str, float]) -> list[tuple[str, float, float, str]]:
    return [
        (DECIDE, times[DECIDE] / times[BARE], 6, "× a bare Python"),
        (FIRE, times[FIRE] / times[BARE], 8, "× a bare Python"),
        (CHECK, times[CHECK] * 1_000, 400, "ms of processor time"),
    ]


def _medians(commands: Mapping[str, list[str]], place: str) -> dict[str, float]:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment["HOME"] = place
    times: dict[str, list[float]] = {name: [] for name in commands}
    for _ in range(_ROUNDS):
        for name, command in commands.items():
            times[name].append(_cpu_time(command, place, environment))
    return {name: statistics.median(taken[1:]) for name, taken in times.items()}  # the first one writes bytecode


def _cpu_time(command: list[str], place: str, environment: dict[str, str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=place, env=environment, capture_output=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime

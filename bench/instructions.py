"""Processor instructions of one decision, counted by callgrind.

They repeat to a thousandth on a busy machine, where two wall-clock times of 2 µs do not.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict
from itertools import count
from typing import Final

from bench.contenders import CONTENDERS
from bench.rules import Decide, Workload, fresh_input

_CALLS: Final = 400
_COLLECTED: Final = re.compile(r"Collected : (\d+)")


def is_available() -> bool:
    return shutil.which("valgrind") is not None and shutil.which("callgrind_control") is not None


def instructions_each(contender: str, load: Workload) -> int:
    """Of one decision on an event that is new each time; what makes the event is not counted."""
    return (_count(contender, load) - _count("nothing", load)) // _CALLS


def _count(contender: str, load: Workload) -> int:
    command = ["valgrind", "--tool=callgrind", "--instr-atstart=no", "--callgrind-out-file=/dev/null"]
    child = [sys.executable, "-m", "bench.instructions", contender, json.dumps(asdict(load))]
    done = subprocess.run(
        [*command, *child], capture_output=True, text=True, check=True, env={**os.environ, "PYTHONHASHSEED": "0"}
    )
    found = _COLLECTED.search(done.stderr)
    assert found, done.stderr
    return int(found[1])


def _switch_counting(to: str) -> None:
    subprocess.run(["callgrind_control", "-i", to, str(os.getpid())], check=True, stdout=subprocess.DEVNULL)


def _run_child(contender: str, load: Workload) -> None:
    build: Callable[[Workload], Decide] = CONTENDERS.get(contender, lambda _: lambda tool, input: False)
    decide, numbers = build(load), count()
    inputs = [fresh_input(load.input(), next(numbers)) for _ in range(2 * _CALLS)]
    for input in inputs[:_CALLS]:
        decide("write_file", input)
    _switch_counting("on")
    for input in inputs[_CALLS:]:
        decide("write_file", input)
    _switch_counting("off")
    os._exit(0)


if __name__ == "__main__":
    _run_child(sys.argv[1], Workload(**json.loads(sys.argv[2])))

"""Ten thousand rules from text to a book: processor time and memory, each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Mapping
from typing import NamedTuple

from bench.dialects import digitorn_file, flo_file
from bench.startup import native_file

RULES = 10_000
FILES: Mapping[str, tuple[str, str, Callable[[int], str]]] = {
    "flo JSON": ("flo", "hub.json", flo_file),
    "native YAML": ("native", "hookline.yaml", native_file),
    "digitorn YAML": ("digitorn", "digitorn.yaml", digitorn_file),
}
_MAX_SECONDS = {"flo JSON": 1.0, "native YAML": 1.3, "digitorn YAML": 1.1}
_MAX_MEBIBYTES = 45


class Load(NamedTuple):
    seconds: float
    mebibytes: float


def load_costs() -> dict[str, Load]:
    return {name: _measure(name) for name in FILES}


def goals(costs: Mapping[str, Load]) -> list[tuple[str, float, float, str]]:
    rows = [(f"load 10,000 rules, {name}", cost.seconds, _MAX_SECONDS[name], "s") for name, cost in costs.items()]
    most = max(cost.mebibytes for cost in costs.values())
    return [*rows, ("10,000 rules in memory", most, _MAX_MEBIBYTES, "MiB")]


def _measure(name: str) -> Load:
    done = subprocess.run(
        [sys.executable, "-m", "bench.loading", name], capture_output=True, check=True, text=True, timeout=300
    )
    seconds, mebibytes = map(float, done.stdout.split())
    return Load(seconds, mebibytes)


def _resident_mebibytes() -> float:
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS")) / 1024


def main() -> None:
    import gc
    from time import process_time

    from hookline.project import load_text

    dialect, file, write = FILES[sys.argv[1]]
    load_text(write(1), file, dialect)  # so that the imports do not count
    text = write(RULES)
    gc.collect()
    before, begun = _resident_mebibytes(), process_time()
    book = load_text(text, file, dialect)
    seconds = process_time() - begun
    gc.collect()
    assert len(book.hooks) == RULES
    print(seconds, _resident_mebibytes() - before)


if __name__ == "__main__":
    main()

"""Medians of processor time over interleaved repetitions, so that a busy machine slows all calls alike."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Mapping
from time import perf_counter, process_time

_SLICE = 0.01  # seconds of one repetition


def seconds_each(
    calls: Mapping[str, Callable[[], object]], repetitions: int = 15, clock: Callable[[], float] = process_time
) -> dict[str, float]:
    """Seconds of one call, for each name; the calls take turns."""
    counts = {name: _count_for(call) for name, call in calls.items()}
    times: dict[str, list[float]] = {name: [] for name in calls}
    gc.collect()
    for _ in range(repetitions):
        for name, call in calls.items():
            times[name].append(_time_calls(call, counts[name], clock))
    return {name: statistics.median(taken) for name, taken in times.items()}


def _count_for(call: Callable[[], object]) -> int:
    call()
    begun = perf_counter()
    call()
    return max(1, int(_SLICE / max(perf_counter() - begun, 1e-7)))


def _time_calls(call: Callable[[], object], count: int, clock: Callable[[], float]) -> float:
    begun = clock()
    for _ in range(count):
        call()
    return (clock() - begun) / count


def format_seconds(seconds: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("µs", 1e6)):
        if seconds * factor >= 1:
            return f"{seconds * factor:,.3g} {unit}"
    return f"{seconds * 1e6:.2f} µs"

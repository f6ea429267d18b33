"""What a decision costs: hookline beside the alternatives, on events that are new each time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from time import process_time
from typing import Final, NamedTuple

from bench import instructions
from bench.contenders import CONTENDERS
from bench.goals import Goal
from bench.rules import Decide, Workload, fresh_input
from bench.timing import format_seconds, seconds_each

SIZES: Final = (1, 10, 100, 1_000, 10_000)
LARGEST: Final = 100_000
_LIMITS: Final = {"pluggy": 1_000, "cedar": 10_000, "re loop": 10_000, "re by tool": 10_000}  # slow to load beyond
_NONE, _LAST, _HARD = "none matches", "the last matches", "every path matches"
Times = dict[tuple[str, int], dict[str, float]]  # by workload and number of rules: seconds, by contender


def workloads() -> Iterator[Workload]:
    for rules in (*SIZES, LARGEST):
        yield Workload(_NONE, rules, 2_048)
    for rules in (*SIZES, LARGEST):
        yield Workload(_LAST, rules, 2_048, matches=True)
    for rules in (100, 1_000, 10_000):
        yield Workload(_HARD, rules, 2_048, every_path_matches=True)
    for rules in (1, 10_000):
        yield Workload("none matches, 1 MB", rules, 1_000_000)


def decision_times(load: Workload) -> dict[str, float]:
    """Seconds of one decision, for each contender; what makes the event is not counted."""
    input, numbers = load.input(), count()
    calls: dict[str, Callable[[], object]] = {"nothing": lambda: fresh_input(input, next(numbers))}
    for name, build in CONTENDERS.items():
        if load.rules <= _LIMITS.get(name, load.rules):
            decide = build(load)
            assert decide("write_file", input) is load.matches, (name, load)
            calls[name] = _fresh_call(decide, input, numbers)
    times = seconds_each(calls)
    making = times.pop("nothing")
    return {name: max(seconds - making, 1e-9) for name, seconds in times.items()}


def _fresh_call(decide: Decide, input: dict[str, str], numbers: Iterator[int]) -> Callable[[], object]:
    return lambda: decide("write_file", fresh_input(input, next(numbers)))


def rows(times: Times) -> list[dict[str, str]]:
    return [
        {
            "decide": name,
            "rules": f"{rules:,}",
            **{contender: format_seconds(taken) for contender, taken in of_load.items()},
            "re loop ÷ hookline": f"{of_load['re loop'] / of_load['hookline']:,.1f}" if "re loop" in of_load else "–",
        }
        for (name, rules), of_load in times.items()
    ]


def goals(times: Times) -> Iterator[Goal]:
    one, hit = times[_NONE, 1], times[_LAST, 1]
    yield Goal("1 rule, none matches", one["hookline"] / one["pluggy"], 0.9, "× pluggy")
    yield Goal("1 rule, it matches", hit["hookline"] / hit["pluggy"], 1.7, "× pluggy")
    none, last = times[_NONE, 10_000], times[_LAST, 10_000]
    yield Goal("10,000 rules, none matches", none["hookline"] / none["re loop"], 1 / 1_000, "of the re loop")
    yield Goal("10,000 rules, the last matches", last["hookline"] / last["re loop"], 1 / 400, "of the re loop")
    hard = times[_HARD, 10_000]["hookline"] / times[_HARD, 100]["hookline"]
    yield Goal("10,000 rules, every path matches", hard, 3, "× 100 rules")
    for name in (_NONE, _LAST):
        largest = times[name, LARGEST]["hookline"] / times[name, 10_000]["hookline"]
        yield Goal(f"100,000 rules, {name}", largest, 1.5, "× 10,000 rules")


def instruction_goals() -> Iterator[Goal]:
    """The same promise without the noise of the clock, where valgrind is installed."""
    if not instructions.is_available():
        return
    for name, matches, limit in ((_NONE, False, 0.9), (_LAST, True, 1.7)):
        load = Workload(name, 1, 2_048, matches=matches)
        ours, pluggy = (instructions.instructions_each(contender, load) for contender in ("hookline", "pluggy"))
        yield Goal(f"1 rule, {name}", ours / pluggy, limit, "× pluggy's instructions")
    for name, matches in ((_NONE, False), (_LAST, True)):
        ten, many = (
            instructions.instructions_each("hookline", Workload(name, rules, 2_048, matches=matches))
            for rules in (10, 10_000)
        )
        yield Goal(f"10,000 rules, {name}", many / ten, 1.3, "× the instructions for 10 rules")


class LoadCost(NamedTuple):
    seconds: float
    mebibytes: float


_LOAD: Final = """
import sys
from bench.decisions import print_load_cost
print_load_cost(int(sys.argv[1]))
"""


def load_cost(rules: int) -> LoadCost:
    """Of a process that loads this many rules and does nothing else; in processor time."""
    done = subprocess.run([sys.executable, "-c", _LOAD, str(rules)], capture_output=True, text=True, check=True)
    seconds, mebibytes = map(float, done.stdout.split())
    return LoadCost(seconds, mebibytes)


def print_load_cost(rules: int) -> None:
    load, build = Workload("load", rules, 10), CONTENDERS["hookline"]
    build(Workload("load", 1, 10))
    before, begun = _peak_mebibytes(), process_time()
    decide = build(load)
    taken = process_time() - begun
    decide("write_file", load.input())
    print(taken, _peak_mebibytes() - before)


def _peak_mebibytes() -> float:
    """Of this program; getrusage also counts the one that started it."""
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmHWM")) / 1024


def load_goals(cost: LoadCost) -> Iterator[Goal]:
    yield Goal("load 100,000 rules", cost.seconds, 12, "s")
    yield Goal("memory of 100,000 rules", cost.mebibytes, 420, "MiB")

"""`make bench`: hookline beside the alternatives, in one run. `python -m bench programs record` runs only these parts."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Callable, Iterable
from pathlib import Path
from time import perf_counter, process_time
from typing import Final

from bench import (
    adapters,
    bridge,
    conditions,
    decisions,
    dialects,
    frameworks,
    instructions,
    loading,
    programs,
    proofs,
    proxy,
    record,
    startup,
)
from bench.contenders import CONTENDERS
from bench.conversation import MODEL
from bench.goals import Goal, goal_rows
from bench.rules import Workload
from bench.sessions import figures
from bench.table import table
from bench.timing import format_seconds

_LOAD_LIMIT = 1_000  # pluggy needs many seconds beyond this


class Benchmark:
    """What one run has measured. Each part prints its tables and returns its goals."""

    def __init__(self) -> None:
        self.decisions: decisions.Times = {}

    def measure_decisions(self) -> Iterable[Goal]:
        for load in decisions.workloads():
            _say(f"  {load.name}, {load.rules:,} rules")
            self.decisions[load.name, load.rules] = decisions.decision_times(load)
        _print(decisions.rows(self.decisions))
        return decisions.goals(self.decisions)

    def measure_dialects(self) -> Iterable[Goal]:
        _print(
            {"10,000 rules": name, "none matches": format_seconds(none), "the last matches": format_seconds(last)}
            for name, (none, last) in dialects.decisions().items()
        )
        return ()

    def count_instructions(self) -> Iterable[Goal]:
        if not instructions.is_available():
            print("valgrind is not installed: no instructions are counted", end="\n\n")
        return decisions.instruction_goals()

    def measure_programs(self) -> Iterable[Goal]:
        javascript, shell, python = programs.javascript_hook(), programs.shell_hook(), programs.python_hook()
        _print_times("one script", "JavaScript, in a fresh context", javascript)
        _print_times("one program", programs.SHELL, shell)
        _print_times("one Python file", "reads and writes JSON", python)
        return programs.goals(shell, python, javascript)

    def measure_agents(self) -> Iterable[Goal]:
        calls, load = bridge.round_trips(), bridge.engine_load()
        _print_times("an agent's hook", "one call", calls)
        if load is not None:
            _print([load.row()])
        return bridge.goals(calls, load)

    def measure_proxies(self) -> Iterable[Goal]:
        proxied = proxy.mcp_call()
        _print_times("one MCP call", "2 KB, 100 hooks", proxied)
        return proxy.goals(proxied)

    def measure_adapters(self) -> Iterable[Goal]:
        _print(adapters.measure())
        return ()

    def measure_conditions(self) -> Iterable[Goal]:
        single = conditions.condition_times()
        _print(conditions.rows(single))
        return conditions.goals(single)

    def measure_record(self) -> Iterable[Goal]:
        costs, rate = record.record_costs(), record.replay_rate()
        _print([record.row(costs, rate)])
        return record.goals(costs, rate)

    def measure_proofs(self) -> Iterable[Goal]:
        proving = proofs.proof_seconds()
        _print([proofs.row(proving)])
        return proofs.goals(proving)

    def measure_starts(self) -> Iterable[Goal]:
        starts = startup.cpu_times()
        _print_times("start", "processor time", starts)
        return (Goal(*row) for row in startup.goals(starts))

    def measure_loading(self) -> Iterable[Goal]:
        _print(load_rows())
        loads = loading.load_costs()
        _print(
            {
                "load 10,000 rules": name,
                "processor time": format_seconds(cost.seconds),
                "memory": f"{cost.mebibytes:.0f} MiB",
            }
            for name, cost in loads.items()
        )
        _say("  100,000 rules")
        largest = decisions.load_cost(decisions.LARGEST)
        return (*(Goal(*row) for row in loading.goals(loads)), *decisions.load_goals(largest))

    def measure_sessions(self) -> Iterable[Goal]:
        agents = [figures(sessions) for sessions in (1, 100)]
        _print(each.row() for each in agents)
        return [turn_goal(max(each.hooks for each in agents))]

    def measure_frameworks(self) -> Iterable[Goal]:
        loops = frameworks.loop_costs()
        _print(frameworks.rows(loops))
        return frameworks.goals(loops)


PARTS: Final[dict[str, Callable[[Benchmark], Iterable[Goal]]]] = {
    "decisions": Benchmark.measure_decisions,
    "instructions": Benchmark.count_instructions,
    "dialects": Benchmark.measure_dialects,
    "loading": Benchmark.measure_loading,
    "starts": Benchmark.measure_starts,
    "conditions": Benchmark.measure_conditions,
    "record": Benchmark.measure_record,
    "proofs": Benchmark.measure_proofs,
    "programs": Benchmark.measure_programs,
    "agents": Benchmark.measure_agents,
    "proxies": Benchmark.measure_proxies,
    "sessions": Benchmark.measure_sessions,
    "frameworks": Benchmark.measure_frameworks,
    "adapters": Benchmark.measure_adapters,
}


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)} (default: all)")
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        default=Path(".cache/bench.json"),
        help="where to write the figures of decisions, and all goals (default: %(default)s)",
    )
    arguments = parser.parse_args()
    unknown = [name for name in arguments.parts if name not in PARTS]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}")
    sys.exit(run(arguments.parts or list(PARTS), arguments.json))


def run(parts: list[str], json_file: Path) -> int:
    """1 if a part could not be measured; goals that are not reached do not fail it."""
    benchmark, goals, failed = Benchmark(), list[Goal](), list[str]()
    for number, name in enumerate(parts, 1):
        _say(f"[{number}/{len(parts)}] {name} …")
        begun = perf_counter()
        try:
            goals += PARTS[name](benchmark)
        except Exception:
            traceback.print_exc()
            failed.append(name)
        _write_json(json_file, benchmark.decisions, goals, failed)  # a run that is interrupted has some figures
        _say(f"  took {perf_counter() - begun:.0f} s")
    if goals:
        _print(goal_rows(goals))
    for name in failed:
        print(f"not measured: {name}")
    _say(f"the figures are in {json_file}")
    return 1 if failed else 0


def _write_json(file: Path, times: decisions.Times, goals: list[Goal], failed: list[str]) -> None:
    figures_of = [{"name": name, "rules": rules, **of_load} for (name, rules), of_load in times.items()]
    goals_of = [{**goal._asdict(), "reached": goal.is_reached} for goal in goals]
    file.parent.mkdir(parents=True, exist_ok=True)
    result = {"decisions": figures_of, "goals": goals_of, "not measured": failed}
    file.write_text(json.dumps(result, indent=1), encoding="utf-8")


def load_rows() -> list[dict[str, str]]:
    rows = []
    for rules in (1_000, 10_000):
        load = Workload("load", rules, 10)
        row = {"load": "from text to a book ready to decide", "rules": f"{rules:,}"}
        for name in ("hookline", "re loop", "pluggy", "cedar"):
            if name == "pluggy" and rules > _LOAD_LIMIT:
                continue
            begun = process_time()
            CONTENDERS[name](load)
            row[name] = format_seconds(process_time() - begun)
        rows.append(row)
    return rows


def turn_goal(seconds_of_hooks: float) -> Goal:
    return Goal(
        "5 hooks in a turn with a model of 50 ms", seconds_of_hooks / MODEL.total_seconds(), 1 / 20, "of the turn"
    )


def _say(what: str) -> None:
    print(what, file=sys.stderr, flush=True)


def _print(rows: Iterable[dict[str, str]]) -> None:
    print(table(list(rows)), end="\n\n", flush=True)


def _print_times(what: str, which: str, times: dict[str, float]) -> None:
    _print([{what: which, **{name: format_seconds(taken) for name, taken in times.items()}}])


if __name__ == "__main__":
    main()

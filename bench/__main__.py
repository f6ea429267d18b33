"""`make bench`: hookline beside the alternatives, in one run."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter

from bench import (
    adapters,
    bridge,
    conditions,
    decisions,
    dialects,
    frameworks,
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


def load_rows() -> list[dict[str, str]]:
    rows = []
    for rules in (1_000, 10_000):
        load = Workload("load", rules, 10)
        row = {"load": "from text to a book ready to decide", "rules": f"{rules:,}"}
        for name in ("hookline", "re loop", "pluggy", "cedar"):
            if name == "pluggy" and rules > _LOAD_LIMIT:
                continue
            begun = perf_counter()
            CONTENDERS[name](load)
            row[name] = format_seconds(perf_counter() - begun)
        rows.append(row)
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--json",
        type=Path,
        metavar="FILE",
        default=Path(".cache/bench.json"),
        help="where to write the figures of decisions, and all goals (default: %(default)s)",
    )
    arguments = parser.parse_args()
    results: decisions.Times = {}
    for load in decisions.workloads():
        _say(f"{load.name}, {load.rules:,} rules")
        results[load.name, load.rules] = decisions.decision_times(load)
    print(table(decisions.rows(results)), end="\n\n")
    _say("loading")
    print(table(load_rows()), end="\n\n")
    times = dialects.decisions()
    rows = [
        {"10,000 rules": name, "none matches": format_seconds(none), "the last matches": format_seconds(last)}
        for name, (none, last) in times.items()
    ]
    print(table(rows), end="\n\n")
    _say("programs")
    javascript, shell, python = programs.javascript_hook(), programs.shell_hook(), programs.python_hook()
    _print_times("one script", "JavaScript, in a fresh context", javascript)
    _print_times("one program", programs.SHELL, shell)
    _print_times("one Python file", "reads and writes JSON", python)
    _say("agents")
    calls, load = bridge.round_trips(), bridge.engine_load()
    _print_times("an agent's hook", "one call", calls)
    if load is not None:
        print(table([load.row()]), end="\n\n")
    proxied = proxy.mcp_call()
    _print_times("one MCP call", "2 KB, 100 hooks", proxied)
    _say("adapters")
    print(table(adapters.measure()), end="\n\n")
    _say("conditions")
    single = conditions.condition_times()
    print(table(conditions.rows(single)), end="\n\n")
    recording, rate = record.record_costs(), record.replay_rate()
    print(table([record.row(recording, rate)]), end="\n\n")
    _say("proofs")
    proving = proofs.proof_seconds()
    print(table([proofs.row(proving)]), end="\n\n")
    starts = startup.cpu_times()
    shown = {name: format_seconds(seconds) for name, seconds in starts.items()}
    print(
        table([{"start": "processor time", **shown, "memory of 10,000 rules": f"{programs.memory(10_000):.0f} MiB"}]),
        end="\n\n",
    )
    loads = loading.load_costs()
    rows = [
        {
            "load 10,000 rules": name,
            "processor time": format_seconds(cost.seconds),
            "memory": f"{cost.mebibytes:.0f} MiB",
        }
        for name, cost in loads.items()
    ]
    print(table(rows), end="\n\n")
    agents = [figures(sessions) for sessions in (1, 100)]
    print(table([each.row() for each in agents]), end="\n\n")
    _say("other frameworks")
    loops = frameworks.loop_costs()
    print(table(frameworks.rows(loops)), end="\n\n")
    _say("100,000 rules")
    largest = decisions.load_cost(decisions.LARGEST)
    _say("instructions")
    reached = [
        *decisions.goals(results),
        *decisions.instruction_goals(),
        *decisions.load_goals(largest),
        *programs.goals(shell, python, javascript),
        *bridge.goals(calls, load),
        *proxy.goals(proxied),
        turn_goal(max(each.hooks for each in agents)),
        *frameworks.goals(loops),
        *record.goals(recording, rate),
        *proofs.goals(proving),
        *conditions.goals(single),
        *(Goal(*row) for row in (*startup.goals(starts), *loading.goals(loads))),
    ]
    print(table(goal_rows(reached)))
    figures_of = [{"name": name, "rules": rules, **of_load} for (name, rules), of_load in results.items()]
    goals_of = [{**goal._asdict(), "reached": goal.is_reached} for goal in reached]
    arguments.json.parent.mkdir(parents=True, exist_ok=True)
    arguments.json.write_text(json.dumps({"decisions": figures_of, "goals": goals_of}, indent=1), encoding="utf-8")
    _say(f"the figures are in {arguments.json}")


def _say(what: str) -> None:
    print(f"{what} …", file=sys.stderr, flush=True)


def _print_times(what: str, which: str, times: dict[str, float]) -> None:
    print(table([{what: which, **{name: format_seconds(taken) for name, taken in times.items()}}]), end="\n\n")


def turn_goal(seconds_of_hooks: float) -> Goal:
    return Goal(
        "5 hooks in a turn with a model of 50 ms", seconds_of_hooks / MODEL.total_seconds(), 1 / 20, "of the turn"
    )


if __name__ == "__main__":
    main()

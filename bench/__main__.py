"""`make bench`: hookline beside the alternatives, in one run."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from time import perf_counter

from bench import dialects, loading, startup
from bench.bridge import round_trips
from bench.contenders import CONTENDERS, fresh_path
from bench.programs import memory, python_hook, shell_hook
from bench.proxy import mcp_call
from bench.rules import Workload
from bench.sessions import MODEL, figures
from bench.table import table
from bench.timing import format_seconds, seconds_each

SIZES = (1, 10, 100, 1_000, 10_000)
_LOAD_LIMIT = 1_000  # pluggy needs many seconds beyond this


def workloads() -> Iterator[Workload]:
    for rules in SIZES:
        yield Workload("none matches", rules, 2_048)
    for rules in SIZES:
        yield Workload("the last matches", rules, 2_048, matches=True)
    for rules in (100, 10_000):
        yield Workload("every path matches", rules, 2_048, every_path_matches=True)
    for rules in (1, 10_000):
        yield Workload("none matches, 1 MB", rules, 1_000_000)


def decisions(load: Workload) -> dict[str, float]:
    input = load.input()
    calls: dict[str, Callable[[], object]] = {}
    for name, build in CONTENDERS.items():
        if name == "pluggy" and load.rules > _LOAD_LIMIT:
            continue
        decide = build(load)
        assert decide("write_file", input) is load.matches, (name, load)
        calls[name] = lambda decide=decide: decide("write_file", input)  # type: ignore[misc]
        if name == "hookline":
            calls["hookline, new path"] = lambda decide=decide: decide("write_file", fresh_path(input))  # type: ignore[misc]
    return seconds_each(calls)


def decision_rows(results: list[tuple[Workload, dict[str, float]]]) -> list[dict[str, str]]:
    rows = []
    for load, times in results:
        row = {"decide": load.name, "rules": f"{load.rules:,}"}
        row |= {name: format_seconds(seconds) for name, seconds in times.items()}
        row["re loop ÷ hookline"] = f"{times['re loop'] / times['hookline']:,.1f}"
        rows.append(row)
    return rows


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
    results = []
    for load in workloads():
        print(f"{load.name}, {load.rules:,} rules …", file=sys.stderr, flush=True)
        results.append((load, decisions(load)))
    print(table(decision_rows(results)), end="\n\n")
    print(table(load_rows()), end="\n\n")
    times = dialects.decisions()
    rows = [
        {"10,000 rules": name, "none matches": format_seconds(none), "the last matches": format_seconds(last)}
        for name, (none, last) in times.items()
    ]
    print(table(rows), end="\n\n")
    print(
        table(
            [{"one script": "JavaScript, in a fresh context", "hookline": format_seconds(dialects.javascript_hook())}]
        ),
        end="\n\n",
    )
    programs = shell_hook()
    print(
        table([{"one program": "cat > /dev/null; printf ok", **{n: format_seconds(t) for n, t in programs.items()}}]),
        end="\n\n",
    )
    python = python_hook()
    print(
        table([{"one Python file": "reads and writes JSON", **{n: format_seconds(t) for n, t in python.items()}}]),
        end="\n\n",
    )
    calls = round_trips()
    print(table([{"an agent's hook": "one call", **{n: format_seconds(t) for n, t in calls.items()}}]), end="\n\n")
    proxied = mcp_call()
    print(
        table([{"one MCP call": "2 KB, 100 hooks", **{n: format_seconds(t) for n, t in proxied.items()}}]), end="\n\n"
    )
    starts = startup.cpu_times()
    shown = {name: format_seconds(seconds) for name, seconds in starts.items()}
    print(
        table([{"start": "processor time", **shown, "memory of 10,000 rules": f"{memory(10_000):.0f} MiB"}]), end="\n\n"
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
    programs["hooks of a turn"] = max(each.hooks for each in agents)
    programs["Python, warm"], programs["Python, spawned"] = python["warm"], python["spawned"]
    programs |= calls
    programs["MCP proxy"] = proxied["added"]
    further = [*startup.goals(starts), *loading.goals(loads)]
    print(table(goals({(load.name, load.rules): times for load, times in results}, programs, further)))
    if "--json" in sys.argv:
        print(json.dumps([{"name": load.name, "rules": load.rules, **times} for load, times in results]))


Goal = tuple[str, float, float, str]  # what, the measured value, at most, of what


def goals(
    times: dict[tuple[str, int], dict[str, float]], programs: dict[str, float], further: list[Goal]
) -> list[dict[str, str]]:
    """What hookline promises, each as a ratio within this run."""
    none, last = times["none matches", 10_000], times["the last matches", 10_000]
    ten, one = times["none matches", 10], times["none matches", 1]
    hit = times["the last matches", 1]
    rows = [
        ("10,000 rules, none matches", none["hookline"] / none["re loop"], 1 / 200, "of the re loop"),
        (
            "10,000 rules, none matches, new path",
            none["hookline, new path"] / none["re loop"],
            1 / 200,
            "of the re loop",
        ),
        ("10,000 rules, none matches", none["hookline"] / ten["hookline"], 2, "× 10 rules"),
        ("10,000 rules, the last matches", last["hookline"] / last["re loop"], 1 / 100, "of the re loop"),
        ("1 rule, none matches", one["hookline"] / one["pluggy"], 3, "× pluggy"),
        ("1 rule, it matches", hit["hookline"] / hit["pluggy"], 3, "× pluggy"),
        ("one shell hook", programs["hookline"] / programs["bare asyncio"], 1.3, "× bare asyncio"),
        ("a Python hook, warm", programs["Python, warm"] / programs["Python, spawned"], 1 / 5, "of spawning it"),
        ("an MCP call behind 100 hooks", programs["MCP proxy"] / 0.001, 1, "ms added"),
        (
            "5 hooks in a turn with a model of 50 ms",
            programs["hooks of a turn"] / MODEL.total_seconds(),
            1 / 20,
            "of the turn",
        ),
        *_bridge_goals(programs),
        *further,
    ]
    return [
        {
            "must be": f"{what}: at most {_ratio(most)} {of}",
            "is": _ratio(ratio),
            "reached": "yes" if ratio <= most else "no",
        }
        for what, ratio, most, of in rows
    ]


def _bridge_goals(calls: dict[str, float]) -> list[tuple[str, float, float, str]]:
    if "C client" not in calls:
        return []
    return [
        ("an agent's hook", calls["C client"] / calls["Python hook"], 1 / 10, "of spawning one in Python"),
        ("an agent's hook", calls["C client"] / calls["sh -c :"], 2, "× sh -c :"),
    ]


def _ratio(value: float) -> str:
    return f"1/{1 / value:,.0f}" if value < 0.5 else f"{value:.2f}"


if __name__ == "__main__":
    main()

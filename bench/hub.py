"""The hub: how fast it takes records, what consoles cost, and whether anything is lost under load.

`python -m bench.hub [--only-load] [--load SECONDS]` prints the table. Times depend on what else the machine does; processor
time and memory of the hub's own process do not.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

from bench.hub_load import run_load
from bench.hub_process import HubProcess, consoles, entry, hub_process, wait_until_told
from bench.record import record_costs
from bench.table import table
from bench.timing import format_seconds
from hookline.hub.config.hub_config import HubConfig
from hookline.hub.context.running_hub import Hub
from hookline.record.segment import record_directory
from hookline.record.writer import RecordWriter, encode_record
from hookline.runtime.storage.store import file_url

_ROOT = Path(__file__).parent.parent

Row = tuple[str, str, str, bool | None]
"""What, the target, what was measured, and whether it was reached; None without a target."""


async def measure_intake(directory: Path, store: str, count: int = 50_000) -> Row:
    """Rows a second from a record on disk into the database, and processor time for each."""
    writer = RecordWriter(record_directory(directory), {"machine": "bench"})
    for number in range(count):
        writer.write(encode_record(entry(number)))
    writer.close()
    async with Hub.open(HubConfig(state=directory, store=store, reads_record=False)) as hub:
        began, cpu = time.perf_counter(), time.process_time()
        await hub.record_intake.look_once()
        took, used = time.perf_counter() - began, time.process_time() - cpu
        size = await hub.decisions.size()
    assert size == count + 1, (size, count)
    told = f"{count / took:,.0f}/s; {used / count * 1e6:.0f} µs of CPU each"
    return ("intake", "≥ 5,000/s", told, count / took >= 5000)


async def measure_start(hub: HubProcess) -> Row:
    return ("start", "≤ 3 s", f"{hub.up_after:.1f} s; {hub.cpu():.1f} s of CPU", hub.up_after <= 3)


async def measure_runtimes(hub: HubProcess, count: int = 20) -> Row:
    """The hub's memory with a session in each of as many runtimes."""
    for number in range(count):
        agent = await hub.post("/agents", {"name": f"agent {number}"})
        await hub.post("/sessions", {"agent": agent["id"]})
    return (f"memory with {count} runtimes", "≤ 150 MB", f"{hub.memory():.0f} MB", hub.memory() <= 150)


async def measure_preview(hub: HubProcess, events: int = 10_000) -> Row:
    """Of a rule with patterns, over recorded events."""
    rule = {"matcher": "^Bash$", "inputMatchers": {"command": "--force"}, "action": "deny"}
    text = json.dumps({"hooks": {"PreToolUse": [rule]}})
    began, cpu = time.perf_counter(), hub.cpu()
    found = await hub.post("/rules/everyone/preview", {"text": text, "last": events})
    took, used = time.perf_counter() - began, hub.cpu() - cpu
    assert found["events"] == events, found["events"]
    return (f"preview of {events:,} events", "≤ 1 s", f"{took:.2f} s; {used:.2f} s of CPU", took <= 1)


def measure_recording() -> list[Row]:
    costs = record_costs()
    busy, idle = (costs[f"recorded, {when}"] for when in ("busy", "6 ms apart"))
    return [
        ("added to a decision by recording, busy", "≤ 30 µs p50", format_seconds(busy), busy <= 30e-6),
        ("added to a decision by recording, 170/s", "≤ 150 µs p50", format_seconds(idle), idle <= 150e-6),
    ]


def measure_console() -> list[Row]:
    """In Chromium, in an environment of its own that `make bench-hub` has made."""
    program = _ROOT / ".cache/browser/python/bin/python"
    script = str(_ROOT / "tests_browser/measure_console.py")
    done = subprocess.run([program, script, "--json"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return [("console in Chromium", "", f"not measured: {(done.stderr.splitlines() or ['?'])[-1]}", None)]
    return [tuple(each) for each in json.loads(done.stdout.splitlines()[-1])]


async def measure_consoles(hub: HubProcess, directory: Path, count: int, rate: int, seconds: float) -> list[Row]:
    """What the hub uses while `count` consoles see `rate` decisions a second from the record of this machine."""
    writer = RecordWriter(record_directory(directory / "hookline"), {"machine": "bench"})
    async with consoles(hub.url, hub.token, count) as watching:
        await asyncio.sleep(1)
        began, cpu, sent = time.perf_counter(), hub.cpu(), 0
        while (elapsed := time.perf_counter() - began) < seconds:
            while sent < elapsed * rate:
                writer.write(encode_record(entry(sent)))
                sent += 1
            await asyncio.sleep(0.01)
        used = (hub.cpu() - cpu) / (time.perf_counter() - began)
        lost = await wait_until_told(watching, sent)
    writer.close()
    lags = sorted(lag for each in watching for lag in each.lags)
    what = f"{count} console{'s' if count > 1 else ''} at {rate:,}/s"
    p50, p95 = (lags[int(len(lags) * share)] * 1000 for share in (0.5, 0.95))
    return [
        (
            f"{what}: the hub's CPU",
            "≤ 25 % of a core" if count == 100 else "",
            f"{used:.0%}",
            used <= 0.25 if count == 100 else None,
        ),
        (f"{what}: rows that one was not told of", "0", f"{lost} of {sent:,}", lost == 0),
        (f"{what}: decision → console", "≤ 400 ms p95", f"p50 {p50:.0f} ms, p95 {p95:.0f} ms", p95 <= 400),
    ]


async def measure_load(hub: HubProcess, name: str, options: argparse.Namespace) -> list[Row]:
    """1,000 sessions of 20 processes report over HTTP, consoles watch, and questions are asked and answered."""
    rate, seconds, watching = options.rate, options.load, options.consoles
    load = await run_load(hub, rate, seconds, watching)
    reached = load.sent / load.seconds
    told = f"{reached:,.0f}/s; {load.cpu / load.seconds:.0%} of a core, {load.cpu / load.sent * 1e6:.0f} µs each"
    lost, memory = load.sent - load.stored, load.memory
    slowest = sorted(load.answers)[int(len(load.answers) * 0.95)] * 1000
    told_memory = f"{memory[0]:.0f} → {memory[len(memory) // 2]:.0f} → {memory[-1]:.0f} MB"
    of_all = f"of {load.sent:,}"
    return [
        (f"load, {name}", f"{rate:,}/s for {seconds:.0f} s", told, reached >= rate * 0.98),
        (f"load, {name}: acknowledged and not stored", "0", f"{lost} {of_all}", lost == 0),
        (
            f"load, {name}: rows that one of {watching} consoles was not told of",
            "0",
            f"{load.untold} {of_all}",
            load.untold == 0,
        ),
        (f"load, {name}: memory", "flat", told_memory, memory[-1] - memory[len(memory) // 2] <= 10),
        (
            f"load, {name}: answer → host",
            "≤ 200 ms p95",
            f"p95 {slowest:.0f} ms of {len(load.answers)}",
            slowest <= 200,
        ),
    ]


async def measure_one_hub(place: Path, seconds: float) -> list[Row]:
    directory = place / "consoles"
    async with hub_process(directory, file_url(place / "consoles.db")) as hub:
        rows = [await measure_start(hub)]
        for count, rate in ((1, 500), (1, 1000), (100, 500)):
            rows += await measure_consoles(hub, directory, count, rate, seconds)
        return [*rows, await measure_preview(hub), await measure_runtimes(hub)]


async def measure_loads(place: Path, options: argparse.Namespace) -> list[Row]:
    rows: list[Row] = []
    stores = {"SQLite": nullcontext(file_url(place / "load.db")), "PostgreSQL": temporary_postgres(place)}
    for name, opening in stores.items():
        with opening as store:
            if not store:
                rows.append((f"load, {name}", "", "not measured: PostgreSQL is not installed", None))
                continue
            async with hub_process(place / name, store) as hub:
                rows += await measure_load(hub, name, options)
    return rows


@contextmanager
def temporary_postgres(place: Path) -> Iterator[str]:
    """One that waits for the disk, as a team's does. Empty where there is none."""
    sys.path.append(str(_ROOT / "tests"))
    from runtime.storage import temporary_postgres as server

    programs = server.programs()
    if programs is None:
        yield ""
        return
    with server.running(programs, place, options="") as directory:
        yield f"postgresql://tests@/postgres?host={directory}"


async def run(options: argparse.Namespace) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="hookline-bench-hub-") as directory:
        place = Path(directory)
        if not options.only_load:
            rows += await asyncio.to_thread(measure_recording)
            rows.append(await measure_intake(place / "intake" / "hookline", file_url(place / "intake.db")))
            rows += await measure_one_hub(place, options.seconds)
            rows += await asyncio.to_thread(measure_console)
        if options.load:
            rows += await measure_loads(place, options)
    words = {True: "reached", False: "missed", None: "–"}
    shown = [(what, target or "–", measured, words[reached]) for what, target, measured, reached in rows]
    print(table([dict(zip(("what", "target", "measured", ""), row, strict=True)) for row in shown]))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.hub")
    parser.add_argument("--seconds", type=float, default=10.0, help="of each measurement with consoles")
    parser.add_argument("--load", type=float, default=60.0, help="seconds of load; 0: none")
    parser.add_argument("--rate", type=int, default=5000)
    parser.add_argument("--consoles", type=int, default=50)
    parser.add_argument("--only-load", action="store_true")
    asyncio.run(run(parser.parse_args()))


if __name__ == "__main__":
    main()

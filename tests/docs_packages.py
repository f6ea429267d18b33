"""The table of packages in docs/architecture.md, from the layers that tests/test_layers.py enforces."""

from __future__ import annotations

from collections.abc import Callable

from test_layers import ANYWHERE, MAY_IMPORT

DESCRIPTIONS = {
    "formatting": "texts for people: printable, shortened, the closest match",
    "shell": "reads shell text: words, commands, where a value would be run as code",
    "hooks": "what a hook is: events, conditions, actions, outcomes, the host",
    "config": "text → document with line numbers; problems",
    "patterns": "regexes, globs, commands and hosts as questions that cannot hang",
    "runners": "runs programs, JavaScript and warm Python",
    "engine": "event + hooks → decision: book, index, round, limits",
    "extensions": "conditions and actions that other packages register",
    "register": "the public name of `extensions`",
    "standard_agents": "what Python definitions import",
    "dialects": "document → hooks, one module or folder for each format",
    "project": "files → book: find, trust, load, watch",
    "record": "every decision, kept: written, chained, read, verified",
    "prove": "properties of hooks: proved, or refuted with an event",
    "hosts": "coding agents, the bridge, `install` and `doctor`, the MCP proxy, Python sessions",
    "frameworks": "the agents of Python frameworks: what their adapters share, and one module for each",
    "runtime": "hookline's own agent: models, tools, threads, storage, skills, triggers",
    "hub": "decisions of all hosts in one place: API, event bus, access, console, browser agents",
    "testing": "what users need to test their hooks",
    "demo": "the session of `make run`",
    "pytest_plugin": "the pytest fixture `hookline_fire`",
}


def packages_table(table: Callable[..., str]) -> str:
    rows = []
    above: set[str] = set()
    for name in (each for each in MAY_IMPORT if each not in ANYWHERE):
        rows.append((f"`{name}`", DESCRIPTIONS[name], _imports_text(MAY_IMPORT[name], above)))
        above.add(name)
    return table(("package", "what it does", "may import"), rows)


def _imports_text(allowed: set[str], above: set[str]) -> str:
    left_out = sorted(above - allowed)
    if len(allowed) > 1 and len(left_out) < 2:
        return f"all of the above but `{left_out[0]}`" if left_out else "all of the above"
    return ", ".join(f"`{each}`" for each in sorted(allowed)) or "–"

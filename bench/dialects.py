"""Ten thousand rules as other formats write them, and one JavaScript hook."""

from __future__ import annotations

import json
from collections.abc import Callable

from bench.rules import Workload
from bench.timing import seconds_each
from hookline import Book, Event
from hookline.project import load_text

RULES = 10_000


def flo_file(rules: int) -> str:
    load = Workload("flo", rules, 10)
    rows = [
        {
            "matcher": "^write_file$",
            "inputMatchers": {"path": load.path_pattern(n), "content": load.content_pattern(n)},
            "action": "deny",
        }
        for n in range(rules)
    ]
    return json.dumps({"hooks": {"PreToolUse": rows}})


def digitorn_file(rules: int) -> str:
    rows = [
        f"    - {{id: h{n}, on: tool_start, condition: {{type: tool_name, match: 'module{n}.write'}},"
        " action: {type: gate}}\n"
        for n in range(rules)
    ]
    return "runtime:\n  hooks:\n" + "".join(rows)


def decisions() -> dict[str, tuple[float, float]]:
    """Seconds of one decision that matches nothing, and of one that the last rule denies."""
    flo = load_text(flo_file(RULES), "hub.json", "flo")
    digitorn = load_text(digitorn_file(RULES), "digitorn.yaml", "digitorn")
    none, last = Workload("n", RULES, 2_048).input(), Workload("l", RULES, 2_048, matches=True).input()
    cases = {
        "flo": (flo, _call("write_file", none), _call("write_file", last)),
        "digitorn": (digitorn, _call("module.read", none), _call(f"module{RULES - 1}.write", none)),
    }
    times: dict[str, tuple[float, float]] = {}
    for name, (book, passes, denied) in cases.items():
        assert not book.decide_now(passes).denied
        assert book.decide_now(denied).denied
        each = seconds_each({"none": _decision_call(book, passes), "last": _decision_call(book, denied)})
        times[name] = each["none"], each["last"]
    return times


def _call(tool: str, input: dict[str, str]) -> Event:
    return Event("tool.before", {"tool": {"name": tool, "input": input}})


def _decision_call(book: Book, event: Event) -> Callable[[], object]:
    return lambda: book.decide_now(event)

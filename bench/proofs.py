"""How long a proof takes: a property that 100 of 10,000 rules touch, each of which is needed."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from bench.goals import Goal
from bench.timing import format_seconds
from hookline.engine.book import Book
from hookline.project import load_text
from hookline.prove.properties import parse_property

RULES = 10_000
TOUCHING = 100
PROPERTY = "kind: [write, edit], input: {path: ^secrets/}"


def rules(*, complete: bool = True) -> str:
    """Without `complete`, the rule of one team is missing."""
    teams = "|".join(str(number) for number in range(TOUCHING - 1))
    lines = ["hooks:"]
    for number in range(TOUCHING - 1):
        if complete or number != TOUCHING // 2:
            lines.append(_rule(f"team-{number}", "tool: [write_file, edit_file]", "path", f"^secrets/team-{number}/"))
    lines.append(_rule("others", "kind: [write, edit]", "path", f"^secrets/(?!team-(?:{teams})/)"))
    for number in range(RULES - TOUCHING):
        lines.append(_rule(f"command-{number}", "tool: bash", "command", rf"\bword{number}\b"))
    return "\n".join(lines) + "\n"


def _rule(id: str, tool: str, field: str, pattern: str) -> str:
    return f"  - {{id: {id}, on: tool.before, when: {{{tool}, input: {{{field}: '{pattern}'}}}}, then: {{deny: no}}}}"


def load(text: str) -> Book:
    book = load_text(text, "hookline.yaml", "native")
    assert not book.problems
    return book


def proof_seconds() -> dict[str, float]:
    """Processor time; the package of the solver is already imported."""
    from hookline.prove.prover import ProofResult, prove

    found: dict[str, float] = {}
    for name, is_complete, expected in (
        ("proved", True, ProofResult.PROVED),
        ("counter-example", False, ProofResult.COUNTER_EXAMPLE),
    ):
        book = load(rules(complete=is_complete))
        begun = time.process_time()
        answer = prove(book, parse_property(PROPERTY), Path.cwd(), timedelta(minutes=2))
        found[name] = time.process_time() - begun
        assert answer.result is expected, answer
    return found


def goals(seconds: dict[str, float]) -> Iterator[Goal]:
    yield Goal(f"a proof that {TOUCHING} of {RULES:,} rules touch", seconds["proved"], 2, "s of a core")


def row(seconds: dict[str, float]) -> dict[str, str]:
    shown = {name: format_seconds(each) for name, each in seconds.items()}
    return {"a property": f"{TOUCHING} of {RULES:,} rules touch it", **shown}


if __name__ == "__main__":
    from bench.table import table

    print(table([row(proof_seconds())]))

"""A property that 100 of 10,000 rules touch, each of which is needed."""

from __future__ import annotations

import time
from datetime import timedelta
from pathlib import Path

import pytest

pytest.importorskip("z3", reason="z3-solver is not installed: pip install 'hookline[prove]'")

from hookline.project import load_text
from hookline.prove.properties import parse_property
from hookline.prove.prover import ProofResult, prove

TEAMS = range(99)


def rule(id: str, tool: str, field: str, pattern: str) -> str:
    return f"  - {{id: {id}, on: tool.before, when: {{{tool}, input: {{{field}: '{pattern}'}}}}, then: {{deny: no}}}}\n"


def rules(missing: int | None = None) -> str:
    teams = "|".join(map(str, TEAMS))
    touching = [rule(f"t{n}", "kind: [write, edit]", "path", f"^secrets/{n}/") for n in TEAMS if n != missing]
    others = [rule(f"c{n}", "tool: bash", "command", rf"\bword{n}\b") for n in range(9_900)]
    return "hooks:\n" + "".join(
        [*touching, rule("o", "kind: [write, edit]", "path", f"^secrets/(?!({teams})/)"), *others]
    )


@pytest.mark.timing
@pytest.mark.parametrize(("missing", "result"), [(None, ProofResult.PROVED), (50, ProofResult.COUNTER_EXAMPLE)])
def test_ten_thousand_rules_take_less_than_two_seconds(missing, result):
    book = load_text(rules(missing), "hookline.yaml", "native")
    begun = time.process_time()
    answer = prove(
        book, parse_property("kind: [write, edit], input: {path: ^secrets/}"), Path("/"), timedelta(minutes=1)
    )
    assert answer.result is result
    assert time.process_time() - begun < 2
    if missing is not None:
        assert any(f"secrets/{missing}/" in str(text) for text in answer.facts["tool"]["input"].values())

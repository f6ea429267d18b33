"""Every case file decides the same after its config is converted to native."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from hookline.cli.yaml_dump import dump_yaml
from hookline.dialects.conversion import ADDED_GUESS, with_vocabulary
from hookline.dialects.dialect import get_dialect
from hookline.engine.decision import Decision
from hookline.errors import ConfigError
from hookline.hooks.outcome import FailureKind
from hookline.project import load_file, load_text
from hookline.testing import load_cases, run_case
from hookline.testing.case import Case
from hookline.testing.case_runner import config_text, default_file_name

pytestmark = pytest.mark.slow

CASES = Path(__file__).parent.parent / "cases"
FILES = sorted(path for path in CASES.rglob("*.yaml") if path.parent.name != "standard_agents")

_VARYING = re.compile(r"hookline-case-\w+|\d\d:\d\d:\d\d|within [\d.]+ \w+|not a decision for [\w.]+")
"""The directory and time of a run, and what each dialect says in its own unit and with its own name."""
_DECIDES_OTHERWISE = "is also matched if it is not text"  # flo matches only text


def _convert(case: Case) -> Case | None:
    """The case with its config as a native file; None if it has no hooks, or its config is in several files."""
    dialect = case.dialect or "native"
    try:
        if case.config_file is not None:
            book = load_file(case.config_file, dialect, importing=False)
        elif case.config is not None:
            book = load_text(config_text(case.config), default_file_name(dialect), dialect)
        else:
            return None
    except ConfigError:
        return None
    hooks = [hook for layer in book.layers for hook in layer.hooks]
    if not hooks or any(hook.origin.dialect == "standard_agents" for hook in hooks):
        return None
    written = get_dialect("native").write(with_vocabulary("native", hooks))
    # A manifest's `platform` chooses the program when it is read: only the programs of other systems are lost.
    chooses_platform = isinstance(case.config, dict) and '"platform"' in json.dumps(case.config)
    assert [loss.rpartition(": ")[2] for loss in written.not_expressible] == ["platform"] * chooses_platform
    return replace(case, config=dump_yaml(written.value), config_file=None, dialect="native")


def _summary(decision: Decision) -> str:
    """What a decision says, beside what the case expects. Each run has its own directory and time."""
    notes = [(note.text, note.audience, note.place, note.role, note.position) for note in decision.notes]
    failures = [
        (failure.hook, failure.kind, "" if failure.kind is FailureKind.NOT_ACCEPTED else failure.text)
        for failure in decision.failures  # the text of NOT_ACCEPTED names the event as the hook's dialect calls it
    ]
    said = (decision.verdict, decision.reason, decision.by, decision.halt, notes, decision.requests, failures)
    return _VARYING.sub("", repr(said))


@pytest.mark.parametrize("path", FILES, ids=[str(path.relative_to(CASES)) for path in FILES])
def test_a_case_decides_the_same_in_native(path: Path) -> None:
    for case in load_cases(path):
        converted = _convert(case)
        if converted is None or not case.steps:
            continue
        result = run_case(converted)
        differences = [difference for step, difference in result.differences if step]
        assert [each for each in differences if "did not answer within" not in str(each.got)] == [], converted.config
        expected = [_summary(decision) for decision in run_case(case).decisions]
        assert [_summary(decision) for decision in result.decisions] == expected


@pytest.mark.parametrize(
    ("source", "target", "least"),
    [("native", "flo", 5), ("native", "digitorn", 5), ("flo", "digitorn", 12), ("digitorn", "flo", 10)],
)
def test_what_another_dialect_accepts_decides_the_same(source: str, target: str, least: int) -> None:
    """Even where something beside the decision is lost, such as the environment of a program."""
    accepted = 0
    for case in load_cases(CASES / source):
        if case.config is None or not case.steps:
            continue
        file = default_file_name(source)
        hooks = load_text(config_text(case.config), file, source).hooks
        written = get_dialect(target).write(with_vocabulary(target, hooks))
        written_hooks = load_text(config_text(written.value), default_file_name(target), target).hooks
        if not hooks or len(written_hooks) < len(hooks) or _DECIDES_OTHERWISE in str(written.not_expressible):
            continue
        keys = ("verdict", "reason", "facts", *(() if written.not_expressible else ("log_contains",)))
        accepted += 1
        result = run_case(replace(case, config=written.value, dialect=target))
        differences = [each for step, each in result.differences if step and each.key in keys]
        if ADDED_GUESS in str(written.not_expressible):
            differences = [each for each in differences if (each.key, each.expected) != ("verdict", "silent")]
        assert differences == [], f"{case.name}: {written.value}"
    assert accepted >= least

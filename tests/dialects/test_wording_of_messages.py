"""Every message about a file uses the words of its dialect."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hookline.cli.list import _table_row as list_row
from hookline.config.document import Document
from hookline.config.reader import salvage_text
from hookline.dialects.conversion import with_vocabulary
from hookline.dialects.dialect import DIALECT_NAMES, get_dialect
from hookline.engine.decision import TraceEntry
from hookline.errors import AmbiguousField
from hookline.hooks.attempt import accept_outcome
from hookline.hooks.event import Event
from hookline.hooks.events import EVENTS
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Compact, Note, Outcome, Verdict
from hookline.project.lint import lint_hooks
from hookline.project.review import effects_of_hook
from hookline.testing import load_cases
from hookline.testing.case_runner import _run_once, run_sync

CASES = Path(__file__).parent.parent / "cases"
FILES = {
    "flo": "hub.json",
    "microai": ".microai/settings.json",
    "ai_agents": ".ai_agents/settings.json",
    "claude_code": ".claude/settings.json",
    "digitorn": "app.yaml",
}
NATIVE_EVENTS = "|".join(re.escape(name) for name in EVENTS if "." in name)
NATIVE_WORDS = re.compile(
    rf"(?<![\w.])(?:{NATIVE_EVENTS})(?![\w.])|\blower order\b|when: never|\btool\.ok\b|\btool\.input\b"
)
YAML_WORDS = re.compile(r"\bmapping\b|start each element with -")
ON_ERROR = re.compile(r"\bon_error\b|\bonly_if\b")


EVERYTHING = Outcome(
    Verdict.DENY,
    changes=((("tool", "input", "a"), 1), (("tool", "result"), 1), (("agent", "id"), 1)),
    notes=(Note("a"),),
    requests=(Compact(),),
    halt=True,
)


def documents(dialect: str) -> Iterator[Document]:
    for path in sorted((CASES / dialect).rglob("*.yaml")):
        case, _ = salvage_text(path.read_text(), path.name)
        for file, config in configs(case.value, dialect) if case is not None else ():
            text = config if isinstance(config, str) else json.dumps(config)
            document, _ = salvage_text(text, file)
            if document is not None:
                yield document


def configs(value: Any, dialect: str, around: str = "native") -> Iterator[tuple[str, Any]]:
    """The configs of this dialect in a case file, at any depth: of the key `config`, and in `files`."""
    usual = FILES[dialect]
    if isinstance(value, dict):
        around = value.get("dialect", around)
        if value.get("config") is not None and around == dialect:
            yield usual, value["config"]
        files = value.get("files")
        for name, text in files.items() if isinstance(files, dict) else ():
            if name.endswith(usual):
                yield name, text
        for part in value.values():
            yield from configs(part, dialect, around)
    elif isinstance(value, list):
        for part in value:
            yield from configs(part, dialect, around)


def messages(dialect: str, document: Document) -> Iterator[str]:
    loaded = get_dialect(dialect).load(document)
    yield from (str(problem) for problem in (*loaded.problems, *lint_hooks(loaded.hooks)))
    for hook in loaded.hooks:
        row = list_row(hook)
        yield " ".join((row[1], row[3], *row[6:]))
        effects = effects_of_hook(hook)
        shown = ("run", "only_if", "set", "remove")
        yield " ".join((effects.event, *(each.text for each in effects.effects if each.what in shown)))
        yield from explanations(hook)
    for target in DIALECT_NAMES:
        if target != dialect:
            yield from get_dialect(target).write(with_vocabulary(target, loaded.hooks)).not_expressible


def explanations(hook: Hook) -> Iterator[str]:
    """Why it ran, why it did not, and what its event does not accept."""
    yield TraceEntry(hook).why
    for facts in ({}, {"tool": {"name": "nothing", "input": {}, "ok": True, "result": ""}, "turn": {"number": 1}}):
        event = Event(hook.event, facts)
        try:
            if not hook.when.holds(event):
                yield TraceEntry(hook, skip_reason=hook.when.why_not(event)).why
        except AmbiguousField:
            pass
    _, failure = accept_outcome(EVERYTHING, hook.event, hook.origin.wording, hook.event_name)
    yield "" if failure is None else failure.text


@pytest.mark.parametrize("dialect", FILES)
def test_no_message_uses_hookline_s_own_words(dialect: str) -> None:
    found = [text for document in documents(dialect) for text in messages(dialect, document)]
    assert len(found) > 50
    assert [text for text in found if NATIVE_WORDS.search(text)] == []
    if dialect != "digitorn":  # which has on_error, in YAML
        assert [text for text in found if ON_ERROR.search(text) or YAML_WORDS.search(text)] == []


@pytest.mark.slow
@pytest.mark.parametrize("dialect", [*FILES, "standard_agents"])
def test_what_happens_at_run_time_is_told_in_the_words_of_the_file(dialect: str) -> None:
    found: list[str] = []
    for case in load_cases(CASES / dialect):
        for decision in run_sync(_run_once(case, explain=True)).decisions:
            found += [failure.text for failure in decision.failures]
            found += [note.text for note in decision.notes]
            found += [entry.why for entry in decision.trace]
            found.append(decision.reason)
    assert len(found) > 50
    assert [text for text in found if NATIVE_WORDS.search(text)] == []

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
from hookline.dialects.dialect import get_dialect
from hookline.hooks.events import EVENTS
from hookline.project.lint import lint_hooks
from hookline.project.review import effects_of_hook

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
    rf"(?<![\w.])(?:{NATIVE_EVENTS})(?![\w.])|\blower order\b|when: never|tool\.ok\b|tool\.input\b"
)
YAML_WORDS = re.compile(r"\bmapping\b|start each element with -")
ON_ERROR = re.compile(r"\bon_error\b")


def documents(dialect: str) -> Iterator[Document]:
    for path in sorted((CASES / dialect).rglob("*.yaml")):
        case, _ = salvage_text(path.read_text(), path.name)
        for config in configs(case.value) if case is not None else ():
            text = config if isinstance(config, str) else json.dumps(config)
            document, _ = salvage_text(text, FILES[dialect])
            if document is not None:
                yield document


def configs(value: Any) -> Iterator[Any]:
    """Every `config` in a case file, at any depth."""
    if isinstance(value, dict):
        if value.get("config") is not None:
            yield value["config"]
        for part in value.values():
            yield from configs(part)
    elif isinstance(value, list):
        for part in value:
            yield from configs(part)


def messages(dialect: str, document: Document) -> Iterator[str]:
    loaded = get_dialect(dialect).load(document)
    yield from (str(problem) for problem in (*loaded.problems, *lint_hooks(loaded.hooks)))
    for hook in loaded.hooks:
        row = list_row(hook)
        yield " ".join((row[1], row[3], *row[6:]))
        effects = effects_of_hook(hook)
        yield " ".join((effects.event, *(each.text for each in effects.effects if each.what in ("run", "only_if"))))


@pytest.mark.parametrize("dialect", FILES)
def test_no_message_uses_hookline_s_own_words(dialect: str) -> None:
    found = [text for document in documents(dialect) for text in messages(dialect, document)]
    assert len(found) > 50
    assert [text for text in found if NATIVE_WORDS.search(text)] == []
    if dialect != "digitorn":  # which has on_error, in YAML
        assert [text for text in found if ON_ERROR.search(text) or YAML_WORDS.search(text)] == []

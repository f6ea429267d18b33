"""Texts with placeholders, read from a document.

Whose action is being read, and what reads it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from hookline.config.node import Node
from hookline.errors import BadTemplate
from hookline.hooks.placeholders import PlaceholderResolver
from hookline.hooks.protocols import Action
from hookline.hooks.templates import DataTemplate, ShellTemplate, Template, parse_shell_template, parse_template
from hookline.hooks.tools import Vocabulary


@dataclass(frozen=True, slots=True)
class HookInfo:
    event: str
    vocabulary: Vocabulary
    timeout: timedelta
    hook_id: str  # its id


ActionParser = Callable[[Node, Node, HookInfo], Action | None]  # the action's mapping, the main key's value


BAD_TEMPLATE = "bad-template"
PLACEHOLDER_EXAMPLES = "{{tool.name}}, {{input.path}}, {{result}}, {{prompt}}, {{cwd}}, {{session.id}}"


def read_template(at: Node, vocabulary: Vocabulary, *, empty: bool = False) -> Template | None:
    text = at.text(empty=empty)
    return None if text is None else compile_template(at, text, vocabulary)


def compile_template(at: Node, text: str, vocabulary: Vocabulary) -> Template | None:
    try:
        return parse_template(text, PlaceholderResolver(vocabulary))
    except BadTemplate as bad:
        at.add_problem(
            BAD_TEMPLATE, f"{at.location}: {bad.what}.", bad.hint or f"Placeholders name facts: {PLACEHOLDER_EXAMPLES}."
        )
        return None


def read_shell_template(at: Node, vocabulary: Vocabulary) -> ShellTemplate | None:
    text = at.text()
    if text is None:
        return None
    try:
        return parse_shell_template(text, PlaceholderResolver(vocabulary))
    except BadTemplate as bad:
        at.add_problem(
            BAD_TEMPLATE, f"{at.location}: {bad.what}.", bad.hint or f"Placeholders name facts: {PLACEHOLDER_EXAMPLES}."
        )
        return None


def read_choice(at: Node, key: str, words: Collection[str], default: str) -> str | None:
    place = at.get(key)
    return default if place is None else place.one_of(words)


def read_data_template(at: Node, vocabulary: Vocabulary) -> DataTemplate | None:
    """A mapping, list or text in which every text may have placeholders; None after a problem."""
    before = len(at.problems)
    value = _read_data(at, vocabulary)
    return DataTemplate(value) if len(at.problems) == before else None


def _read_data(at: Node, vocabulary: Vocabulary) -> Any:
    if isinstance(at.value, dict):
        return {key: _read_data(place, vocabulary) for key, place in at.entries()}
    if isinstance(at.value, list):
        return [_read_data(place, vocabulary) for place in at.items()]
    if isinstance(at.value, str):
        text = compile_template(at, at.value, vocabulary)
        return at.value if text is None or text.constant else text
    return at.value

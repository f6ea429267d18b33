"""Texts with placeholders, read from a document."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

from hookline.config.shape import Reader
from hookline.hooks.facts import Names
from hookline.hooks.filled import Filled
from hookline.hooks.template import BadTemplate, ShellTemplate, Template, shell_template, template
from hookline.hooks.tools import Tongue

BAD_TEMPLATE = "bad-template"
EXAMPLES = "{{tool.name}}, {{input.path}}, {{result}}, {{prompt}}, {{cwd}}, {{session.id}}"


def text_of(at: Reader, tongue: Tongue, *, empty: bool = False) -> Template | None:
    text = at.text(empty=empty)
    return None if text is None else filled_text(at, text, tongue)


def filled_text(at: Reader, text: str, tongue: Tongue) -> Template | None:
    try:
        return template(text, Names(tongue))
    except BadTemplate as bad:
        at.problem(BAD_TEMPLATE, f"{at.place}: {bad.what}.", bad.hint or f"Placeholders name facts: {EXAMPLES}.")
        return None


def shell_of(at: Reader, tongue: Tongue) -> ShellTemplate | None:
    text = at.text()
    if text is None:
        return None
    try:
        return shell_template(text, Names(tongue))
    except BadTemplate as bad:
        at.problem(BAD_TEMPLATE, f"{at.place}: {bad.what}.", bad.hint or f"Placeholders name facts: {EXAMPLES}.")
        return None


def word_of(at: Reader, key: str, words: Collection[str], default: str) -> str | None:
    place = at.get(key)
    return default if place is None else place.one_of(words)


def filled(at: Reader, tongue: Tongue) -> Filled | None:
    """A mapping, list or text in which every text may have placeholders; None after a problem."""
    before = len(at.problems)
    value = _filled(at, tongue)
    return Filled(value) if len(at.problems) == before else None


def _filled(at: Reader, tongue: Tongue) -> Any:
    if isinstance(at.value, dict):
        return {key: _filled(place, tongue) for key, place in at.entries()}
    if isinstance(at.value, list):
        return [_filled(place, tongue) for place in at.items()]
    if isinstance(at.value, str):
        text = filled_text(at, at.value, tongue)
        return at.value if text is None or text.constant else text
    return at.value

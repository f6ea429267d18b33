"""Recognises the usual condition: a known tool, known fields, and regular expressions without an odd character.

There is nothing to lint in it. A process that loads a few of them does not import the lint, which is large.
"""

from __future__ import annotations

from typing import Final

from hookline.hooks.conditions.logic import All
from hookline.hooks.conditions.text import Matches
from hookline.hooks.protocols import Condition, TextPattern
from hookline.hooks.tool_input import ToolField
from hookline.hooks.tool_name import ToolName
from hookline.hooks.tools import FIELD_NAMES
from hookline.patterns.matchers import Shorthand
from hookline.patterns.pattern import Pattern

_ODD: Final = (r"\A", r"\z", r"\Z", "[]", "(?!", "(?<!", "{{", "%USER")


def is_usual(when: Condition) -> bool:
    """False for some conditions in which the lint finds nothing either; never True where it finds an error."""
    parts = when.parts if type(when) is All else (when,)
    tools = 0
    for part in parts:
        if type(part) is not Matches:
            return False
        subject = part.subject
        if type(subject) is ToolName:
            tools += 1
            if not _names_tool(subject, part.pattern):
                return False
        elif type(subject) is not ToolField or not (_is_known_field(subject) and _is_plain_regex(part.pattern)):
            return False
    return tools < 2  # two may exclude each other


def _names_tool(subject: ToolName, pattern: TextPattern) -> bool:
    return (
        type(pattern) is Shorthand
        and pattern.word == "tool"
        and any(pattern.text in names for names in subject.vocabulary.names.values())
    )


def _is_known_field(subject: ToolField) -> bool:
    return len(subject.path) == 1 and any(subject.path[0] in fields for fields in FIELD_NAMES.values())


def _is_plain_regex(pattern: TextPattern) -> bool:
    if type(pattern) is not Pattern:
        return False
    source = pattern.source
    return (
        source.isascii()
        and source.isprintable()
        and "^" not in source[1:]
        and "$" not in source[:-1]
        and not any(odd in source for odd in _ODD)
    )

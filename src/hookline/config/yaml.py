"""Parses YAML in one pass over libyaml's events, without recursion, and records positions.

It follows YAML 1.2's core schema, plus `<<` merges as in YAML 1.1: a mapping's own keys win, then the earlier source.
"""

from __future__ import annotations

from array import array
from typing import Any

from yaml import events
from yaml._yaml import CParser
from yaml.error import MarkedYAMLError, YAMLError

from hookline.config.document import (
    MAX_NESTING,
    MAX_VALUES,
    ConflictingKeys,
    Positions,
    SourceMap,
    SourceText,
    UnreadableValue,
)
from hookline.config.problem import Problem
from hookline.config.scalars import NON_TEXT_FIRST_CHARACTERS, NumberTooLargeError, parse_core_scalar
from hookline.formatting import shorten
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import json, lazy_pattern

_SYNTAX_HINTS = {
    "mapping values are not allowed in this context": 'Quote text that contains ": ", or fix the indentation.',
    "could not find expected ':'": 'Write ": " after the key, fix the indentation, or quote the text.',
    "did not find expected key": "Start all keys of a mapping in the same column, and put quotes around the whole text.",
    "did not find expected '-' indicator": 'Start all elements of a list with "- " in the same column.',
    "did not find expected ',' or ']'": "Close the list with ].",
    "did not find expected ',' or '}'": "Close the mapping with }, and quote text that contains a comma, a colon or braces.",
    "found unexpected end of stream": "Close the quotes.",
    "found unexpected document indicator": "Close the quotes.",
    "found unknown escape character": "In double quotes, a backslash starts an escape. Use single quotes: '\\d'.",
    "did not find expected alphabetic or numeric character": "Quote text that starts with * or &.",
    "did not find expected whitespace or line break": "Quote text that starts with !.",
    "found a tab character that violates indentation": "Indent with spaces.",
}


def explain_yaml_error(error: MarkedYAMLError, text: str, first_line: int) -> tuple[str, int, str, str]:
    """Code, position, what and hint of a syntax error; unclosed quotes or brackets are reported where they open."""
    mark = error.problem_mark or error.context_mark
    said = str(error.problem or error.context or "it cannot be parsed")
    opened = error.context_mark
    position = int(mark.index) if mark else 0
    if opened and "end of stream" in said:
        return "syntax", int(opened.index), f"{_describe_opening(error)} is never closed.", _SYNTAX_HINTS.get(said, "")
    what = f"Invalid YAML: {said}"
    if opened and mark and opened.line != mark.line and error.context:
        what += f", {error.context} that starts on line {opened.line + first_line}"
    return "syntax", position, what + ".", _syntax_hint(said, text[position : position + 1])


def _describe_opening(error: MarkedYAMLError) -> str:
    return "This quoted text" if "scalar" in str(error.context) else "This list or mapping"


def _syntax_hint(said: str, found: str) -> str:
    if said != "found character that cannot start any token":
        return _SYNTAX_HINTS.get(said, "")
    if found == "\t":
        return "Indent with spaces, not tabs."
    return f"Quote text that starts with {found}." if found else ""


MAX_ALIASED_VALUES = 200_000

_TAG_DIRECTIVE = lazy_pattern(r"(?<![^\r\n])%TAG\b")
_TAG_PREFIX = "tag:yaml.org,2002:"
_TYPE_OF_TAG: dict[str, tuple[type, ...]] = {
    _TAG_PREFIX + "int": (int,),
    _TAG_PREFIX + "float": (float, int),
    _TAG_PREFIX + "bool": (bool,),
    _TAG_PREFIX + "null": (type(None),),
}
_TEXT_TAGS = frozenset(("!", _TAG_PREFIX + "str"))


def parse_yaml(source: SourceText, start: int, end: int) -> tuple[Any, SourceMap]:
    """The value of that part of the text, and the positions of all its parts. Empty text is `{}`."""
    source.refuse_control_characters(start, end)
    source.refuse_hidden_line_ends(start, end)
    text = source.text[start:end]
    directive = _TAG_DIRECTIVE.search(text)
    if directive:  # libyaml compares each with all earlier ones, which takes minutes in a file full of them
        source.fail("tag", start + directive.start(), "%TAG directives are not supported.", "Remove the line.")
    build = _YamlBuilder(source, start)
    try:
        build.build(text)
    except MarkedYAMLError as error:
        code, position, what, hint = explain_yaml_error(error, text, source.line(start))
        source.fail(code, start + position, what, hint)
    except YAMLError as error:
        source.fail("syntax", start, f"Invalid YAML: {error}.")
    return build.root, SourceMap(source.starts, build.root_at, build.positions)


class _OpenContainer:
    """A list or mapping that is still open. Most of its values are the class's own: a file has thousands of containers."""

    height = 1
    key: str | None = None
    key_at = 0
    merge_at = -1
    merged: tuple[dict[str, Any], ...] = ()
    problems: tuple[Problem, ...] = ()

    def __init__(self, value: Any, positions: array[int], at: int, anchor: str | None, values_before: int) -> None:
        self.value = value
        self.positions = positions
        self.at = at
        self.anchor = anchor
        self.values_before = values_before

    def to_value(self) -> Any:
        """The value to use once it is closed."""
        if not self.problems:
            return self.value
        if type(self.value) is list:
            return UnreadableValue(self.problems[0])
        return ConflictingKeys(
            {key: value for key, value in self.value.items() if key[:1] != _BAD_KEY_PREFIX}, self.problems
        )

    def text_positions(self) -> array[int]:
        """The positions of a mapping without those of keys that are not text."""
        found = array("I")
        for number, key in enumerate(self.value):
            if key[:1] != _BAD_KEY_PREFIX:
                found += self.positions[2 * number : 2 * number + 2]
        return found


@dataclass(frozen=True, slots=True)
class _Anchor:
    """A value that an alias may repeat, how many values are inside it, and how deep they are nested."""

    value: Any
    size: int
    height: int


_MERGE_KEY = "<<"
_BAD_KEY_PREFIX = "\0"
_UNFINISHED = _Anchor(None, 0, 0)


class _YamlBuilder:
    def __init__(self, source: SourceText, offset: int) -> None:
        self.source = source
        self.offset = offset
        self.root: Any = {}
        self.root_at = offset
        self.positions: Positions = {}
        self.documents = 0
        self.values = 0
        self.aliased = 0
        self.anchors: dict[str, _Anchor] = {}
        self.stack: list[_OpenContainer] = []
        self.keys: dict[str, str] = {}  # thousands of hooks have the same few keys: they share one text each

    def build(self, text: str) -> None:
        parser = CParser(text)
        steps = {  # not an attribute: the builder would refer to itself and outlive the document, with all positions
            events.ScalarEvent: self.on_scalar,
            events.MappingStartEvent: self.on_mapping_start,
            events.SequenceStartEvent: self.on_sequence_start,
            events.MappingEndEvent: self.on_mapping_end,
            events.SequenceEndEvent: self.on_container_end,
            events.AliasEvent: self.on_alias,
            events.DocumentStartEvent: self.on_document_start,
        }
        try:
            while (event := parser.get_event()) is not None:
                step = steps.get(type(event))
                if step is not None:
                    step(event)
        finally:
            parser.dispose()

    def on_document_start(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            what = "A config file may have only one YAML document; a second one starts here."
            self.source.fail("several-documents", self.position(event), what, "Remove the --- or use another file.")

    def on_scalar(self, event: Any) -> None:
        at: int = event.start_mark.index + self.offset
        word: str = event.value
        plain = event.style == "" and event.tag is None
        value: Any = word
        if plain:
            if word == "" or word[0] in NON_TEXT_FIRST_CHARACTERS:
                value = self.parse_plain(word, at)
            elif word == _MERGE_KEY and self.awaits_key():
                self.begin_merge(at)
                return
        elif event.tag is not None:
            value = self.parse_tagged(event.tag, word, at)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchor(value, 0, 0)
        self.add_value(value, at)

    def parse_plain(self, word: str, at: int) -> Any:
        try:
            return parse_core_scalar(word)
        except NumberTooLargeError:
            what = f"{word[:20]}… is too large."
            return UnreadableValue(
                self.source.add_problem(
                    "number-too-large", at, what, "Use a smaller number, or quote it to make it text."
                )
            )

    def parse_tagged(self, tag: str, word: str, at: int) -> Any:
        if tag in _TEXT_TAGS:
            return word
        types = _TYPE_OF_TAG.get(tag)
        if types is None:
            return UnreadableValue(self.refuse_tag(tag, at))
        value = self.parse_plain(word, at)
        if type(value) is UnreadableValue:
            return value
        if type(value) not in types:
            what = f"{shorten(word)!r} does not have the type {_format_tag(tag)}."
            return UnreadableValue(self.source.add_problem("tag", at, what, "Remove the tag."))
        return float(value) if types[0] is float and type(value) is int else value

    def refuse_tag(self, tag: str, at: int) -> Problem:
        what = f"The tag {_format_tag(tag)} is not supported."
        return self.source.add_problem("tag", at, what, "Remove it. If it is part of the text, quote the text.")

    def on_mapping_start(self, event: Any) -> None:
        self.open_container(event, {}, _TAG_PREFIX + "map")

    def on_sequence_start(self, event: Any) -> None:
        self.open_container(event, [], _TAG_PREFIX + "seq")

    def open_container(self, event: Any, value: Any, tag: str) -> None:
        at = self.position(event)
        problems: tuple[Problem, ...] = ()
        if event.tag is not None and event.tag not in (tag, "!"):
            problems = (self.refuse_tag(event.tag, at),)
        if len(self.stack) >= MAX_NESTING:
            self.source.fail_too_deep(at)
        if event.anchor is not None:
            self.anchors[event.anchor] = _UNFINISHED
        positions = self.positions[id(value)] = array("I")
        opened = _OpenContainer(value, positions, at, event.anchor, self.values)
        if problems:
            opened.problems = problems
        self.stack.append(opened)

    def on_mapping_end(self, event: Any) -> None:
        mapping = self.stack[-1]
        for merged in mapping.merged:
            self.merge_mapping(mapping, merged)
        self.on_container_end(event)

    def on_container_end(self, _event: Any) -> None:
        closed = self.stack.pop()
        value = closed.to_value()
        if type(value) is ConflictingKeys:
            self.positions[id(value)] = closed.text_positions()
        if closed.anchor is not None:
            size = self.values - closed.values_before
            self.anchors[closed.anchor] = _Anchor(value, size, closed.height)
        if self.stack and closed.height >= self.stack[-1].height:
            self.stack[-1].height = closed.height + 1
        self.add_value(value, closed.at)

    def on_alias(self, event: Any) -> None:
        at = self.position(event)
        name = shorten(event.anchor)
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            hint = f'Define it with &{name} above, or quote text that starts with *: "*{name}".'
            what = f"The anchor of *{name} is not defined."
            anchored = _Anchor(UnreadableValue(self.source.add_problem("unknown-anchor", at, what, hint)), 0, 0)
        elif anchored is _UNFINISHED:
            what = f"*{name} is inside the value that it refers to."
            anchored = _Anchor(
                UnreadableValue(self.source.add_problem("alias-cycle", at, what, "Write the values out instead.")), 0, 0
            )
        self.count_aliased(anchored, at)
        self.add_value(anchored.value, at)

    def count_aliased(self, anchored: _Anchor, at: int) -> None:
        self.values += anchored.size
        self.aliased += anchored.size
        if self.aliased > MAX_ALIASED_VALUES:
            what = f"With its aliases expanded, the file has more than {MAX_ALIASED_VALUES:,} values."
            self.source.fail("alias-bomb", at, what, "Write the values out instead.")
        if len(self.stack) + anchored.height > MAX_NESTING:
            self.source.fail_too_deep(at)
        if self.stack:
            self.stack[-1].height = max(self.stack[-1].height, anchored.height + 1)

    def awaits_key(self) -> bool:
        return bool(self.stack) and type(self.stack[-1].value) is dict and self.stack[-1].key is None

    def add_value(self, value: Any, at: int) -> None:
        if not self.stack:
            self.root, self.root_at = value, at
            return
        parent = self.stack[-1]
        container, key = parent.value, parent.key
        if type(container) is list:
            container.append(value)
            parent.positions.append(at)
        elif key is None:
            if type(value) is not str or value in container:
                parent.key = self.replace_bad_key(value, at)
            else:
                parent.key = self.keys.setdefault(value, value)
            parent.key_at = at
            return
        elif key == _MERGE_KEY and parent.merge_at == parent.key_at:
            self.add_merge_sources(parent, value, at)
        else:
            if key in container:  # a duplicate, which is a problem already
                number = 2 * list(container).index(key)
                parent.positions[number : number + 2] = array("I", (parent.key_at, at))
            else:
                parent.positions.append(parent.key_at)
                parent.positions.append(at)
            container[key] = value
            parent.key = None
        self.values += 1
        if self.values - self.aliased > MAX_VALUES:
            self.source.fail_too_many_values(at)

    def replace_bad_key(self, value: Any, at: int) -> str:
        """Adds the problem, and returns a key with which parsing can continue."""
        mapping = self.stack[-1]
        if type(value) is str:
            first = mapping.positions[2 * list(mapping.value).index(value)]
            mapping.problems += (self.source.add_duplicate_key(value, at, first),)
            return value
        if type(value) is UnreadableValue:
            mapping.problems += (value.problem,)
            return f"{_BAD_KEY_PREFIX}{at}"
        what, hint = "A key must be text, not a list or mapping.", "Quote text that starts with { or [."
        if not isinstance(value, (dict, list)):
            word = shorten(json.dumps(value))
            what, hint = f"The key {word} is not text.", f'Quote it: "{word}".'
        mapping.problems += (self.source.add_problem("key-not-text", at, what, hint),)
        return f"{_BAD_KEY_PREFIX}{at}"

    def begin_merge(self, at: int) -> None:
        mapping = self.stack[-1]
        if mapping.merge_at >= 0:
            mapping.problems += (self.source.add_duplicate_key(_MERGE_KEY, at, mapping.merge_at),)
        mapping.key, mapping.key_at, mapping.merge_at = _MERGE_KEY, at, at

    def add_merge_sources(self, mapping: _OpenContainer, value: Any, at: int) -> None:
        mapping.key = None
        sources = value if isinstance(value, list) else [value]
        if all(isinstance(each, dict) for each in sources):
            mapping.merged = tuple(sources)
            return
        hint = 'If << is a key of yours, quote it: "<<".'
        what = "<< can only merge a mapping or a list of mappings."
        mapping.problems += (self.source.add_problem("merge", at, what, hint),)

    def merge_mapping(self, mapping: _OpenContainer, merged: dict[str, Any]) -> None:
        positions = self.positions[id(merged)]
        if type(merged) is ConflictingKeys and not mapping.problems:
            mapping.problems = merged.problems
        for number, (key, value) in enumerate(merged.items()):
            if key not in mapping.value:
                mapping.value[key] = value
                mapping.positions += positions[2 * number : 2 * number + 2]

    def position(self, event: Any) -> int:
        return int(event.start_mark.index) + self.offset


def _format_tag(tag: str) -> str:
    return "!!" + tag.removeprefix(_TAG_PREFIX) if tag.startswith(_TAG_PREFIX) else shorten(tag)

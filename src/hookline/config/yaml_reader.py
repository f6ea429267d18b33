"""YAML text → value and marks, in one pass over libyaml's events, without recursion.

YAML 1.2's core schema, and `<<` merges as YAML 1.1 has them: a mapping's own keys win, then the earlier source.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import Any

from yaml import events
from yaml._yaml import CParser
from yaml.error import MarkedYAMLError, YAMLError

from hookline.config.damage import Spoilt, Torn
from hookline.config.document import Places
from hookline.config.problem import Problem, short
from hookline.config.scalars import FIRST_OF_NON_TEXT, TooLarge, core_value
from hookline.config.source import DEEPEST, MOST_VALUES, Source
from hookline.config.yaml_trouble import explain

MOST_ALIASED = 200_000

_TAG_DIRECTIVE = re.compile(r"(?<![^\r\n])%TAG\b")
_STANDARD = "tag:yaml.org,2002:"
_TYPE_OF_TAG: dict[str, tuple[type, ...]] = {
    _STANDARD + "int": (int,),
    _STANDARD + "float": (float, int),
    _STANDARD + "bool": (bool,),
    _STANDARD + "null": (type(None),),
}
_TEXT_TAGS = frozenset(("!", _STANDARD + "str"))


def read_yaml(source: Source, start: int, end: int) -> tuple[Any, int, Places]:
    """The value of that part of the text, where it begins, and the places of all its parts. Empty text is `{}`."""
    source.refuse_control_characters(start, end)
    source.refuse_hidden_line_ends(start, end)
    text = source.text[start:end]
    directive = _TAG_DIRECTIVE.search(text)
    if directive:  # libyaml compares each with all before it, which takes minutes for a file full of them
        source.stop("tag", start + directive.start(), "%TAG directives are not supported.", "Remove the line.")
    build = _Build(source, start)
    try:
        build.read(text)
    except MarkedYAMLError as error:
        code, position, what, hint = explain(error, text, source.line(start))
        source.stop(code, start + position, what, hint)
    except YAMLError as error:
        source.stop("syntax", start, f"This is not YAML: {error}.")
    return build.root, build.root_at, build.places


@dataclass(slots=True)
class _Open:
    """A list or mapping whose end has not come yet."""

    value: Any
    places: Any
    at: int
    anchor: str | None
    values_before: int
    height: int = 1
    key: str | None = None
    key_at: int = 0
    merge_at: int = -1
    merged: tuple[dict[str, Any], ...] = ()
    problems: tuple[Problem, ...] = ()

    def readable(self) -> Any:
        """What to put in its place, now that it has ended."""
        if not self.problems:
            return self.value
        if type(self.value) is list:
            return Spoilt(self.problems[0])
        return Torn({key: value for key, value in self.value.items() if key[:1] != _NO_KEY}, self.problems)


@dataclass(frozen=True, slots=True)
class _Anchored:
    """A value that an alias may repeat, how many values stand inside it, and how deep they are nested."""

    value: Any
    size: int
    height: int


_MERGE = "<<"
_NO_KEY = "\0"
_UNFINISHED = _Anchored(None, 0, 0)


class _Build:
    def __init__(self, source: Source, offset: int) -> None:
        self.source = source
        self.offset = offset
        self.root: Any = {}
        self.root_at = offset
        self.places: Places = {}
        self.documents = 0
        self.values = 0
        self.aliased = 0
        self.anchors: dict[str, _Anchored] = {}
        self.stack: list[_Open] = []
        self.steps = {
            events.ScalarEvent: self.scalar,
            events.MappingStartEvent: self.mapping,
            events.SequenceStartEvent: self.sequence,
            events.MappingEndEvent: self.close_mapping,
            events.SequenceEndEvent: self.close,
            events.AliasEvent: self.alias,
            events.DocumentStartEvent: self.document,
        }

    def read(self, text: str) -> None:
        parser = CParser(text)
        steps = self.steps
        try:
            while (event := parser.get_event()) is not None:
                step = steps.get(type(event))
                if step is not None:
                    step(event)
        finally:
            parser.dispose()

    def document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            what = "A second document begins here; a config file has one."
            self.source.stop("several-documents", self.position(event), what, "Remove the --- or use another file.")

    def scalar(self, event: Any) -> None:
        at: int = event.start_mark.index + self.offset
        word: str = event.value
        plain = event.style == "" and event.tag is None
        value: Any = word
        if plain:
            if word == "" or word[0] in FIRST_OF_NON_TEXT:
                value = self.number_or_word(word, at)
            elif word == _MERGE and self.awaits_key():
                self.begin_merge(at)
                return
        elif event.tag is not None:
            value = self.tagged(event.tag, word, at)
        if event.anchor is not None:
            self.anchors[event.anchor] = _Anchored(value, 0, 0)
        self.place(value, at)

    def number_or_word(self, word: str, at: int) -> Any:
        try:
            return core_value(word)
        except TooLarge:
            what = f"{word[:20]}… is too large a number."
            return Spoilt(self.source.note("number-too-large", at, what, "Write it in quotes if it is meant as text."))

    def tagged(self, tag: str, word: str, at: int) -> Any:
        if tag in _TEXT_TAGS:
            return word
        types = _TYPE_OF_TAG.get(tag)
        if types is None:
            return Spoilt(self.refuse_tag(tag, at))
        value = self.number_or_word(word, at)
        if type(value) is Spoilt:
            return value
        if type(value) not in types:
            what = f"{short(word)!r} is not of the type {_shown_tag(tag)}."
            return Spoilt(self.source.note("tag", at, what, "Remove the tag."))
        return float(value) if types[0] is float and type(value) is int else value

    def refuse_tag(self, tag: str, at: int) -> Problem:
        what = f"The tag {_shown_tag(tag)} is not supported."
        return self.source.note("tag", at, what, "Remove it; if it belongs to the text, put the text in quotes.")

    def mapping(self, event: Any) -> None:
        self.open(event, {}, {}, _STANDARD + "map")

    def sequence(self, event: Any) -> None:
        self.open(event, [], [], _STANDARD + "seq")

    def open(self, event: Any, value: Any, places: Any, tag: str) -> None:
        at = self.position(event)
        problems: tuple[Problem, ...] = ()
        if event.tag is not None and event.tag not in (tag, "!"):
            problems = (self.refuse_tag(event.tag, at),)
        if len(self.stack) >= DEEPEST:
            self.source.too_deep(at)
        if event.anchor is not None:
            self.anchors[event.anchor] = _UNFINISHED
        self.stack.append(_Open(value, places, at, event.anchor, self.values, problems=problems))
        self.places[id(value)] = places

    def close_mapping(self, event: Any) -> None:
        mapping = self.stack[-1]
        for merged in mapping.merged:
            self.merge(mapping, merged)
        self.close(event)

    def close(self, _event: Any) -> None:
        closed = self.stack.pop()
        value = closed.readable()
        if value is not closed.value:
            self.places[id(value)] = closed.places
        if closed.anchor is not None:
            size = self.values - closed.values_before
            self.anchors[closed.anchor] = _Anchored(value, size, closed.height)
        if self.stack:
            parent = self.stack[-1]
            parent.height = max(parent.height, closed.height + 1)
        self.place(value, closed.at)

    def alias(self, event: Any) -> None:
        at = self.position(event)
        name = short(event.anchor)
        anchored = self.anchors.get(event.anchor)
        if anchored is None:
            hint = f'Define it with &{name} above, or put text that begins with * in quotes: "*{name}".'
            what = f"*{name} refers to an anchor that is not defined."
            anchored = _Anchored(Spoilt(self.source.note("unknown-anchor", at, what, hint)), 0, 0)
        elif anchored is _UNFINISHED:
            what = f"*{name} refers to the value that it stands in."
            anchored = _Anchored(Spoilt(self.source.note("alias-cycle", at, what, "Write out what is meant.")), 0, 0)
        self.count_aliased(anchored, at)
        self.place(anchored.value, at)

    def count_aliased(self, anchored: _Anchored, at: int) -> None:
        self.values += anchored.size
        self.aliased += anchored.size
        if self.aliased > MOST_ALIASED:
            what = f"Aliases make this file more than {MOST_ALIASED:,} values long."
            self.source.stop("alias-bomb", at, what, "Write out what is meant.")
        if len(self.stack) + anchored.height > DEEPEST:
            self.source.too_deep(at)
        if self.stack:
            self.stack[-1].height = max(self.stack[-1].height, anchored.height + 1)

    def awaits_key(self) -> bool:
        return bool(self.stack) and type(self.stack[-1].value) is dict and self.stack[-1].key is None

    def place(self, value: Any, at: int) -> None:
        if not self.stack:
            self.root, self.root_at = value, at
            return
        parent = self.stack[-1]
        container = parent.value
        if type(container) is list:
            container.append(value)
            parent.places.append(at)
        elif parent.key is None:
            parent.key, parent.key_at = value, at
            if type(value) is not str or value in parent.places:
                parent.key = self.odd_key(value, at)
            return
        elif parent.key == _MERGE and parent.merge_at == parent.key_at:
            self.note_sources(parent, value, at)
        else:
            container[parent.key] = value
            parent.places[parent.key] = (parent.key_at, at)
            parent.key = None
        self.values += 1
        if self.values - self.aliased > MOST_VALUES:
            self.source.too_many(at)

    def odd_key(self, value: Any, at: int) -> str:
        """Notes why it cannot be a key, and makes one of it so that reading can go on."""
        mapping = self.stack[-1]
        if type(value) is str:
            mapping.problems += (self.source.duplicate(value, at, mapping.places[value][0]),)
            return value
        if type(value) is Spoilt:
            mapping.problems += (value.problem,)
            return f"{_NO_KEY}{at}"
        what, hint = "A key must be text, not a list or mapping.", "Put text that begins with { or [ in quotes."
        if not isinstance(value, (dict, list)):
            word = short(json.dumps(value))
            what, hint = f"The key {word} is not text.", f'Write it in quotes: "{word}".'
        mapping.problems += (self.source.note("key-not-text", at, what, hint),)
        return f"{_NO_KEY}{at}"

    def begin_merge(self, at: int) -> None:
        mapping = self.stack[-1]
        if mapping.merge_at >= 0:
            mapping.problems += (self.source.duplicate(_MERGE, at, mapping.merge_at),)
        mapping.key, mapping.key_at, mapping.merge_at = _MERGE, at, at

    def note_sources(self, mapping: _Open, value: Any, at: int) -> None:
        mapping.key = None
        sources = value if isinstance(value, list) else [value]
        if all(isinstance(each, dict) for each in sources):
            mapping.merged = tuple(sources)
            return
        hint = 'Write "<<": in quotes if it is meant as a key.'
        what = "<< can only take in a mapping, or a list of mappings."
        mapping.problems += (self.source.note("merge", at, what, hint),)

    def merge(self, mapping: _Open, merged: dict[str, Any]) -> None:
        places = self.places[id(merged)]
        if type(merged) is Torn and not mapping.problems:
            mapping.problems = merged.problems
        for key, value in merged.items():
            if key not in mapping.value:
                mapping.value[key] = value
                mapping.places[key] = places[key]  # type: ignore[call-overload]

    def position(self, event: Any) -> int:
        return int(event.start_mark.index) + self.offset


def _shown_tag(tag: str) -> str:
    return "!!" + tag.removeprefix(_STANDARD) if tag.startswith(_STANDARD) else short(tag)

"""The condition `secrets`: a text of the event looks like a secret."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Final

from hookline.hooks.event import Event, FactPath, path_text
from hookline.hooks.match_deadline import NO_DEADLINE, in_time, pop_in_time
from hookline.hooks.protocols import Need, PureCondition, Readings, TextPattern
from hookline.hooks.readings import compute_once
from hookline.hooks.secret_formats import HINT_WORDS, Secret, find_secrets, is_named_secret
from hookline.hooks.tool_input import values_at
from hookline.lazy_dataclasses import dataclass

_INPUT: Final = (("tool", "input"),)
_FEW_KEYS: Final = 16


@dataclass(frozen=True, slots=True)
class SecretHints:
    """A pattern for texts that may have a secret. It is for the index, and for a quick look before a thorough one."""

    pattern: TextPattern  # of HINTS

    @property
    def source(self) -> str:
        return self.pattern.source

    @property
    def words(self) -> tuple[tuple[str, ...], ...]:
        return (HINT_WORDS,)

    @property
    def required_text(self) -> None:
        return None

    def search(self, text: str, deadline: float = NO_DEADLINE) -> bool:
        return self.pattern.search(text, deadline)

    def replace(self, text: str, new: str, deadline: float = NO_DEADLINE) -> str:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class TextsIn:
    """Every text in the facts at these paths, at any depth. A text under a key is also read as an assignment to it."""

    paths: tuple[FactPath, ...]
    is_cacheable = False

    def texts(self, event: Event, deadline: float = NO_DEADLINE) -> tuple[str, ...]:
        return compute_once(event, self, self._read, deadline)

    def _read(self, event: Event, deadline: float) -> tuple[str, ...]:
        if self.paths == _INPUT and (texts := _flat_texts(event.read(_INPUT[0]))) is not None:
            return texts
        values = in_time((value for path in self.paths for value in values_at(event, path, deadline)), deadline)
        return tuple(dict.fromkeys(text for value in values for text in leaf_texts(value, deadline)))

    def readings(self, event: Event, deadline: float = NO_DEADLINE) -> Readings:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return self.paths

    def __str__(self) -> str:
        return " or ".join(map(path_text, self.paths))


def _flat_texts(value: Any) -> tuple[str, ...] | None:
    """What leaf_texts finds in a mapping of a few texts, as the input of most tools is; None for any other value."""
    if type(value) is not dict or len(value) > _FEW_KEYS:
        return None
    texts: list[str] = []
    for key, text in value.items():
        if type(text) is not str or type(key) is not str:
            return None
        texts.append(text)
        if is_named_secret(key, text):
            texts.append(f'{key}="{text}"')
    return tuple(texts)


def leaf_texts(value: Any, deadline: float = NO_DEADLINE) -> Iterator[str]:
    """The texts in a value. One under a key with a secret's name is followed by `key=text`."""
    todo: list[tuple[Any, str]] = [(value, "")]
    seen = set[int]()
    for part, key in pop_in_time(todo, deadline):
        if isinstance(part, str):
            yield part
            if key and is_named_secret(key, part):
                yield f'{key}="{part}"'
        elif isinstance(part, (bytes, bytearray)):
            yield bytes(part).decode("utf-8", "replace")
        elif isinstance(part, (dict, list, tuple)) and id(part) not in seen:
            seen.add(id(part))
            items = part.items() if isinstance(part, dict) else ((key, item) for item in part)
            todo += [(item, name if isinstance(name, str) else "") for name, item in in_time(items, deadline)]


@dataclass(frozen=True, slots=True)
class HasSecret(PureCondition):
    """One of the texts has a secret that no pattern of `allow` matches."""

    subject: TextsIn
    hints: SecretHints
    allow: tuple[TextPattern, ...] = ()
    is_default: bool = False  # the paths are those of the event

    def holds(self, event: Event, deadline: float = NO_DEADLINE) -> bool:
        texts = in_time(self.subject.texts(event, deadline), deadline)
        search = self.hints.search
        return any(search(text, deadline) and any(self._secrets(text, deadline)) for text in texts)

    def _secrets(self, text: str, deadline: float) -> Iterator[Secret]:
        return allowed_out(text, find_secrets(text, deadline), self.allow, deadline)

    def needs(self) -> tuple[Need, ...]:
        return (Need(self.subject, self.hints),)

    def reads(self) -> Iterable[FactPath]:
        return self.subject.reads()

    def __str__(self) -> str:
        return f"{self.subject} has a secret"

    def why_not(self, event: Event) -> str:
        return f"{self.subject} has no secret" if self.subject.texts(event) else f"{self.subject} is absent or not text"


def allowed_out(
    text: str, found: Iterable[Secret], allow: tuple[TextPattern, ...], deadline: float = NO_DEADLINE
) -> Iterator[Secret]:
    """The secrets that no pattern allows."""
    for secret in found:
        value = text[secret.start : secret.end]
        if not any(each.search(value, deadline) for each in allow):
            yield secret

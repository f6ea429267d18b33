"""The text of the record that most decisions have: no hook said anything.

A host decides now and then, so the processor's caches are cold whenever it does, and what a record costs is how much code
and data it touches. So this text is put together from parts, in one function. Facts that stay the same from event to event,
such as the session and the directory, are encoded and searched for secrets once.
"""

from __future__ import annotations

from json.encoder import encode_basestring_ascii
from typing import Any, Final, NamedTuple

from hookline.engine.decision import Decision
from hookline.hooks.event import Event
from hookline.hooks.outcome import Verdict
from hookline.record.entry import NAMED_FACTS, NAMED_TOOL_FACTS
from hookline.record.facts import MAX_TEXT, may_have_secret
from hookline.record.writer import encode_json

_SILENT: Final = Verdict.SILENT
_MAX_KNOWN: Final = 100  # facts have a dozen names
_NAMED_PARTS: Final = {key: ((key, part),) for key, part in NAMED_FACTS}
_ABSENT: Final = object()
_NO_START: Final = "-"  # no tool's JSON begins so


class _KnownFact(NamedTuple):
    """A text, or an object of texts: two that are equal have the same JSON, as 1 and true have not."""

    value: Any
    named: str  # what the record says beside the facts: `"session":"…",`
    text: str  # `"session":{"id":"…"},`


class _KnownFacts(NamedTuple):
    """All facts of an event but its tool and its time, which are new each time. Each could be a _KnownFact."""

    facts: dict[str, Any]
    named: str
    text: str


class SilentEntries:
    """The records of one process's silent decisions. Threads may share it: each change of what is known is one step."""

    def __init__(self) -> None:
        self._known: dict[str, _KnownFact] = {}
        self._last = _KnownFacts({}, "", "")
        self._tool_start = _NO_START  # the JSON of a tool up to its id or input; no secret is in it

    def encode(self, asked: Event, decision: Decision, seconds: float, hooks: str) -> bytes | None:
        """The same JSON as that of `decision_entry` with masked facts.

        None if a hook said something, or a text must be cut or masked.
        """
        if decision.verdict is not _SILENT or decision.trace or decision.notes or decision.failures or decision.halt:
            return None
        if decision.requests or decision.reason or decision.by is not None:
            return None
        facts = {**asked.facts}
        tool, at, known, new = facts.pop("tool", _ABSENT), facts.pop("time", _ABSENT), self._last, ""
        if facts != known.facts:
            known, new = self._encode_facts(facts)
        named, texts, encoded = known.named, known.text, ""
        if at is not _ABSENT:
            timed = f'"time":{encode_json(at)},'
            texts += timed
            new += timed
        if tool is not _ABSENT:
            encoded, start = encode_json(tool), self._tool_start
            named += _name_parts(tool, NAMED_TOOL_FACTS, skips_empty=True)
            texts += f'"tool":{encoded},'
            new += encoded[len(start) :] if encoded.startswith(start) else encoded
        text = (
            f'{{"kind":"decision","event":"{asked.name}",{named}"facts":{{{texts[:-1]}}},'
            f'"verdict":"silent","ms":{round(seconds * 1000, 3)!r},"hooks":"{hooks}"}}'
        )
        if len(text) > MAX_TEXT or (new and may_have_secret(new.encode())):
            return None
        if known is not self._last or not encoded.startswith(self._tool_start):
            self._remember(known, encoded)
        return text.encode()

    def _encode_facts(self, facts: dict[str, Any]) -> tuple[_KnownFacts, str]:
        """The facts, and the texts of those that were not known."""
        named, texts, new = "", "", ""
        for name, value in facts.items():
            known = self._known.get(name)
            if known is None or type(value) is not type(known.value) or value != known.value:
                known = _encode_fact(name, value)
                new += known.text
            named += known.named
            texts += known.text
        return _KnownFacts(facts, named, texts), new

    def _remember(self, last: _KnownFacts, tool: str) -> None:
        """Facts and a tool in which there is no secret."""
        for name, value in last.facts.items():
            if _is_comparable(value) and (name in self._known or len(self._known) < _MAX_KNOWN):
                self._known[name] = _encode_fact(name, _copy(value))
        if all(map(_is_comparable, last.facts.values())):
            self._last = last._replace(facts={name: _copy(value) for name, value in last.facts.items()})
        ends = [at for at in (tool.find('"id":'), tool.find('"input":')) if at > 0]
        self._tool_start = tool[: min(ends)] if ends else _NO_START


def _encode_fact(name: str, value: Any) -> _KnownFact:
    """Raises TypeError, ValueError or RecursionError for what is not JSON."""
    named = _name_parts(value, _NAMED_PARTS.get(name, ()))
    return _KnownFact(value, named, f"{encode_basestring_ascii(name)}:{encode_json(value)},")


def _name_parts(value: Any, parts: tuple[tuple[str, str], ...], *, skips_empty: bool = False) -> str:
    named = ""
    if type(value) is dict:
        for key, part in parts:
            if type(known := value.get(part)) is str and (known or not skips_empty):
                named += f'"{key}":{encode_basestring_ascii(known)},'
    return named


def _copy(value: Any) -> Any:
    """Its owner may change it."""
    return dict(value) if type(value) is dict else value


def _is_comparable(value: Any) -> bool:
    if type(value) is dict:
        return all(type(key) is str and type(part) is str for key, part in value.items())
    return type(value) is str

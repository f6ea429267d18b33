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
from hookline.hooks.record_settings import RecordedFacts
from hookline.record.entry import NAMED_FACTS, NAMED_TOOL_FACTS
from hookline.record.facts import MAX_TEXT, may_have_secret
from hookline.record.writer import encode_json

_SILENT: Final = Verdict.SILENT
_MASKED: Final = RecordedFacts.MASKED
_MAX_KNOWN: Final = 100  # facts have a dozen names
_NAMED_PARTS: Final = {key: ((key, part),) for key, part in NAMED_FACTS} | {"tool": NAMED_TOOL_FACTS}


class _KnownFact(NamedTuple):
    """A text, or an object of texts: two that are equal have the same JSON, as 1 and true have not."""

    value: Any
    named: str  # what the record says beside the facts: `"session":"…",`
    text: str  # `"session":{"id":"…"},`


class SilentEntries:
    """The records of one process's silent decisions. Threads may share it: each change of what is known is one step."""

    def __init__(self) -> None:
        self._known: dict[str, _KnownFact] = {}

    def encode(self, asked: Event, decision: Decision, seconds: float, how: RecordedFacts, hooks: str) -> bytes | None:
        """The same JSON as that of `decision_entry`. None if a hook said something, or a text must be cut or masked."""
        if decision.verdict is not _SILENT or decision.trace or decision.notes or decision.failures or decision.halt:
            return None
        if decision.requests or decision.reason or decision.by is not None or how is not _MASKED:
            return None
        named, texts, new, changed = "", "", "", []
        for name, value in asked.facts.items():
            known = self._known.get(name)
            if known is None or type(value) is not type(known.value) or value != known.value:
                known = _encode_fact(name, value)
                new += known.text
                if name != "tool":  # which is new each time
                    changed.append(name)
            named += known.named
            texts += known.text
        text = (
            f'{{"kind":"decision","event":"{asked.name}",{named}"facts":{{{texts[:-1]}}},'
            f'"verdict":"silent","ms":{round(seconds * 1000, 3)!r},"hooks":"{hooks}"}}'
        )
        if len(text) > MAX_TEXT or (new and may_have_secret(new.encode())):
            return None
        if changed:
            self._remember(asked.facts, changed)
        return text.encode()

    def _remember(self, facts: dict[str, Any], changed: list[str]) -> None:
        """Facts in which there is no secret."""
        for name in changed:
            value = facts[name]
            if _is_comparable(value) and (name in self._known or len(self._known) < _MAX_KNOWN):
                own = dict(value) if type(value) is dict else value  # its owner may change it
                self._known[name] = _encode_fact(name, own)


def _encode_fact(name: str, value: Any) -> _KnownFact:
    """Raises TypeError, ValueError or RecursionError for what is not JSON."""
    named = ""
    if type(value) is dict:
        for key, part in _NAMED_PARTS.get(name, ()):
            if type(known := value.get(part)) is str and (known or name != "tool"):
                named += f'"{key}":{encode_basestring_ascii(known)},'
    return _KnownFact(value, named, f"{encode_basestring_ascii(name)}:{encode_json(value)},")


def _is_comparable(value: Any) -> bool:
    if type(value) is dict:
        return all(type(key) is str and type(part) is str for key, part in value.items())
    return type(value) is str

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
from hookline.record.entry import NAMED_FACTS
from hookline.record.facts import MAX_TEXT, KnownSecrets, may_have_secret
from hookline.record.writer import encode_json

_SILENT: Final = Verdict.SILENT
_MAX_KNOWN: Final = 100  # sessions, or tools
_NEW_IN_A_CALL: Final = ',"id":'  # what a tool's JSON says before it is the same in all calls


class _EncodedFacts(NamedTuple):
    """All facts of an event but its tool, its time and a session's calls, which are new each time."""

    facts: dict[str, Any]
    named: str  # what the record says beside the facts: `"thread":"…",`
    text: str  # `"thread":{"id":"…"},"cwd":"…",`


class SilentEntries:
    """The records of one process's silent decisions. Threads may share it: each change of what is known is one step."""

    def __init__(self, secrets: KnownSecrets) -> None:
        """`secrets` are those of the environment: what is known here has none of them."""
        self.secrets = secrets
        self._last = _EncodedFacts({}, "", "")
        self._sessions: dict[str, str] = {}  # ids without secrets, and their JSON
        self._tools: dict[str, str] = {}  # `{"name":"Bash","kind":"shell"` without secrets → `"tool":"Bash",`

    def encode(self, asked: Event, decision: Decision, seconds: float, hooks: str) -> str | None:
        """The same JSON as that of `decision_entry` with masked facts, as `encode_record` gives it.

        None if a hook said something, a text must be cut or masked, or the event is not about a tool.
        """
        if len(decision.__dict__) > 1 and _says_something(decision):  # `silent_decision` sets nothing but the event
            return None
        facts = {**asked.facts}
        tool, at, last, new = facts.pop("tool", None), facts.pop("time", None), self._last, ""
        if type(tool) is not dict or type(at) is not str:
            return None
        session: Any = facts.get("session")
        id, named_session, of_session = None, "", ""
        if type(session) is dict and len(session) == 2 and type(session.get("tool_calls")) is int:
            id = session.get("id")
        if type(id) is str:
            del facts["session"]  # how many calls it had is new each time
            quoted = self._sessions.get(id, "")
            is_known, quoted = bool(quoted), quoted or encode_basestring_ascii(id)
            named_session = f'"session":{quoted},'
            of_session = f'"session":{{"id":{quoted},"tool_calls":{session["tool_calls"]}}},'
            new = "" if is_known else of_session
        if facts != last[0]:
            last = _encode_facts(facts)
            new += last.text
        _, named, texts = last
        encoded = encode_json(tool)
        begin, mark, end = encoded.partition(_NEW_IN_A_CALL)
        named_tool = self._tools.get(begin)
        if named_tool is None:
            name, end = tool.get("name"), encoded
            named_tool = f'"tool":{encode_basestring_ascii(name)},' if type(name) is str and name else ""
        call = tool.get("id")
        named_call = f'"call":{encode_basestring_ascii(call)},' if type(call) is str and call else ""
        caller = tool.get("caller")
        if caller and type(caller) is str:
            named_call += f'"caller":{encode_basestring_ascii(caller)},'
        microseconds = int(seconds * 1e6 + 0.5)  # to round and write a float takes as much code as all the rest
        text = (
            f'"kind":"decision","event":"{asked.name}",{named}{named_session}{named_tool}{named_call}'
            f'"facts":{{{texts}{of_session}"time":{encode_basestring_ascii(at)},"tool":{encoded}}},'
            f'"verdict":"silent","ms":{microseconds}e-3,"hooks":"{hooks}"}}'
        )
        if len(text) > MAX_TEXT or may_have_secret(f"{new}{at}{end}", self.secrets):
            return None
        if end is encoded and mark:
            self._remember_tool(begin, named_tool)
        if last is not self._last:
            self._remember(last)
        if new and type(id) is str and len(self._sessions) < _MAX_KNOWN:
            self._sessions[id] = quoted
        return text

    def _remember_tool(self, begin: str, named: str) -> None:
        """If it is the start of an object whose values are plain, and has the name: else it says nothing about other calls."""
        is_plain = begin.startswith('{"name":') and "{" not in begin[1:] and "[" not in begin
        if is_plain and len(self._tools) < _MAX_KNOWN:
            self._tools[begin] = named

    def _remember(self, last: _EncodedFacts) -> None:
        """Facts without a secret, if an equal event's are sure to have the same JSON. They are copied: their owner may change them."""
        if all(map(_is_comparable, last.facts.values())):
            self._last = last._replace(facts={name: _copy(value) for name, value in last.facts.items()})


def _encode_facts(facts: dict[str, Any]) -> _EncodedFacts:
    """All at once: to look for those that an earlier event had, too, takes longer. Raises what `encode_json` raises."""
    named = ""
    for name, key in NAMED_FACTS:
        value = facts.get(name)
        if type(value) is dict and type(part := value.get(key)) is str:
            named += f'"{name}":{encode_basestring_ascii(part)},'
    return _EncodedFacts(facts, named, f"{encode_json(facts)[1:-1]}," if facts else "")


def _copy(value: Any) -> Any:
    return dict(value) if type(value) is dict else value


def _is_comparable(value: Any) -> bool:
    """A text, or an object of texts: two that are equal have the same JSON, as 1 and true have not."""
    if type(value) is dict:
        return all(type(key) is str and type(part) is str for key, part in value.items())
    return type(value) is str


def _says_something(decision: Decision) -> bool:
    if decision.verdict is not _SILENT or decision.trace or decision.notes or decision.failures or decision.halt:
        return True
    return bool(decision.requests or decision.reason or decision.by is not None)

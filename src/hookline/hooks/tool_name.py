"""The one name of a tool in a vocabulary.

It is the tool's own name if the vocabulary has it, else the vocabulary's first name for its kind, else its own. Two things
can leave it open: the kind of a tool that no table knows is a guess, and some hosts do not say which MCP server a tool
belongs to. Then there are several *readings*: a guard holds if it holds for one, a hook that only allows must hold for all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Any, Final

from hookline.errors import UndecidedError
from hookline.hooks.event import MISSING, Event, FactPath
from hookline.hooks.host import current_hook
from hookline.hooks.kind_guess import KindGuess, call_signals, guess_from_server, guess_kind, has_signals_in_values
from hookline.hooks.match_deadline import NO_DEADLINE
from hookline.hooks.protocols import AmbiguousTexts, Readings, TextPattern
from hookline.hooks.readings import compute_once
from hookline.hooks.tools import (
    KIND_BY_VALUE,
    MCP_CLAUDE,
    MCP_DIGITORN,
    MCP_NATIVE,
    NATIVE,
    VOCABULARIES,
    ToolKind,
    Vocabulary,
    is_known_name,
    kind_of_name,
    tool_kind,
)
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern

UNKNOWN_SERVER: Final = "?"
_SPELLINGS: Final = (MCP_NATIVE, MCP_DIGITORN, MCP_CLAUDE)
_NAME_HASH: Final = lazy_pattern(r"(?<=[^_])_[0-9a-f]{8}\Z")  # Cline's, if it had to cut or change the name
_MAX_SPLITS: Final = 64  # readings of a name such as mcp_a_b_c
_ONLY_TEXT: Final = frozenset((str,))
_KIND_GUESS: Final = "kind guess"
_MAX_CACHED_CHARS: Final = 256  # longer names are not cached: an agent may make up any
_CACHE_SIZE: Final = 1024
_CHANGES_FILES: Final = frozenset((ToolKind.WRITE, ToolKind.EDIT))
OWN_HOSTS: Final = ("hookline", "python")  # hookline's own agent, and a Python program's session

McpAddress = tuple[str, str]  # server, tool
_CallShape = tuple[str, ToolKind, tuple[str, ...], str, bool]  # name, kind, fields, host, whether a guess counts


class _AnyName:
    """Matches every name."""

    source = ""
    words: tuple[tuple[str, ...], ...] = ()
    required_text: str | None = None

    def search(self, text: str, deadline: float = math.inf) -> bool:
        return True

    def replace(self, text: str, new: str, deadline: float = math.inf) -> str:
        raise NotImplementedError


HOST_NAMES: Final[tuple[TextPattern, ...]] = (_AnyName(),)
"""For a matcher that is compared with the host's own names only."""


@dataclass(frozen=True, slots=True)
class ToolName:
    """The subject of a tool matcher."""

    vocabulary: Vocabulary = NATIVE
    own_names: tuple[TextPattern, ...] = ()  # a tool whose own name matches one is matched by it; HOST_NAMES: all are
    servers: tuple[str, ...] = ()  # MCP servers that the matcher names, for tools whose server is unknown
    matches_aliases: bool = False  # whether the tool's other names in the dialect are compared too
    _certain: dict[tuple[str, str | None], tuple[str, ...] | None] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )  # (name, kind) → texts; None if they depend on more
    _known_names: dict[tuple[str, str | None], Readings] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )  # (name, kind) → the names of a tool in the table, which depend on nothing else
    _uncertain: dict[_CallShape, tuple[Readings, tuple[str, ...]]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )  # the names in each reading, and the texts of all
    is_cacheable = True

    def texts(self, event: Event, deadline: float = NO_DEADLINE) -> tuple[str, ...]:
        try:
            tool = event.facts["tool"]
            certain = self._certain[tool["name"], tool.get("kind")]
        except (KeyError, TypeError, AttributeError):  # not cached, or not the usual shape
            return self._find_texts(event)
        return certain if certain is not None else self._uncertain_texts(event)

    def _find_texts(self, event: Event) -> tuple[str, ...]:
        tool = event.facts.get("tool")
        if not isinstance(tool, dict):
            return ()
        name, kind = tool.get("name"), tool.get("kind")
        if not isinstance(name, str):
            return ()
        if not isinstance(kind, str):
            kind = None
        certain = self._certain_texts(name, kind)
        return certain if certain is not None else self._uncertain_texts(event)

    def _certain_texts(self, name: str, kind: str | None) -> tuple[str, ...] | None:
        """The texts of a tool with one reading that depends on its name and kind only; otherwise None."""
        known = None
        if not _depends_on_event(name, kind):
            (names,) = _read_names(self, name, tool_kind({"name": name, "kind": kind}), (), None)
            known = self._forms(names)
        if len(name) <= _MAX_CACHED_CHARS and (kind is None or kind in KIND_BY_VALUE):
            if len(self._certain) >= _CACHE_SIZE:
                self._certain.clear()
                self._known_names.clear()
            self._certain[name, kind] = known
            if is_known_name(name):
                self._known_names[name, kind] = (names,)
        return known

    def _uncertain_texts(self, event: Event) -> tuple[str, ...]:
        return self._read_call(event)[1]

    def readings(self, event: Event, deadline: float = NO_DEADLINE) -> Readings:
        readings = self.possible_names(event)
        return tuple(self._forms(names) for names in readings) if len(readings) > 1 else ()

    def possible_names(self, event: Event) -> Readings:
        """Its names in each reading, most likely first. A reading has several for an MCP tool's spellings, and for a tool
        that the host uses otherwise than the vocabulary.
        """
        try:
            tool = event.facts["tool"]
            return self._known_names[tool["name"], tool.get("kind")]
        except (KeyError, TypeError, AttributeError):  # not cached, or not the usual shape
            return self._read_call(event)[0]

    def _read_call(self, event: Event) -> tuple[Readings, tuple[str, ...]]:
        tool = event.facts.get("tool")
        name = tool.get("name") if isinstance(tool, dict) else None
        if not isinstance(tool, dict) or not isinstance(name, str):
            return (), AmbiguousTexts()
        kind, host = tool_kind(tool), _host_vocabulary(event)
        takes_guess = self.vocabulary.guesses_own_tools or not is_own_session(event)
        shape = (name, kind, _signal_fields(tool), "" if host is None else host.name, takes_guess)
        known = self._uncertain.get(shape)
        if known is None:
            guess = guessed_kind(tool) if takes_guess else None
            addresses = _possible_addresses(name, host, self.servers)
            readings = _read_names(self, name, kind, addresses, guess.kind if guess else None)
            known = readings, self._all_forms(readings)
            if len(name) <= _MAX_CACHED_CHARS:
                if len(self._uncertain) >= _CACHE_SIZE:
                    self._uncertain.clear()
                self._uncertain[shape] = known
        return known

    def _all_forms(self, readings: Readings) -> tuple[str, ...]:
        if len(readings) == 1:
            return self._forms(readings[0])
        return AmbiguousTexts(dict.fromkeys(form for names in readings for form in self._forms(names)))

    def _forms(self, names: tuple[str, ...]) -> tuple[str, ...]:
        if self.vocabulary.short_names is None:
            return names
        return tuple(dict.fromkeys(form for name in names for form in self.vocabulary.all_forms(name)))

    def reads(self) -> tuple[FactPath, ...]:
        """The input too: the kind of a tool that no table knows is guessed from its fields."""
        return (("tool", "name"), ("tool", "kind"), ("tool", "input"))

    def __str__(self) -> str:
        return "tool"


def _read_names(
    subject: ToolName, name: str, kind: ToolKind, possible: tuple[McpAddress, ...], guess: ToolKind | None
) -> Readings:
    readings = _read_single_names(subject, name, kind, possible, guess)
    return tuple(map(subject.vocabulary.with_aliases, readings)) if subject.matches_aliases else readings


def _read_single_names(
    subject: ToolName, name: str, kind: ToolKind, possible: tuple[McpAddress, ...], guess: ToolKind | None
) -> Readings:
    vocabulary, address = subject.vocabulary, mcp_address(name)
    spellings = (*_spell(address, vocabulary), name) if address else (name,)
    own_name = _matched_own_name(subject, dict.fromkeys(spellings))
    if subject.own_names is HOST_NAMES:
        others = [_spell(other, vocabulary) for other in possible]
        return _distinct([tuple(dict.fromkeys(spellings)), *others])
    if own_name is not None:
        return ((own_name,),)
    kind_name = next(iter(vocabulary.names.get(guess or kind, ())), None)
    if address is not None:
        found = [_spell(each, vocabulary)[:1] for each in (address, *possible)]
        return _distinct([*found, *([(kind_name,)] if kind_name and guess else [])])
    if any(name in names for names in vocabulary.names.values()) or name in vocabulary.others:
        return ((name, kind_name),) if kind_name and _is_used_otherwise(name, kind, vocabulary) else ((name,),)
    if kind is not ToolKind.OTHER:
        return ((kind_name or name,),)
    guessed = [(kind_name,)] if kind_name and guess else []
    return _distinct([*guessed, (name,), *(_spell(each, vocabulary)[:1] for each in possible)])


def _is_used_otherwise(name: str, kind: ToolKind, vocabulary: Vocabulary) -> bool:
    """Whether the host has a tool of another kind under the name: it counts as both. One tool may write and edit."""
    kinds = {each for each, names in vocabulary.names.items() if name in names}
    return kind not in (ToolKind.OTHER, *kinds) and not (kind in _CHANGES_FILES and kinds & _CHANGES_FILES)


def _distinct(readings: list[tuple[str, ...]]) -> Readings:
    return tuple(dict.fromkeys(readings))


def _matched_own_name(subject: ToolName, spellings: dict[str, None]) -> str | None:
    return next((name for name in spellings if any(each.search(name) for each in subject.own_names)), None)


def _depends_on_event(name: str, kind: str | None) -> bool:
    """Whether the name depends on more than the tool's name and kind: a guess, or an MCP server."""
    if is_known_name(name):
        return False
    return kind is None or kind not in KIND_BY_VALUE or kind == ToolKind.OTHER or mcp_address(name) is not None


def guessed_kind(tool: Any, event: Event | None = None) -> KindGuess | None:
    """The likely kind of a tool whose kind is neither declared nor in the table. An MCP tool's kind is always a guess.

    event: the event whose tool it is. With it, a costly guess is made once for the event.
    """
    name = tool.get("name") if isinstance(tool, dict) else None
    if not isinstance(name, str):
        return None
    input = tool.get("input")
    if type(input) is dict and "kind" not in tool and not has_signals_in_values(input):
        names = tuple(input)  # the calls of a tool have few combinations of them
        if _ONLY_TEXT.issuperset(map(type, names)) and len(name) + sum(map(len, names)) <= _MAX_CACHED_CHARS:
            return _guess_by_names(name, names)
    if event is None:
        return _guess(tool, name)
    return compute_once(event, _KIND_GUESS, _guess_for_event)[0]


def _guess_for_event(event: Event, deadline: float) -> tuple[KindGuess | None]:
    """In a tuple, because compute_once takes None for what is not computed yet."""
    tool = event.facts["tool"]
    return (_guess(tool, tool["name"]),)


@lru_cache(maxsize=_CACHE_SIZE)
def _guess_by_names(name: str, fields: tuple[str, ...]) -> KindGuess | None:
    return _guess({"name": name, "input": dict.fromkeys(fields, "")}, name)


def _guess(tool: dict[str, Any], name: str) -> KindGuess | None:
    if is_known_name(name):
        return None
    kind, address = tool_kind(tool), mcp_address(name)
    if kind is not ToolKind.OTHER:
        return KindGuess(kind, "what its server says about it") if address else None
    guess = guess_kind if len(name) <= _MAX_CACHED_CHARS else guess_kind.__wrapped__
    found = guess(address[1] if address else name, _signal_fields(tool))
    return guess_from_server(*address) if found is None and address else found


def _signal_fields(tool: dict[str, Any]) -> tuple[str, ...]:
    input = tool.get("input")
    return call_signals(input) if isinstance(input, dict) else ()


def other_meaning(vocabulary: str, tool: dict[str, Any]) -> dict[str, Any] | None:
    """The call with the kind that its fields say, if that differs and only other hosts have a tool of its name."""
    guess = guess_other_kind(vocabulary, tool)
    return None if guess is None else {**tool, "kind": str(guess.kind)}


def guess_other_kind(vocabulary: str, tool: dict[str, Any]) -> KindGuess | None:
    name, input = tool.get("name"), tool.get("input")
    if not isinstance(name, str) or not isinstance(input, dict) or not _is_of_others(vocabulary, name):
        return None
    if tool_kind(tool) is not kind_of_name(name):  # its host declares it
        return None
    guess = guess_kind(name, call_signals(input))
    return None if guess is None or guess.kind is tool_kind(tool) else guess


@lru_cache(maxsize=_CACHE_SIZE)
def _is_of_others(vocabulary: str, name: str) -> bool:
    own = VOCABULARIES.get(vocabulary)
    return is_known_name(name) and (own is None or name not in own.known_names)


def likely_kind(tool: Any, event: Event | None = None) -> ToolKind:
    """The kind of a tool, guessed if nobody declares it. event: as for guessed_kind."""
    kind = tool_kind(tool)
    if kind is not ToolKind.OTHER or not isinstance(tool, dict):
        return kind
    guess = guessed_kind(tool, event)
    return guess.kind if guess else kind


def mcp_address(name: str) -> McpAddress | None:
    """The server and tool of an MCP tool's name; the server is UNKNOWN_SERVER if the host does not say it."""
    return _cached_address(name) if len(name) <= _MAX_CACHED_CHARS else _cached_address.__wrapped__(name)


@lru_cache(maxsize=1024)
def _cached_address(name: str) -> McpAddress | None:
    return next(_parse_addresses(name), None)


def _parse_addresses(name: str) -> Iterator[McpAddress]:
    """Every way to read an MCP tool's name, the likeliest first: a server's name may contain the separator."""
    if name.startswith(("MCP:", "mcp:")):
        server, found, tool = name[4:].partition(":")
        if found and server and tool:
            yield server, tool
        elif name[4:]:
            yield UNKNOWN_SERVER, name[4:]
    elif name.startswith("@") and "/" in name:
        yield from _splits(name[1:], "/")
    elif name.startswith("mcp__"):
        yield from _splits(name[5:], "__")
    elif name.startswith("mcp."):
        yield from _splits(name[4:], ".")
    elif name.startswith("mcp_"):
        yield from _splits(name[4:], "." if "." in name else "_")


def _splits(text: str, separator: str) -> Iterator[McpAddress]:
    parts = text.split(separator, _MAX_SPLITS)
    for at in range(1, len(parts)):
        server, tool = separator.join(parts[:at]), separator.join(parts[at:])
        if server and tool:
            yield server, tool


def _possible_addresses(name: str, host: Vocabulary | None, servers: tuple[str, ...]) -> tuple[McpAddress, ...]:
    """Other servers that the tool may belong to. Only its host knows."""
    if is_known_name(name):
        return ()
    found = list(_parse_addresses(name))
    address = found[0] if found else None
    joined = "" if host is None or host.marks_mcp else host.mcp
    if address is not None and address[0] == UNKNOWN_SERVER:
        return (*((server, address[1]) for server in servers), *_split_joined(address[1], joined))
    if address is None:
        starts = ((server, name[: len(server) + 1], name[len(server) + 1 :]) for server in servers)
        named = ((server, tool) for server, start, tool in starts if tool and start in (f"{server}_", f"{server}."))
        return (*named, *_split_joined(name, joined))
    return tuple(found[1:])


def _split_joined(name: str, joined: str) -> Iterator[McpAddress]:
    """Every way in which a host may have joined a server and a tool to this name, also with a hash behind it."""
    if not joined:
        return
    first, _, rest = joined.removeprefix("{").partition("}")
    base = _NAME_HASH.sub("", name)
    for each in dict.fromkeys((base, name)):
        for one, other in _splits(each, rest.partition("{")[0]):
            yield (one, other) if first == "server" else (other, one)
    if base != name:
        yield UNKNOWN_SERVER, base


def _spell(address: McpAddress, vocabulary: Vocabulary) -> tuple[str, ...]:
    """The spellings of an MCP tool's name, the vocabulary's own first."""
    server, tool = address
    formats = dict.fromkeys((vocabulary.mcp, *_SPELLINGS))
    return tuple(each.format(server=server, tool=tool) for each in formats)


def mcp_spellings(name: str) -> tuple[str, ...]:
    """The spellings of an MCP tool's name: `mcp.<server>.<tool>` and the others. Empty for any other tool."""
    address = mcp_address(name)
    return _spell(address, NATIVE) if address else ()


def is_own_session(event: Event) -> bool:
    """Whether the tools are hookline's own or its user's, with the names that the user's hooks have for them."""
    host = event.read(("host", "name"))
    return host is MISSING or (isinstance(host, str) and host in OWN_HOSTS)


def _host_vocabulary(event: Event) -> Vocabulary | None:
    host = event.read(("host", "name"))
    return VOCABULARIES.get(host.replace("-", "_")) if isinstance(host, str) else None


def tool_name_in(event: Event, vocabulary: Vocabulary) -> str:
    """The tool's name in the vocabulary: the one that the running hook's own matcher matched, else the likeliest."""
    hook = current_hook.get()
    for need in hook.tool_matchers if hook is not None else ():
        subject = need.subject
        if isinstance(subject, ToolName) and (subject.vocabulary is vocabulary or subject.vocabulary == vocabulary):
            for names in subject.possible_names(event):
                for name in names:
                    if _matches_name(need.pattern, vocabulary.all_forms(name)):
                        return name
    readings = _any_tool_name(vocabulary).possible_names(event)
    return readings[0][0] if readings else ""


@cache
def _any_tool_name(vocabulary: Vocabulary) -> ToolName:
    """Made once, because it remembers what it has read."""
    return ToolName(vocabulary)


def _matches_name(pattern: TextPattern, forms: tuple[str, ...]) -> bool:
    try:
        return any(pattern.search(form) for form in forms)
    except UndecidedError:
        return False

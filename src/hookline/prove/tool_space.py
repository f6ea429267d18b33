"""Every tool that a host may have, by kind: those of the tables, those that no table knows, and those of MCP servers.

A tool of a table is one of finitely many names. The name of any other tool is a variable of the solver. What such a name
is compared with depends on the matcher (see hookline.hooks.tool_name): each way to read it is an *option*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from itertools import combinations, product
from typing import Final

from hookline.hooks.event import Event
from hookline.hooks.kind_guess import guess_kind
from hookline.hooks.protocols import TextPattern
from hookline.hooks.tool_name import HOST_NAMES, OWN_HOSTS, UNKNOWN_SERVER, ToolName, guessed_kind, mcp_address
from hookline.hooks.tools import (
    FIELD_NAMES,
    MCP_CLAUDE,
    MCP_DIGITORN,
    MCP_NATIVE,
    MCP_PREFIX,
    VOCABULARIES,
    ToolKind,
    is_known_name,
    kind_of_name,
)
from hookline.lazy_dataclasses import dataclass
from hookline.patterns.matchers import literal
from hookline.patterns.pattern import Pattern, pattern
from hookline.prove.formula import Formula, Variable, all_true, any_true, negate, same
from hookline.prove.text_variable import TextVariable

Text = str | TextVariable

REQUIRED_FIELDS: Final[dict[ToolKind, tuple[str, ...]]] = {
    ToolKind.SHELL: ("command",),
    ToolKind.READ: ("path",),
    ToolKind.WRITE: ("path", "content"),
    ToolKind.EDIT: ("path", "old_string", "new_string"),
    ToolKind.LIST: ("path",),
    ToolKind.GLOB: ("pattern",),
    ToolKind.GREP: ("pattern",),
    ToolKind.FETCH: ("url",),
    ToolKind.SEARCH: ("query",),
    ToolKind.AGENT: ("prompt",),
    ToolKind.OTHER: (),
}
PREFIXING_HOST: Final = next(name for name, each in VOCABULARIES.items() if each.mcp == MCP_PREFIX)
_OTHER_HOST: Final = "claude-code"  # one that says which MCP server a tool belongs to
_DELETING_WORDS: Final = ("delete", "remove", "unlink")

# Names that no table has, and that people give to tools of each kind.
_COMMON_NAMES: Final[dict[ToolKind, tuple[str, ...]]] = {
    ToolKind.SHELL: ("run_terminal_cmd", "execute_shell", "local_shell"),
    ToolKind.READ: ("view_file", "cat_file", "open_file"),
    ToolKind.WRITE: ("delete_file", "remove_file", "save_file", "append_to_file", "unlink"),
    ToolKind.EDIT: ("patch_file", "edit_lines", "multi_replace"),
    ToolKind.LIST: ("ls", "list_folder"),
    ToolKind.GLOB: ("glob_files", "find_file"),
    ToolKind.GREP: ("ripgrep", "grep_files"),
    ToolKind.FETCH: ("fetch_url", "curl"),
    ToolKind.SEARCH: ("search_the_web",),
    ToolKind.AGENT: ("delegate", "start_subagent"),
    ToolKind.OTHER: ("deploy", "create_issue", "send_mail"),
}


def requires(name: str, kind: ToolKind) -> tuple[str, ...]:
    """The fields without which a tool of this name would refuse a call."""
    is_deleting = any(word in name.lower() for word in _DELETING_WORDS)
    return tuple(field for field in REQUIRED_FIELDS[kind] if not (is_deleting and field == "content"))


@dataclass(frozen=True, slots=True)
class KnownTool:
    name: str
    kind: ToolKind
    vocabulary: str  # of a host that has it

    @property
    def has_declared_kind(self) -> bool:
        """Its host declares another kind than the tables give its name."""
        return kind_of_name(self.name) is not self.kind

    def field(self, ours: str) -> str:
        return VOCABULARIES[self.vocabulary].fields.get(ours, ours)


@lru_cache(maxsize=1)
def known_tools() -> tuple[KnownTool, ...]:
    found: dict[tuple[str, ToolKind], KnownTool] = {}
    for vocabulary in VOCABULARIES.values():
        for kind, names in vocabulary.names.items():
            for name in names:
                found.setdefault((name, kind), KnownTool(name, kind, vocabulary.name))
        for name in sorted(vocabulary.others):
            kind = kind_of_name(name)
            found.setdefault((name, kind), KnownTool(name, kind, vocabulary.name))
    return tuple(found.values())


def common_names(kind: ToolKind) -> tuple[str, ...]:
    """Names that no table has and that are taken for this kind."""
    wanted = None if kind is ToolKind.OTHER else kind
    fields = tuple(REQUIRED_FIELDS[kind])
    names = (name for name in _COMMON_NAMES[kind] if not is_known_name(name))
    return tuple(name for name in names if getattr(guess_kind(name, fields), "kind", None) is wanted)


@dataclass(frozen=True, slots=True, eq=False)
class NameOption:
    """One way to read the tool's name: the matcher matches if one of these texts does."""

    texts: tuple[Text, ...] = ()
    exists: Formula | None = None  # None: always
    own: tuple[Formula, TextVariable] | None = None  # if the first is true, the matcher is compared with that name only

    def matches(self, compiled: TextPattern) -> Formula:
        found = any_true(_match_text(text, compiled) for text in self.texts)
        if self.own is None:
            return found
        is_own, name = self.own
        return any_true((all_true((is_own, name.match(compiled).holds)), all_true((negate(is_own), found))))


def _match_text(text: Text, compiled: TextPattern) -> Formula:
    return compiled.search(text) if isinstance(text, str) else text.match(compiled).holds


class Tools:
    """A group of tools whose names are read alike."""

    def __init__(self, title: str, kind: ToolKind, guessed: bool) -> None:
        self.title = title
        self.selected = Variable(title)
        self.kind = kind
        self.is_guessed = guessed and kind is not ToolKind.OTHER
        self.names: dict[str, TextVariable] = {}
        self.host_names_servers: Formula = False  # the host puts an MCP server's name before its tools': `git_push`
        self.find_host: Callable[[], TextVariable] | None = None  # the event's `host.name`
        self.named: frozenset[str] = frozenset()  # tools that are looked at one by one
        self._own: dict[ToolName, Formula] = {}

    def options(self, subject: ToolName) -> list[NameOption]:
        raise NotImplementedError

    def match(self, subject: ToolName, option: NameOption, compiled: TextPattern) -> Formula:
        return option.matches(compiled)

    def match_raw_name(self, compiled: TextPattern) -> Formula:
        """Whether the name matches as its host writes it."""
        raise NotImplementedError

    def kind_options(self) -> tuple[ToolKind, ...]:
        """A guard holds if a guess is right, and if it is wrong."""
        return (self.kind, ToolKind.OTHER) if self.is_guessed else (self.kind,)

    def constraints(self, *, common: bool) -> Iterator[Formula]:
        """common: the tool is one that people have."""
        return iter(())

    def alternatives(self) -> Iterable[Variable]:
        """Variables of which exactly one is true if the tool is in this group, and none otherwise."""
        return (self.selected,)

    def _name(
        self, what: str, form: Pattern, common_form: Pattern | None = None, excluded: frozenset[str] = frozenset()
    ) -> TextVariable:
        found = self.names.get(what)
        if found is None:
            path = (f"{self.title}, {what}",)
            found = self.names[what] = TextVariable(path, form, common_form, optional=False, excluded=excluded)
        return found

    def _kind_names(self, subject: ToolName) -> tuple[str, ...]:
        names = subject.vocabulary.names.get(self.kind, ())[:1]
        return subject.vocabulary.with_aliases(names) if subject.matches_aliases else names

    def _guess_exists(self, subject: ToolName) -> Formula | None:
        """When a matcher takes a guess about the tool's kind; None: always."""
        return None if subject.vocabulary.guesses_own_tools else self.has_other_host()

    def has_other_host(self) -> Formula:
        """Whether the tool is not one of hookline's own sessions."""
        if self.find_host is None:
            return False
        host = self.find_host()
        return all_true((host.is_present, *(negate(host.match(literal(name)).holds) for name in OWN_HOSTS)))

    def _is_own(self, subject: ToolName) -> Formula:
        """Whether the matcher names this very tool by the host's name for it."""
        return self._own.setdefault(subject, Variable(f"{self.title}, own name {len(self._own)}"))


class KnownTools(Tools):
    """The tools of the tables. What their names are compared with is certain."""

    def __init__(self, kind: ToolKind) -> None:
        super().__init__("a known tool", kind, guessed=False)
        self.tools = {tool: Variable(f"tool {tool.name}") for tool in known_tools() if tool.kind is kind}
        self._matching: dict[tuple[ToolName, TextPattern], Formula] = {}

    def options(self, subject: ToolName) -> list[NameOption]:
        return [NameOption()]

    def match(self, subject: ToolName, option: NameOption, compiled: TextPattern) -> Formula:
        key = (subject, compiled)
        if key not in self._matching:
            found = [each for tool, each in self.tools.items() if _matches_known(tool, subject, compiled)]
            self._matching[key] = any_true(found)
        return self._matching[key]

    def match_raw_name(self, compiled: TextPattern) -> Formula:
        return any_true(each for tool, each in self.tools.items() if compiled.search(tool.name))

    def constraints(self, *, common: bool) -> Iterator[Formula]:
        yield same(self.selected, any_true(self.tools.values()))

    def alternatives(self) -> Iterable[Variable]:
        return self.tools.values()


@lru_cache(maxsize=65_536)
def _matches_known(tool: KnownTool, subject: ToolName, compiled: TextPattern) -> bool:
    event = Event("tool.before", {"tool": {"name": tool.name, "kind": str(tool.kind), "input": {}}})
    return any(compiled.search(text) for text in subject.texts(event))


class UnknownTools(Tools):
    """Tools that no table has. Their kind is declared by their host, or guessed."""

    def __init__(self, kind: ToolKind, *, declared: bool) -> None:
        super().__init__("a tool with a declared kind" if declared else "an unknown tool", kind, not declared)
        self.is_declared = declared
        self.host_names_servers = Variable(f"{self.title}, its host puts MCP servers first")

    @property
    def name(self) -> TextVariable:
        return self._name("name", _NOT_MCP_NAME, _common_name(self.kind), _known_names() | self.named)

    def match_raw_name(self, compiled: TextPattern) -> Formula:
        return self.name.match(compiled).holds

    def options(self, subject: ToolName) -> list[NameOption]:
        if subject.own_names is HOST_NAMES:
            return [NameOption((self.name,)), *self._spelled(subject, None)]
        own = (self._is_own(subject), self.name) if subject.own_names else None
        kind_names = self._kind_names(subject) if self.kind is not ToolKind.OTHER else ()
        exists = None if self.is_declared else self._guess_exists(subject)
        by_kind = [NameOption(kind_names, exists, own)] if kind_names else []
        if self.is_declared and by_kind:
            return by_kind
        return [*by_kind, NameOption((self.name,), own=own), *self._spelled(subject, own)]

    def _spelled(self, subject: ToolName, own: tuple[Formula, TextVariable] | None) -> Iterator[NameOption]:
        """The name may belong to an MCP server whose name comes first, as in `git_push`."""
        if self.is_declared:
            return
        for server in subject.servers:
            starts = self.name.match(pattern(rf"(?s){re.escape(server)}[_.].+", whole=True)).holds
            exists = all_true((negate(self.host_names_servers), starts))
            yield NameOption(self._spellings(subject, server), exists, own)
        yield NameOption(self._spellings(subject, None), self.host_names_servers, own)

    def _spellings(self, subject: ToolName, server: str | None) -> tuple[TextVariable, ...]:
        return tuple(self._name(*each) for each in _mcp_forms(subject, server))

    def constraints(self, *, common: bool) -> Iterator[Formula]:
        if common:
            yield negate(self.host_names_servers)
            if self.is_declared:
                yield negate(self.selected)


class McpTools(Tools):
    """The tools of MCP servers. Some hosts do not say which server a tool belongs to."""

    def __init__(self, kind: ToolKind, *, knows_server: bool) -> None:
        super().__init__("an MCP tool" if knows_server else "an MCP tool without its server", kind, guessed=True)
        self.knows_server = knows_server
        self._can_be_split = Variable(f"{self.title}, its name can be split in several ways")

    @property
    def name(self) -> TextVariable:
        form = _MCP_NAME if self.knows_server else _MCP_NAME_WITHOUT_SERVER
        return self._name("name", form, excluded=self.named)

    def match_raw_name(self, compiled: TextPattern) -> Formula:
        return self.name.match(compiled).holds

    def options(self, subject: ToolName) -> list[NameOption]:
        own = None
        if subject.own_names and subject.own_names is not HOST_NAMES:
            own = (self._is_own(subject), self._name(f"own name {hash(subject)}", _ANY_NAME))
        found = [NameOption(texts, exists, own) for texts, exists in self._addresses(subject)]
        kind_names = self._kind_names(subject) if self.is_guessed and subject.own_names is not HOST_NAMES else ()
        return [*found, NameOption(kind_names, self._guess_exists(subject), own)] if kind_names else found

    def _addresses(self, subject: ToolName) -> Iterator[tuple[tuple[Text, ...], Formula | None]]:
        raw = (self.name,) if subject.own_names is HOST_NAMES else ()
        if self.knows_server:
            yield (*self._spellings(subject, None, "first"), *raw), None
            yield self._spellings(subject, None, "other"), self._can_be_split
            return
        yield (*self._spellings(subject, UNKNOWN_SERVER, "first"), *raw), None
        for server in subject.servers:
            yield self._spellings(subject, server, "other"), None

    def _spellings(self, subject: ToolName, server: str | None, which: str) -> tuple[TextVariable, ...]:
        return tuple(self._name(f"{which} {what}", form, common) for what, form, common in _mcp_forms(subject, server))

    def constraints(self, *, common: bool) -> Iterator[Formula]:
        if common:
            yield negate(self._can_be_split)


def _mcp_forms(subject: ToolName, server: str | None) -> Iterator[tuple[str, Pattern, Pattern]]:
    """The spellings that the matcher is compared with: a name, its form, and its common form."""
    formats = tuple(dict.fromkeys((subject.vocabulary.mcp, MCP_NATIVE, MCP_DIGITORN, MCP_CLAUDE)))
    for each in formats if subject.own_names is HOST_NAMES else formats[:1]:
        before, rest = each.split("{server}")
        between = rest.removesuffix("{tool}")
        start, middle = re.escape(before), re.escape(between)
        form = rf"(?s){start}{'.+' if server is None else re.escape(server)}{middle}.+"
        common = rf"{start}{'[a-z]+' if server is None else re.escape(server)}{middle}[a-z]+(?:_[a-z]+)*"
        yield f"{each} {server}", pattern(form, whole=True), pattern(common, whole=True)


_ANY_NAME: Final = pattern("", whole=False)
_MCP_NAME: Final = pattern(r"(?s)(?:MCP:|mcp:).+:.+|@.+/.+|mcp__.+__.+|mcp\..+\..+|mcp_.+[_.].+", whole=True)
_NOT_MCP_NAME: Final = pattern(
    r"(?s)\A(?!(?:(?:MCP:|mcp:).+|@.+/.+|mcp__.+__.+|mcp\..+\..+|mcp_[^.]+_[^.]+|mcp_[^.]+\..+)\z)"
)
_MCP_NAME_WITHOUT_SERVER: Final = pattern(r"(?s)(?:MCP:|mcp:).+", whole=True)


@lru_cache(maxsize=1)
def _known_names() -> frozenset[str]:
    return frozenset(tool.name for tool in known_tools())


@lru_cache(maxsize=16)
def _common_name(kind: ToolKind) -> Pattern:
    names = "|".join(map(re.escape, common_names(kind)))
    return pattern(f"{names}|[a-z]{{1,12}}(?:_[a-z]{{1,12}})?" if kind is ToolKind.OTHER else names, whole=True)


class NamedTool(Tools):
    """A tool that no table has, but a matcher names. What its name is compared with is known."""

    def __init__(self, name: str, kind: ToolKind, input: dict[str, str] | None) -> None:
        """input: with which it is taken for this kind; None: its host declares the kind."""
        how = "declared" if input is None else "guessed"
        super().__init__(f"{name}, {how} kind", kind, guessed=input is not None or mcp_address(name) is not None)
        self.name = name
        self.is_declared = input is None
        self.input = input or {}
        self.host_names_servers = Variable(f"{self.title}, its host puts MCP servers first")

    def match_raw_name(self, compiled: TextPattern) -> Formula:
        return compiled.search(self.name)

    def options(self, subject: ToolName) -> list[NameOption]:
        if subject.vocabulary.guesses_own_tools:
            hosts = {OWN_HOSTS[0]: negate(self.host_names_servers), PREFIXING_HOST: self.host_names_servers}
        else:
            is_other = self.has_other_host()
            hosts = {
                OWN_HOSTS[0]: negate(is_other),
                _OTHER_HOST: all_true((is_other, negate(self.host_names_servers))),
                PREFIXING_HOST: all_true((is_other, self.host_names_servers)),
            }
        found: dict[tuple[str, ...], list[Formula]] = {}
        for host, is_host in hosts.items():
            for texts in self._readings(subject, host):
                found.setdefault(texts, []).append(is_host)
        return [NameOption(each, None if len(when) == len(hosts) else any_true(when)) for each, when in found.items()]

    def _readings(self, subject: ToolName, host: str) -> list[tuple[str, ...]]:
        tool: dict[str, object] = {"name": self.name, "input": self.input}
        if self.is_declared:
            tool["kind"] = str(self.kind)
        event = Event("tool.before", {"tool": tool, "host": {"name": host}})
        texts = subject.texts(event)
        return [texts] if type(texts) is tuple else list(subject.readings(event))

    def constraints(self, *, common: bool) -> Iterator[Formula]:
        if common:
            yield negate(self.host_names_servers)


_FIELD_SIGNALS: Final = ("command", "path", "content", "old_string", "url")  # one of each sort that a guess looks at
_LANGUAGES: Final[tuple[dict[str, str], ...]] = ({}, {"language": "bash"}, {"language": "python"})


@lru_cache(maxsize=1024)
def possible_kinds(name: str) -> dict[ToolKind, dict[str, str]]:
    """The kinds that a tool of this name may be taken for, and an input with which it is."""
    found: dict[ToolKind, dict[str, str]] = {}
    for count in range(len(_FIELD_SIGNALS) + 1):
        for fields, language in product(combinations(_FIELD_SIGNALS, count), _LANGUAGES):
            input = {**dict.fromkeys(fields, "x"), **language}
            guess = guessed_kind({"name": name, "input": input})
            found.setdefault(ToolKind.OTHER if guess is None else guess.kind, input)
    return found


def tools_of_kind(kind: ToolKind, names: Iterable[str] = ()) -> tuple[Tools, ...]:
    """names: of tools that are looked at one by one."""
    found: list[Tools] = [KnownTools(kind), UnknownTools(kind, declared=False)]
    if kind is not ToolKind.OTHER:
        found.append(UnknownTools(kind, declared=True))
    found += [McpTools(kind, knows_server=True), McpTools(kind, knows_server=False)]
    for name in names:
        guessed = possible_kinds(name)
        if kind in guessed:
            found.append(NamedTool(name, kind, guessed[kind]))
        if kind is not ToolKind.OTHER:
            found.append(NamedTool(name, kind, None))
    for tools in found:
        tools.named = frozenset(names)
    return tuple(found)


# kind → any name of a field → our name
_OUR_NAMES: Final[dict[ToolKind, dict[str, str]]] = {
    kind: {name: ours for ours, others in reversed(fields.items()) for name in (ours, *others)}
    for kind, fields in FIELD_NAMES.items()
}


def our_field_name(kind: ToolKind, name: str | int) -> str | int:
    """The name by which all names of a field are one."""
    return _OUR_NAMES[kind].get(name, name) if isinstance(name, str) else name

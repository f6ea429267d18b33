"""One name for a tool in each vocabulary, and the readings of a tool that no table knows."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.hooks.event import Event
from hookline.hooks.kind_guess import guess_kind
from hookline.hooks.protocols import AmbiguousTexts
from hookline.hooks.tool_input import to_vocabulary
from hookline.hooks.tool_name import (
    HOST_NAMES,
    ToolName,
    guessed_kind,
    likely_kind,
    mcp_address,
    mcp_spellings,
    tool_name_in,
)
from hookline.hooks.tools import VOCABULARIES, ToolKind
from hookline.patterns.pattern import pattern

CLAUDE = VOCABULARIES["claude_code"]
DIALECTS = ("native", "flo", "standard_agents", "microai", "ai_agents", "digitorn", "claude_code")
HOSTS = tuple(
    name
    for name in VOCABULARIES
    if name not in ("native", "flo", "standard_agents", "microai", "ai_agents", "digitorn")
)


def event(name: Any, input: Any = None, kind: Any = None, host: str = "") -> Event:
    tool = {"name": name, "input": {} if input is None else input}
    facts = {"tool": tool | ({"kind": kind} if kind else {}), **({"host": {"name": host}} if host else {})}
    return Event("tool.before", facts)


@pytest.mark.parametrize(
    ("own", "kind", "vocabulary", "name"),
    [
        ("bash", None, "claude_code", "Bash"),
        ("Bash", None, "flo", "bash"),
        ("shell.run", None, "flo", "bash"),
        ("run_shell_command", None, "native", "bash"),
        ("write_bash", None, "native", "bash"),
        ("my_tool", "shell", "native", "bash"),
        ("my_tool", None, "native", "my_tool"),
        ("bash", "other", "claude_code", "bash"),
        ("bash", "nonsense", "claude_code", "Bash"),
        ("Write", None, "ai_agents", "FileWriter"),
        ("FileWriter", None, "ai_agents", "FileWriter"),
        ("Write", None, "digitorn", "filesystem.write"),
        ("MultiEdit", None, "claude_code", "MultiEdit"),
        ("MultiEdit", None, "microai", "Edit"),
        ("LS", None, "microai", "LS"),
        ("TodoWrite", None, "flo", "TodoWrite"),
        ("mcp__fs__read", None, "flo", "mcp.fs.read"),
        ("mcp.fs.query", None, "digitorn", "mcp_fs.query"),
        ("mcp_fs.query", None, "ai_agents", "mcp__fs__query"),
        ("mcp__fs", None, "flo", "mcp__fs"),
        ("mcp____read", None, "flo", "mcp____read"),
        ("", None, "flo", ""),
    ],
)
def test_a_tool_has_one_name(own: str, kind: str | None, vocabulary: str, name: str) -> None:
    assert tool_name_in(event(own, kind=kind), VOCABULARIES[vocabulary]) == name
    assert ToolName(VOCABULARIES[vocabulary]).texts(event(own, kind=kind))[0] == name


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("host", HOSTS)
def test_every_known_tool_of_a_host_has_exactly_one_name(dialect: str, host: str) -> None:
    vocabulary = VOCABULARIES[dialect]
    for kind, names in VOCABULARIES[host].names.items():
        for own in names:
            given = event(own, kind=str(kind))
            ((name,),) = ToolName(vocabulary).possible_names(given)
            known = vocabulary.names.get(kind, ())
            assert name == own or name in known
            assert tool_name_in(given, vocabulary) == name


def test_the_full_name_has_short_forms_where_the_dialect_has_them() -> None:
    texts = ToolName(VOCABULARIES["digitorn"]).texts
    assert texts(event("write_file")) == ("filesystem.write", "write", "Write")
    assert texts(event("notion.page.create")) == ("notion.page.create", "page.create")


def test_a_matcher_of_host_names_reads_the_own_name_and_the_spellings_of_an_mcp_tool() -> None:
    subject = ToolName(own_names=HOST_NAMES)
    assert subject.texts(event("Bash")) == ("Bash",)
    assert subject.texts(event("mcp__fs__query")) == ("mcp.fs.query", "mcp_fs.query", "mcp__fs__query")


def test_alternatives_that_mean_own_names_are_matched_by_those_only() -> None:
    subject = ToolName(CLAUDE, (pattern("run_shell_command", whole=True),))
    assert subject.texts(event("run_shell_command")) == ("run_shell_command",)
    assert subject.texts(event("execute_command")) == ("Bash",)


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("mcp__fs__read", ("fs", "read")),
        ("mcp__fs__read__all", ("fs", "read__all")),
        ("mcp.fs.read", ("fs", "read")),
        ("mcp_fs.read", ("fs", "read")),
        ("mcp_fs_read", ("fs", "read")),
        ("MCP:create_issue", ("?", "create_issue")),
        ("MCP:github:create_issue", ("github", "create_issue")),
        ("mcp.?.create_issue", ("?", "create_issue")),
        ("@git/status", ("git", "status")),
        ("mcp", None),
        ("mcp_", None),
        ("mcpx", None),
        ("MCP:", None),
        ("@git", None),
        ("github_create_issue", None),
    ],
)
def test_an_mcp_tool_is_known_by_any_spelling(name: str, address: tuple[str, str] | None) -> None:
    assert mcp_address(name) == address
    assert bool(mcp_spellings(name)) == (address is not None)


def _readings(subject: ToolName, given: Event) -> tuple[tuple[str, ...], ...]:
    assert isinstance(subject.texts(given), AmbiguousTexts)
    assert set(subject.texts(given)) == {text for texts in subject.readings(given) for text in texts}
    return subject.possible_names(given)


def test_a_tool_that_no_table_knows_may_be_of_the_kind_that_it_looks_like() -> None:
    assert _readings(ToolName(), event("localShell")) == (("bash",), ("localShell",))
    assert ToolName(VOCABULARIES["ai_agents"]).texts(event("webSearch")) == (
        "webSearch",
    )  # it has no name for this kind


@pytest.mark.parametrize("own", ["", "hookline", "python"])
@pytest.mark.parametrize("other", ["claude-code", "opencode", "mcp", "langchain", "local-api", "my-app"])
def test_flo_takes_no_guess_in_hooklines_own_sessions(own: str, other: str) -> None:
    """Asked in turn, because each answer is remembered."""
    subject = ToolName(VOCABULARIES["flo"])
    for name, in_flo in (("my_bash", "bash"), ("write_files", "write_file"), ("mcp.files.write_file", "write_file")):
        for _ in range(2):
            assert subject.texts(event(name, host=own)) == (name,)
            assert tool_name_in(event(name, host=own), VOCABULARIES["flo"]) == name
            assert in_flo in subject.texts(event(name, host=other))
        assert name in ToolName().texts(event(name, host=own))
        assert in_flo in ToolName().texts(event(name, host=own))


@pytest.mark.parametrize("host", [5, None, ["hookline"], {}])
def test_a_host_without_a_readable_name_may_be_any(host: Any) -> None:
    given = Event("tool.before", {"tool": {"name": "my_bash", "input": {}}, "host": {"name": host}})
    assert "bash" in ToolName(VOCABULARIES["flo"]).texts(given)


def test_an_unknown_server_may_be_one_that_the_matcher_names() -> None:
    subject = ToolName(own_names=HOST_NAMES, servers=("github",))
    first, second = _readings(subject, event("MCP:create_issue"))
    assert first[0] == "mcp.?.create_issue"
    assert second[0] == "mcp.github.create_issue"
    assert ToolName(own_names=HOST_NAMES).texts(event("MCP:create_issue"))[0] == "mcp.?.create_issue"


def test_underscores_may_belong_to_the_server_or_to_the_tool() -> None:
    found = _readings(ToolName(own_names=HOST_NAMES), event("mcp_my_server_ping"))
    assert [names[0] for names in found] == ["mcp.my.server_ping", "mcp.my_server.ping"]


def test_a_host_that_joins_server_and_tool_may_mean_an_mcp_tool() -> None:
    found = _readings(ToolName(own_names=HOST_NAMES), event("github_create_issue", host="opencode"))
    assert [names[0] for names in found] == [
        "github_create_issue",
        "mcp.github.create_issue",
        "mcp.github_create.issue",
    ]
    assert ToolName(own_names=HOST_NAMES).texts(event("github_create_issue", host="codex")) == ("github_create_issue",)
    assert ToolName(own_names=HOST_NAMES).texts(event("plan_exit", host="opencode")) == ("plan_exit",)


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("cline", "github__create_issue"),
        ("cline", "github__create_issue_0a1b2c3d"),
        ("droid", "github___create_issue"),
        ("copilot-cli", "github-create_issue"),
        ("auggie", "mcp__?__create_issue_github"),
    ],
)
def test_every_host_has_its_own_way_to_join_server_and_tool(host: str, name: str) -> None:
    given = event(name, host=host)
    assert any("mcp.github.create_issue" in names for names in _readings(ToolName(own_names=HOST_NAMES), given))
    assert len(_readings(ToolName(own_names=HOST_NAMES), given)) > 1, "so that it is not enough for an allow"


def test_a_cut_name_is_that_of_an_mcp_tool() -> None:
    cut = "github_com_modelcontextprotocol_servers_tree_main_src_g_0a1b2c3d"
    found = _readings(ToolName(own_names=HOST_NAMES), event(cut, host="cline"))
    assert [names[0] for names in found][-1] == f"mcp.?.{cut[:-9]}"


def test_the_kind_of_an_mcp_tool_is_always_a_guess() -> None:
    given = event("mcp.fs.put", {"path": "a"}, kind="write")
    assert _readings(ToolName(), given) == (("mcp.fs.put",), ("write_file",))
    guess = guessed_kind(given.facts["tool"])
    assert guess is not None
    assert guess.kind is ToolKind.WRITE


def test_a_known_tool_is_never_guessed() -> None:
    for name in ("TodoWrite", "BashOutput", "read_bash", "Bash", "memory.remember"):
        assert guessed_kind({"name": name, "input": {"command": "ls", "path": "a"}}) is None


@pytest.mark.parametrize(
    "tool", [5, None, [], "bash", {}, {"name": 5}, {"name": None}, {"name": ["bash"], "kind": "shell"}]
)
def test_a_tool_without_a_name_has_no_names(tool: Any) -> None:
    given = Event("tool.before", {"tool": {}})
    given.facts["tool"] = tool
    assert ToolName().texts(given) == ()
    assert tool_name_in(given, CLAUDE) == ""
    assert guessed_kind(tool) is None


def test_long_names_are_not_kept() -> None:
    """Whoever names tools and fields at will must not fill our memory."""
    guess_kind.cache_clear()
    subject = ToolName()
    for n in range(50):
        long = f"{n}" * 1000
        assert subject.texts(event(long))[0] == long
        assert likely_kind({"name": long}) is ToolKind.OTHER
        assert to_vocabulary(event("read_file", input={long: 1}), CLAUDE) == {long: 1}
    assert not subject._certain
    assert not subject._uncertain
    assert guess_kind.cache_info().currsize == 0


_FIELDS = ("path", "command", "content", "operation", "action", "language", "file_name", "url", "x")
_VALUES = ("ls", "file:///a", "write", "bash", "python", "", 1, None, ["ls"], {"command": "ls"})


@pytest.mark.parametrize("name", ["write", "run", "execute_code", "terminal", "t", "mcp.shell.send", "Bash", "x" * 300])
def test_a_guess_that_is_known_by_its_names_is_the_same(name: str) -> None:
    inputs = [{one: value, other: "text"} for one in _FIELDS for other in _FIELDS for value in _VALUES]
    for input in (*inputs, {}, {1: "a"}, {True: "a", "path": "b"}, {"y" * 300: "a"}):
        for _ in range(2):  # the second one is known
            tool = {"name": name, "input": input}
            assert guessed_kind(tool) == guessed_kind({**tool, "kind": "other"})  # a declared kind is looked at anew

"""An agent renames its tools, or a server names them as it likes. A guard holds, and nothing new is allowed."""

import itertools
from typing import Any

from attempts import Attempt

from hookline.hooks.tools import VOCABULARIES
from hookline.testing import fire

WORDS = [
    ("bash",), ("shell",), ("local", "shell"), ("run", "shell", "command"), ("run", "terminal", "cmd"), ("terminal",),
    ("run", "in", "terminal"), ("execute", "command"), ("shell", "exec"), ("exec",), ("execute",), ("powershell",),
    ("run", "command"), ("run", "commands"), ("launch", "process"), ("start", "process"), ("my", "bash"), ("write", "bash"),
]  # fmt: skip
FIELDS = ("command", "cmd", "script", "command_line", "commandLine", "shell_command")
GUARDS: dict[str, dict[str, Any]] = {
    "native": {"hooks": [{"id": "g", "on": "tool.before", "when": {"tool": "bash", "input": {"command": "rm -rf"}}, "then": {"deny": "no"}}]},
    "flo": {"hooks": {"PreToolUse": [{"id": "g", "matcher": "^bash$", "inputMatchers": {"command": "rm -rf"}, "action": "deny"}]}},
    "digitorn": {"runtime": {"hooks": [{"id": "g", "on": "tool_start", "condition": {"type": "tool_name", "match": "shell.run"}, "action": {"type": "gate"}}]}},
}  # fmt: skip
ALLOW = {
    "hooks": [{"id": "a", "on": "tool.before", "when": {"any": [{"tool": "bash"}, {"kind": "shell"}]}, "then": "allow"}]
}


def _spellings(words: tuple[str, ...]) -> set[str]:
    camel = words[0] + "".join(word.title() for word in words[1:])
    return {
        "_".join(words),
        "-".join(words),
        ".".join(words),
        camel,
        "".join(map(str.title, words)),
        "_".join(words).upper(),
    }


def _verdict(config: Any, tool: dict[str, Any], dialect: str = "native", **facts: Any) -> str:
    return fire(config, {"name": "tool.before", "tool": tool, **facts}, dialect=dialect).verdict.name


def test_a_renamed_shell_is_still_guarded(attempt: Attempt) -> None:
    for words, (dialect, guard) in itertools.product(WORDS, GUARDS.items()):
        for name, field in itertools.product(sorted(_spellings(words)), FIELDS):
            tool = {"name": name, "input": {field: "rm -rf /"}}
            attempt("a renamed shell", _verdict(guard, tool, dialect) != "DENY", f"{dialect}: {tool}")


def test_a_guessed_field_is_not_allowed(attempt: Attempt) -> None:
    """An allow that names a field, but no tool."""
    tests = ("^ls", {"starts": "ls *"}, {"command": "ls"}, {"is": "ls x"}, {"exists": True}, {"exactly": "ls x"})
    conditions = [*({"input": {"command": test}} for test in tests), {"runs": "ls"}, {"runs": {"program": "ls"}}]
    inputs = [{name: "ls x"} for name in ("cmd", "script", "command_line", "keys", "chars", "code", "text")]
    for name, input, when in itertools.product(
        ("my_terminal", "send_keys", "run_code", "exec_cmd"), inputs, conditions
    ):
        allow = {"hooks": [{"id": "a", "on": "tool.before", "when": when, "then": "allow"}]}
        tool = {"name": name, "input": input}
        attempt("an allow through a guess", _verdict(allow, tool) == "ALLOW", f"{when}: {tool}")


def test_typed_text_and_code_are_guarded(attempt: Attempt) -> None:
    inputs = [
        {"keys": "rm -rf /"}, {"keys": ["rm -rf /", "Enter"]}, {"chars": "rm -rf /\n"}, {"code": "rm -rf /", "language": "bash"},
        {"text": "rm -rf /", "session": 1}, {"input": "rm -rf /"}, {"data": "ls; rm -rf /"},
    ]  # fmt: skip
    names = (
        "send_keys",
        "write_stdin",
        "run_in_terminal",
        "terminal",
        "sendKeys",
        "pty_write",
        "interact_with_process",
    )
    for name, input in itertools.product(names, inputs):
        for when in (
            {"tool": "bash", "input": {"command": {"starts": "rm *"}}},
            {"runs": {"program": "rm", "flags": ["r"]}},
        ):
            guard = {"hooks": [{"id": "g", "on": "tool.before", "when": when, "then": {"deny": "No."}}]}
            tool = {"name": name, "input": input}
            attempt("text typed into a shell", _verdict(guard, tool) != "DENY", f"{when}: {tool}")


def test_a_renamed_shell_is_not_allowed(attempt: Attempt) -> None:
    known = {name for vocabulary in VOCABULARIES.values() for names in vocabulary.names.values() for name in names}
    for words in WORDS:
        for name in sorted(_spellings(words) - known):
            for tool in (
                {"name": name, "input": {"command": "x"}},
                {"name": f"mcp__s__{name}", "kind": "shell", "input": {}},
            ):
                attempt("an allow through a guess", _verdict(ALLOW, tool) == "ALLOW", str(tool))


def test_every_host_shell_is_guarded_in_every_dialect(attempt: Attempt) -> None:
    for vocabulary in VOCABULARIES.values():
        for name in vocabulary.names.get("shell", ()):  # type: ignore[call-overload]
            for dialect, guard in GUARDS.items():
                tool = {"name": name, "input": {"command": "rm -rf /"}}
                attempt("a host's own name", _verdict(guard, tool, dialect) != "DENY", f"{dialect}: {name}")


def test_an_mcp_tool_is_guarded_however_it_is_spelled(attempt: Attempt) -> None:
    for server, matcher in itertools.product(
        ("github", "my-server", "my_server"), ("mcp.{}.*", "mcp.{}.delete_repo", "/^mcp\\.{}\\./", "mcp__{}__*")
    ):
        when = {"tool": matcher.format(server)}
        guard = {"hooks": [{"id": "g", "on": "tool.before", "when": when, "then": {"deny": "no"}}]}
        allow = {"hooks": [{"id": "a", "on": "tool.before", "when": when, "then": "allow"}]}
        certain = [f"mcp__{server}__delete_repo", f"mcp.{server}.delete_repo", f"mcp_{server}.delete_repo"]
        unsure = ["MCP:delete_repo", "mcp.?.delete_repo", f"mcp_{server}_delete_repo", f"{server}_delete_repo"]
        for name in (*certain, *unsure):
            tool = {"name": name, "input": {}}
            attempt("an MCP tool's spelling", _verdict(guard, tool) != "DENY", f"{when}: {name}")
        for name in ("MCP:delete_repo", f"{server}_delete_repo"):
            attempt("an MCP tool of an unknown server", _verdict(allow, {"name": name, "input": {}}) == "ALLOW", name)

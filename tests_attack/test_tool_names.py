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


RENAMED_SHELLS: list[tuple[str, dict[str, Any]]] = [
    ("spawn", {"program": "rm", "args": ["-rf", "/"]}), ("runInSandbox", {"shellCommand": "rm -rf /"}),
    ("console", {"line": "rm -rf /"}), ("do_command", {"commandText": "rm -rf /"}), ("invoke_cli", {"cli_command": "rm -rf /"}),
    ("run_task", {"task": {"command": "rm -rf /"}}), ("do", {"bash": "rm -rf /"}), ("process_spawn", {"argv": ["rm", "-rf", "/"]}),
    ("sandbox_exec", {"command": {"cmd": "rm -rf /"}}), ("local_shell_call", {"action": {"command": ["rm", "-rf", "/"]}}),
    ("unified_exec", {"input": ["rm -rf /"]}), ("write_stdin", {"session_id": 1, "chars": "rm -rf /\n"}),
    ("subprocess_run", {"args": "rm -rf /"}), ("batch_commands", {"commands": [{"command": "rm -rf /"}]}),
    ("parallel_shell", {"tasks": [{"cmd": "ls"}, {"cmd": "rm -rf /"}]}), ("tool_7", {"command": "rm -rf /"}),
    ("run_program", {"command": "rm", "parameters": ["-rf", "/"]}), ("exec", {"command": "rm", "flags": ["-rf"], "args": ["/"]}),
    ("bash", {"command": "rm", "more": ["-rf", "/"]}), ("shell_exec", {"cmd": "rm", "command_args": "-rf /"}),
    ("mcp__desk__start_process", {"command": "rm -rf /"}), ("mcp__terminal__send", {"input": "rm -rf /"}),
    ("mcp__w__BashCommand", {"action_json": {"command": "rm -rf /"}}), ("mcp__x__go", {"cmdline": "rm -rf /"}),
]  # fmt: skip
RENAMED_FILE_TOOLS: list[tuple[str, dict[str, Any]]] = [
    ("save_file", {"target": ".env", "data": "x"}), ("store_document", {"uri": "file:///w/.env", "body": "x"}),
    ("file_create", {"name": ".env", "content": "x"}), ("new_file", {"pathname": ".env", "text": "x"}),
    ("put_file", {"dest": ".env", "src": "a"}), ("overwrite", {"file_name": ".env", "content": "x"}),
    ("WriteTextFile", {"fileName": ".env", "content": "x"}), ("fs_put", {"relative_path": ".env", "content": "x"}),
    ("upload", {"destination_path": ".env", "content": "x"}), ("write_files", {"files": {".env": "x"}}),
    ("files_write", {"files": [{"path": ".env", "content": "x"}]}), ("touch_file", {"path": ".env"}),
    ("download_file", {"url": "http://x", "save_path": ".env"}), ("Write", {"targetFile": ".env", "content": "x"}),
    ("mcp__serena__create_text_file", {"relative_path": ".env", "content": "x"}),
    ("mcp__serena__replace_symbol_body", {"relative_path": ".env", "body": "x"}),
    ("mcp__idea__replace_text_in_file", {"pathInProject": ".env", "oldText": "a", "newText": "b"}),
    ("apply_patch_v2", {"patch": "--- a/.env\n+++ b/.env\n"}), ("refactor_rename", {"uri": "file:///w/.env", "newName": "x"}),
    ("morph_edit", {"path": ".env", "code_edit": "x"}), ("multi_edit", {"edits": [{"file_path": ".env", "old_string": "a"}]}),
    ("rm_file", {"path": ".env"}), ("trash", {"path": ".env"}), ("erase", {"file": ".env"}), ("fs.rm", {"path": ".env"}),
    ("wipe", {"file_path": ".env"}), ("rename", {"old_path": ".env", "new_path": "x"}), ("mv", {"src": ".env", "dst": "x"}),
    ("truncate", {"path": ".env"}), ("file_ops", {"operation": "delete", "path": ".env"}), ("discard", {"path": ".env"}),
    ("blob", {"op": "write", "path": ".env"}), ("bulk_delete", {"paths": [".env"]}), ("Edit", {"documentPath": ".env"}),
]  # fmt: skip


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
    event = {"name": "tool.before", "host": {"name": "claude-code"}, "tool": tool, **facts}
    return fire(config, event, dialect=dialect).verdict.name


def test_a_renamed_shell_is_still_guarded(attempt: Attempt) -> None:
    for words, (dialect, guard) in itertools.product(WORDS, GUARDS.items()):
        for name, field in itertools.product(sorted(_spellings(words)), FIELDS):
            tool = {"name": name, "input": {field: "rm -rf /"}}
            attempt("a renamed shell", _verdict(guard, tool, dialect) != "DENY", f"{dialect}: {tool}")


def test_a_tool_with_other_fields_is_still_guarded(attempt: Attempt) -> None:
    shell_guards: list[dict[str, Any]] = [
        {"kind": "shell"},
        {"tool": "bash", "input": {"command": "rm -rf"}},
        {"tool": "bash", "input": {"command": {"starts": "rm *"}}},
        {"runs": {"program": "rm", "flags": ["r", "f"]}},
    ]
    file_guards: list[dict[str, Any]] = [
        {"kind": ["write", "edit"], "input": {"path": "(^|/)[.]env$"}},
        {"tool": ["write_file", "edit_file"], "input": {"path": {"glob": "**/.env"}}},
        {"kind": ["write", "edit"], "inside": "./.env"},
        {"kind": ["write", "edit"], "not": {"input": {"path": "^src/"}}},
    ]
    for guards, tools in ((shell_guards, RENAMED_SHELLS), (file_guards, RENAMED_FILE_TOOLS)):
        for when, (name, input) in itertools.product(guards, tools):
            guard = {"hooks": [{"id": "g", "on": "tool.before", "when": when, "then": {"deny": "No."}}]}
            tool = {"name": name, "input": input}
            verdict = _verdict(guard, tool, cwd="/w", workspace="/w")
            attempt("a tool with other fields", verdict != "DENY", f"{when}: {tool}")


def test_a_field_that_no_table_has_is_not_allowed(attempt: Attempt) -> None:
    for name in ("Write", "Edit", "write_file", "save_file", "mcp__fs__write_file"):
        for field, test in itertools.product(
            ("targetFile", "relative_path", "name", "save_path"), ("^src/", {"glob": "src/**"})
        ):
            when = {"kind": ["write", "edit"], "input": {"path": test}}
            allow = {"hooks": [{"id": "a", "on": "tool.before", "when": when, "then": "allow"}]}
            tool = {"name": name, "input": {field: "src/a", "content": "x"}}
            attempt("an allow through a guess", _verdict(allow, tool, cwd="/w", workspace="/w") == "ALLOW", str(tool))


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


def test_a_field_under_another_name_hides_nothing(attempt: Attempt) -> None:
    """The agent adds a harmless field beside the one that the tool reads."""
    path_guard = {
        "hooks": [{"id": "g", "on": "tool.before", "when": {"input": {"path": "[.]env$"}}, "then": {"deny": "no"}}]
    }
    paths = ("path", "file_path", "filePath", "filename", "target_file", "file")
    for vocabulary in VOCABULARIES:
        host = {"name": vocabulary.replace("_", "-")}
        for name, (read, added) in itertools.product(
            ("mcp__fs__write_file", "mcp.fs.write_file", "save_document"), itertools.permutations(paths, 2)
        ):
            tool = {"name": name, "input": {read: ".env", added: "notes.md", "content": "x"}}
            attempt("a field under another name", _verdict(path_guard, tool, host=host) != "DENY", f"{host}: {tool}")
        for name, (read, added) in itertools.product(
            ("mcp__x__run_command", "run_shell_v2"), itertools.permutations(FIELDS, 2)
        ):
            tool = {"name": name, "input": {read: "rm -rf /", added: "ls"}}
            verdict = _verdict(GUARDS["native"], tool, host=host)
            attempt("a field under another name", verdict != "DENY", f"{host}: {tool}")


def test_a_field_under_another_name_hides_nothing_from_a_script(attempt: Attempt) -> None:
    """A script looks at one name; which one the tool of an MCP server reads is unknown."""
    script = "if (toolInput.path?.includes('.env')) return {decision: 'deny', reason: 'no'}"
    guards: dict[str, dict[str, Any]] = {
        "flo": {"hooks": {"PreToolUse": [{"action": "script", "script": script}]}},
        "native": {"hooks": [{"id": "g", "on": "tool.before", "then": {"run": ["grep", "-qv", "[.]env"], "stdin": "{{input.path}}"}}]},
    }  # fmt: skip
    paths = ("path", "file_path", "filename", "file")
    for (dialect, guard), name in itertools.product(guards.items(), ("mcp__fs__write_file", "save_document")):
        for names in itertools.permutations(paths, 3):
            for at, read in enumerate(names):
                values = dict.fromkeys(names, "notes.md") | {read: ".env"}
                tool = {"name": name, "input": {**values, "content": "x"}}
                attempt(
                    "a field under another name, for a script", _verdict(guard, tool, dialect) != "DENY", f"{at} {tool}"
                )

"""Guesses the kind of a tool that no table knows, from the words of its name and the fields of its input.

An agent may rename its shell in any version, and an MCP server may name its tools as it likes. A guess makes a guard hold
there too. It may be wrong, so a hook that only allows never relies on it.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final
from unicodedata import normalize

from hookline.hooks.invisible_characters import without_invisible
from hookline.hooks.tools import FIELD_NAMES, ToolKind
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import json, lazy_pattern

_WORD: Final = lazy_pattern(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+")
_MAX_NAME_CHARS: Final = 256


@dataclass(frozen=True, slots=True)
class KindGuess:
    kind: ToolKind
    why: str  # "its name (run, terminal)", "its field command"


_COMMAND_FIELDS: Final = ("command", *FIELD_NAMES[ToolKind.SHELL]["command"], "commands")
_PATH_FIELDS: Final = tuple(
    dict.fromkeys(
        (
            "path",
            *(name for kind in ToolKind for name in FIELD_NAMES[kind].get("path", ())),
            "paths",
        )
    )
)
_CONTENT_FIELDS: Final = ("content", *FIELD_NAMES[ToolKind.WRITE]["content"])
_OLD_FIELDS: Final = ("old_string", *FIELD_NAMES[ToolKind.EDIT]["old_string"], "edits", "diff", "patch")
_URL_FIELDS: Final = ("url", *FIELD_NAMES[ToolKind.FETCH]["url"])
_KNOWN_FIELDS: Final = frozenset((*_COMMAND_FIELDS, *_PATH_FIELDS, *_CONTENT_FIELDS, *_OLD_FIELDS, *_URL_FIELDS))
_TABLE_FIELDS: Final = frozenset(
    name for fields in FIELD_NAMES.values() for ours in fields for name in (ours, *fields[ours])
)
_PATH_ENDS: Final = frozenset(
    ("path", "paths", "pathname", "filepath", "file", "files", "filename", "filenames", "directory", "dir", "folder",
     "destination", "dest", "src", "dst")
)  # fmt: skip
_COMMAND_ENDS: Final = frozenset(("command", "commands", "cmd", "cmds", "cmdline", "commandline"))
_COMMAND_NAMES: Final = frozenset(("bash", "shell", "program", "executable", "argv"))
_COMMAND_FILLERS: Final = frozenset(
    ("to", "run", "execute", "exec", "string", "str", "text", "body", "content", "raw", "full", "shell", "bash", "sh", "script",
     "encoded", "base", "b", "hex", "line")
)  # fmt: skip
_SIGNAL_PART: Final = lazy_pattern("|".join(sorted((*_PATH_ENDS, *_COMMAND_ENDS, *_COMMAND_NAMES, "script"))))
"""A name of ASCII without any of these is no path and no command. See is_path_name and is_command_name."""
_OPERATION_FIELDS: Final = ("operation", "action", "op")
_OPERATION: Final = "operation "
_CALL_WORDS: Final = frozenset(
    ("task", "tasks", "step", "steps", "job", "jobs", "stage", "stages", "pipeline", "action", "actions", "operation",
     "operations", "call", "calls", "request", "requests", "process", "processes", "param", "params", "parameters", "input",
     "inputs", "argument", "arguments", "args", "options", "payload", "batch", "command", "commands", "invocation", "json",
     "function", "functions", "tool", "tools", "use", "uses", "invocations", "item", "items", "kwargs", "parallel", "sequence",
     "chain", "queue", "plan", "plans", "node", "nodes", "workflow", "execution", "executions")
)  # fmt: skip
"""A field with one of these has what a tool shall do."""
_PROGRAM_FIELDS: Final = frozenset(("program", "executable", "binary", "entrypoint"))
_ARGUMENT_FIELDS: Final = frozenset(("args", "arguments", "argv", "parameters", "params", "flags"))
_MAX_CONTAINERS: Final = 2_000
_MAX_CALL_DEPTH: Final = 8
_MAX_JSON_CHARS: Final = 1_000_000
_ANY_CALL: Final = {_COMMAND_FIELDS[0]: ""}
LANGUAGE_FIELDS: Final = frozenset(("language", "lang", "runtime", "interpreter", "kernel"))
"""The fields that say in which language code is written."""
_FIELDS_WITH_SIGNALS: Final = LANGUAGE_FIELDS.union(_OPERATION_FIELDS)
_PLAIN_TYPES: Final = frozenset((int, float, bool, type(None)))
_SIGNAL_STARTS: Final = frozenset("f{[ \t\n\r\f\v")
"""The first characters of texts that a guess depends on: `file:/x`, and JSON."""
_SHELL_LANGUAGES: Final = frozenset(
    ("bash", "sh", "shell", "zsh", "dash", "ksh", "fish", "powershell", "pwsh", "cmd", "bat", "console", "terminal")
)
SHELL_CODE: Final = "code in a shell's language"
OTHER_CODE: Final = "code in another language"
"""Signals beside the names of fields. Another is `operation delete`, from `{operation: delete}`."""

_SHELLS: Final = frozenset(
    ("bash", "zsh", "sh", "shell", "powershell", "pwsh", "terminal", "cmd", "subprocess", "stdin", "tmux", "pty", "tty")
)
_RUN_WORDS: Final = frozenset(("run", "exec", "execute", "executor", "launch", "spawn", "start", "invoke"))
_TYPE_WORDS: Final = frozenset(("send", "type", "write", "press", "interact", "input", "feed", "paste"))
_TYPED_WORDS: Final = frozenset(("keys", "keystrokes", "process", "console"))
_BROWSER_WORDS: Final = frozenset(("browser", "page", "element", "dom", "web", "selenium", "playwright"))
_SHELL_WORDS: Final = _SHELLS | _RUN_WORDS
_COMMAND_WORDS: Final = frozenset(("command", "commands", "process", "program", "script", "console"))
_WATCH_WORDS: Final = frozenset(
    ("read", "get", "list", "show", "view", "output", "kill", "stop", "close", "status", "help", "history", "wait", "log",
     "logs", "info", "describe", "selection", "last")
)  # fmt: skip
"""With one of these, a shell's name means a tool that looks at it or ends it."""

# The words of file tools. A verb in the second row needs an object that is a file, or a field with a path.
_VERBS: Final = {
    "write": ToolKind.WRITE, "writer": ToolKind.WRITE, "save": ToolKind.WRITE, "append": ToolKind.WRITE,
    "overwrite": ToolKind.WRITE, "delete": ToolKind.WRITE, "remove": ToolKind.WRITE, "unlink": ToolKind.WRITE,
    "rm": ToolKind.WRITE, "erase": ToolKind.WRITE, "trash": ToolKind.WRITE, "wipe": ToolKind.WRITE,
    "truncate": ToolKind.WRITE, "touch": ToolKind.WRITE, "rewrite": ToolKind.WRITE, "mv": ToolKind.WRITE,
    "cp": ToolKind.WRITE, "writes": ToolKind.WRITE, "edits": ToolKind.EDIT,
    "edit": ToolKind.EDIT, "editor": ToolKind.EDIT, "patch": ToolKind.EDIT, "replace": ToolKind.EDIT,
    "multiedit": ToolKind.EDIT, "read": ToolKind.READ, "reader": ToolKind.READ, "view": ToolKind.READ,
    "cat": ToolKind.READ, "ls": ToolKind.LIST, "glob": ToolKind.GLOB, "grep": ToolKind.GREP, "ripgrep": ToolKind.GREP,
    "fetch": ToolKind.FETCH, "curl": ToolKind.FETCH,
}  # fmt: skip
_WEAK_VERBS: Final = {
    "create": ToolKind.WRITE, "put": ToolKind.WRITE, "new": ToolKind.WRITE, "rename": ToolKind.WRITE,
    "move": ToolKind.WRITE, "copy": ToolKind.WRITE, "upload": ToolKind.WRITE, "update": ToolKind.EDIT,
    "destroy": ToolKind.WRITE, "discard": ToolKind.WRITE, "purge": ToolKind.WRITE, "drop": ToolKind.WRITE,
    "download": ToolKind.WRITE, "store": ToolKind.WRITE, "export": ToolKind.WRITE, "dump": ToolKind.WRITE,
    "refactor": ToolKind.EDIT,
    "insert": ToolKind.EDIT, "modify": ToolKind.EDIT, "change": ToolKind.EDIT, "apply": ToolKind.EDIT,
    "get": ToolKind.READ, "open": ToolKind.READ, "show": ToolKind.READ, "load": ToolKind.READ,
    "list": ToolKind.LIST, "find": ToolKind.GLOB, "search": ToolKind.GREP,
}  # fmt: skip
_FILE_WORDS: Final = frozenset(
    ("file", "files", "fs", "filesystem", "disk", "path", "notebook", "code", "content", "contents", "lines", "line",
     "str", "string", "text", "diff", "directory", "dir", "folder", "document")
)  # fmt: skip
_NEUTRAL_WORDS: Final = frozenset(
    ("to", "in", "into", "from", "of", "at", "by", "on", "the", "a", "an", "or", "and", "with", "multi", "multiple",
     "many", "all", "local", "tool", "range", "block", "whole", "full", "raw", "safe", "user", "new", "existing",
     "async", "background", "command", "based", "v", "batch", "bulk")
)  # fmt: skip
_FETCH_WORDS: Final = frozenset(
    ("browse", "browser", "navigate", "http", "https", "download", "visit", "scrape", "crawl", "request", "web", "url",
     "webfetch", "open", "goto")
)  # fmt: skip
_PLACE_WORDS: Final = frozenset(
    ("container", "docker", "pod", "sandbox", "vm", "machine", "host", "remote", "ssh", "session", "unified", "system",
     "os")
)  # fmt: skip
"""Where something is executed: `container.exec`, `ssh_execute`."""
_AGENT_WORDS: Final = frozenset(("agent", "subagent", "subagents", "delegate"))
_START_WORDS: Final = frozenset(
    ("spawn", "run", "start", "invoke", "launch", "call", "new", "create", "use", "dispatch")
)


@lru_cache(maxsize=1024)
def is_path_name(name: str) -> bool:
    """Whether a field that no table has is a path by its words: `relative_path`, `outputFile`, `pathInProject`."""
    words = () if name in _TABLE_FIELDS else words_of(name)
    return bool(words) and (words[-1] in _PATH_ENDS or words[-2:] == ("file", "name") or words[:2] == ("path", "in"))


@lru_cache(maxsize=1024)
def is_command_name(name: str) -> bool:
    """Whether a field that no table has is a command by its words: `cmdline`, `command_to_run`, `bashScript`."""
    words = () if name in _TABLE_FIELDS else tuple(word for word in words_of(name) if not word.isdigit())
    if not words:
        return False
    if name in _COMMAND_NAMES or words[-1] in _COMMAND_ENDS or (words[-1] == "script" and words[0] in _SHELLS):
        return True
    return not _COMMAND_ENDS.isdisjoint(words) and _COMMAND_ENDS.union(_COMMAND_FILLERS).issuperset(words)


def is_command_field(name: str) -> bool:
    """Whether a shell reads this field of its call as a command."""
    return name in _COMMAND_FIELDS or name == "code" or is_command_name(_shorten(name))


def looks_like_path(name: str, value: Any) -> bool:
    """Whether a field that no table has is a path by its name, or by itself: `file:///x`."""
    if isinstance(value, str) and value.startswith("file:/"):
        return True
    return is_path_name(_shorten(name))


def known_fields(names: Iterable[Any]) -> tuple[str, ...]:
    """The fields that a guess depends on and a table has: the words of their names are not needed."""
    return tuple(sorted(_KNOWN_FIELDS.intersection(name for name in names if isinstance(name, str))))


def signal_fields(names: Iterable[Any]) -> tuple[str, ...]:
    """The fields that a guess depends on."""
    search = _SIGNAL_PART.search  # a call may have a hundred thousand fields, and their words take long to find
    return tuple(
        sorted(
            name
            for name in names
            if isinstance(name, str)
            and (search(name.lower()) or name in _KNOWN_FIELDS or not name.isascii())
            and _is_signal(name)
        )
    )


def _is_signal(name: str) -> bool:
    short = _shorten(name)
    return name in _KNOWN_FIELDS or is_path_name(short) or is_command_name(short)


def _shorten(name: str) -> str:
    """The beginning and the end of a long name: they tell what it is."""
    half = _MAX_NAME_CHARS // 2
    return name if len(name) <= _MAX_NAME_CHARS else f"{name[:half]}_{name[-half:]}"


def call_signals(input: Mapping[str, Any]) -> tuple[str, ...]:
    """What a guess depends on in the input of a call: its fields, and what some of them say."""
    signals = signal_fields(input)
    for name, value in input.items():
        if type(value) in _PLAIN_TYPES or (type(value) is str and value[:1] not in _SIGNAL_STARTS):
            continue
        if isinstance(value, str) and value.startswith("file:/") and isinstance(name, str):
            signals += (f"{name[:_MAX_NAME_CHARS]} path",)
        elif isinstance(name, str):
            inner = _inner_command(name, value)
            signals += () if inner is None else (f"{name[:_MAX_NAME_CHARS]}.{inner}",)
    for name in _OPERATION_FIELDS:
        verb = words_of(input[name])[:1] if isinstance(input.get(name), str) else ()
        if verb and (verb[0] in _VERBS or verb[0] in _WEAK_VERBS):
            signals += (_OPERATION + verb[0],)
    code = None if LANGUAGE_FIELDS.isdisjoint(input) else code_signal(input)
    return signals if code is None else (*signals, code)


def _inner_command(name: str, value: Any) -> str | None:
    """The field of a command within a field, at any depth: `{task: {command: …}}`, `{steps: [{run: …}]}`, also as JSON.

    Beyond the first level it looks into fields only whose names say that something is called.
    """
    todo, looked_at = [(name, value, 0)], 0
    while todo:
        name, value, depth = todo.pop()
        looked_at += 1
        if looked_at > _MAX_CONTAINERS:  # whatever they call, a guard holds
            return _COMMAND_FIELDS[0]
        is_call = not _CALL_WORDS.isdisjoint(words_of(name))
        if isinstance(value, str) and is_call:
            value = _decode_container(value)
        if isinstance(value, dict) and (is_call or depth == 0):
            found = _command_of(value) if is_call else _first(_COMMAND_FIELDS, value)
            if found is not None or depth > _MAX_CALL_DEPTH:
                return found or _COMMAND_FIELDS[0]
            todo += [(key, each, depth + 1) for key, each in value.items() if isinstance(key, str) and each]
        elif isinstance(value, (list, tuple)) and is_call:
            todo += [(name, each, depth + 1) for each in value if isinstance(each, (dict, list, tuple))]
    return None


def _command_of(fields: Mapping[Any, Any]) -> str | None:
    found = _first(_COMMAND_FIELDS, fields)
    if found is None and ("argv" in fields or isinstance(fields.get("run"), (str, list))):
        return _COMMAND_FIELDS[0]
    has_program = not _PROGRAM_FIELDS.isdisjoint(fields) and not _ARGUMENT_FIELDS.isdisjoint(fields)
    return _COMMAND_FIELDS[0] if found is None and has_program else found


def _decode_container(text: str) -> Any:
    """The list or mapping in a JSON text. One that is too large or too deep to read may call anything."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    if len(text) > _MAX_JSON_CHARS:
        return _ANY_CALL
    try:
        return json.loads(text)
    except RecursionError:
        return _ANY_CALL
    except ValueError:
        return None


def has_signals_in_values(input: Mapping[str, Any]) -> bool:
    """False only if `call_signals` depends on nothing but the names of the fields."""
    if not _FIELDS_WITH_SIGNALS.isdisjoint(input):
        return True
    for value in input.values():
        if type(value) is str:
            if value[:1] in _SIGNAL_STARTS and (value.startswith("file:/") or value.lstrip().startswith(("{", "["))):
                return True
        elif type(value) not in _PLAIN_TYPES:
            return True
    return False


def words_of(name: str) -> tuple[str, ...]:
    """The words of a name in any style: `run_terminal_cmd`, `localShell`, `launch-process`, `shell.run`."""
    name = _shorten(name)
    plain = name if name.isascii() else normalize("NFKC", without_invisible(name))
    return tuple(word.lower() for word in _WORD.findall(plain))


@lru_cache(maxsize=4096)
def guess_kind(
    name: str, fields: tuple[str, ...] = (), *, reads_only: bool = False, destroys: bool = False
) -> KindGuess | None:
    """None if neither its name nor its fields say anything.

    name: without the MCP server; fields: from signal_fields or call_signals; the flags: what an MCP server declares. A
    server's word adds a kind, but never takes one away.
    """
    words = words_of(name)
    operations = tuple(each.removeprefix(_OPERATION) for each in fields if each.startswith(_OPERATION))
    by_name = _guess_file_kind((*operations, *words), fields)
    command = _first(_COMMAND_FIELDS, fields) or next(filter(is_command_name, fields), None)
    if command and not _SHELL_WORDS.isdisjoint(words):  # also if it opens a terminal in a folder
        return KindGuess(ToolKind.SHELL, f"its field {command}")
    if by_name is not None and (path := _path_field(fields)):
        evidence = f"operation {operations[0]}" if operations else f"name ({', '.join(words)})"
        return KindGuess(by_name, f"its {evidence} and its field {path}")
    if command:
        return KindGuess(ToolKind.SHELL, f"its field {command}")
    if SHELL_CODE in fields:
        return KindGuess(ToolKind.SHELL, "the language of its code")
    if _names_a_shell(words) or (_runs_code(words) and OTHER_CODE not in fields):
        return KindGuess(ToolKind.SHELL, f"its name ({', '.join(words)})")
    if by_name is not None:
        return KindGuess(by_name, f"its name ({', '.join(words)})")
    return _guess_from_fields(words, fields, reads_only=reads_only, destroys=destroys)


def guess_from_server(server: str, tool: str) -> KindGuess | None:
    """A shell if the server's name says so and the tool's name runs or types something: `terminal` and `send`."""
    words = set(words_of(tool))
    is_shell = not _SHELLS.isdisjoint(words_of(server)) and not words.isdisjoint(_RUN_WORDS | _TYPE_WORDS)
    if not is_shell or not words.isdisjoint(_WATCH_WORDS):
        return None
    return KindGuess(ToolKind.SHELL, f"its name ({', '.join(words_of(tool))}) and its server's ({server})")


def _guess_from_fields(
    words: tuple[str, ...], fields: tuple[str, ...], *, reads_only: bool, destroys: bool
) -> KindGuess | None:
    path, content, url = _path_field(fields), _first(_CONTENT_FIELDS, fields), _first(_URL_FIELDS, fields)
    old = _first(_OLD_FIELDS, fields)
    if path and old:
        return KindGuess(ToolKind.EDIT, f"its fields {path} and {old}")
    if path and content:
        return KindGuess(ToolKind.WRITE, f"its fields {path} and {content}")
    if path and destroys:
        return KindGuess(ToolKind.WRITE, f"its field {path}, and its server calls it destructive")
    if path and reads_only:
        return KindGuess(ToolKind.READ, f"its field {path}, and its server calls it read-only")
    if url and not _FETCH_WORDS.isdisjoint(words):
        return KindGuess(ToolKind.FETCH, f"its name ({', '.join(words)}) and its field {url}")
    if not _AGENT_WORDS.isdisjoint(words) and (len(words) == 1 or not _START_WORDS.isdisjoint(words)):
        return KindGuess(ToolKind.AGENT, f"its name ({', '.join(words)})")
    return None


def code_signal(input: Mapping[str, Any]) -> str | None:
    """What a field such as `language` says about the code beside it."""
    for name in LANGUAGE_FIELDS.intersection(input):
        if isinstance(input[name], str):
            return SHELL_CODE if input[name].strip().lower() in _SHELL_LANGUAGES else OTHER_CODE
    return None


def _runs_code(words: tuple[str, ...]) -> bool:
    """`execute_code`: in which language, only its input says."""
    found = set(words)
    return "code" in found and not found.isdisjoint(_RUN_WORDS) and found <= _RUN_WORDS | _NEUTRAL_WORDS | {"code"}


def _names_a_shell(words: tuple[str, ...]) -> bool:
    found = {word for word in words if not word.isdigit()}
    if not found or not found.isdisjoint(_WATCH_WORDS):
        return False
    if not found.isdisjoint(_SHELLS):
        return True
    if not found.isdisjoint(_TYPE_WORDS) and not found.isdisjoint(_TYPED_WORDS) and found.isdisjoint(_BROWSER_WORDS):
        return True
    runs, commands = not found.isdisjoint(_RUN_WORDS), not found.isdisjoint(_COMMAND_WORDS)
    rest = found - _RUN_WORDS - _COMMAND_WORDS - _NEUTRAL_WORDS
    if commands and (runs or found <= {"command", "commands", "console"}):
        return True
    if not rest - _PLACE_WORDS and not found.isdisjoint(("exec", "execute", "executor")):
        return True
    return not rest and "run" in found


def _guess_file_kind(words: tuple[str, ...], fields: tuple[str, ...]) -> ToolKind | None:
    """A strong verb counts if the name has no other object than a file; any verb counts if the input has a path."""
    found = set(words)
    if {"web", "search"} <= found or "websearch" in found:
        return ToolKind.SEARCH
    verb = next((_VERBS[word] for word in words if word in _VERBS), None)
    weak = next((_WEAK_VERBS[word] for word in words if word in _WEAK_VERBS), None)
    if _path_field(fields):
        if found & {"list", "tree"} and not found & _VERBS.keys():
            return ToolKind.LIST
        return verb or weak
    rest = {word for word in found - _VERBS.keys() - _NEUTRAL_WORDS - _FILE_WORDS if not word.isdigit()}
    if verb is ToolKind.FETCH:
        return verb if not rest - _FETCH_WORDS else None
    if verb is not None:
        return verb if not rest - _WEAK_VERBS.keys() else None
    has_file = not found.isdisjoint(_FILE_WORDS - {"code", "text", "string", "content", "contents", "document"})
    return weak if weak is not None and has_file and not rest - _WEAK_VERBS.keys() else None


def _path_field(fields: tuple[str, ...]) -> str | None:
    return _first(_PATH_FIELDS, fields) or next(filter(is_path_name, fields), None)


def _first(names: tuple[str, ...], given: Container[str]) -> str | None:
    return next((name for name in names if name in given), None)

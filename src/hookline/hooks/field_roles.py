"""What a field of a shell's call is for, by the words of its name: no two tools name their fields alike."""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import Final

from hookline.hooks.kind_guess import is_command_field, words_of

_MAX_NAME_CHARS: Final = 256


class FieldRole(Enum):
    LINE = "a whole command, as text or a list of words"
    PROGRAM = "the program, whose arguments may stand elsewhere"
    ARGUMENTS = "arguments of a program that stands elsewhere"
    COMMANDS = "several commands, one after the other"
    TYPED = "what a program reads, or a person types"
    ENVIRONMENT = "variables"
    ENCODING = "how other fields are encoded"
    OTHER = "anything else"


_ARGUMENT_WORDS: Final = frozenset(
    ("args", "arg", "argument", "arguments", "argv", "parameters", "parameter", "params", "param", "flags", "flag", "options",
     "option", "opts", "opt", "switches", "switch", "operands", "operand", "positional", "positionals", "subcommand", "tail")
)  # fmt: skip
_ARGUMENT_NAMES: Final = frozenset(("more", "rest", "words", "argumentlist", "arglist", "paramlist", "tokens"))
_PROGRAM_NAMES: Final = frozenset(
    ("program", "executable", "exe", "binary", "bin", "entrypoint", "interpreter", "shell", "application", "programpath",
     "executablepath", "binarypath", "shellpath", "prog", "programname")
)  # fmt: skip
_LINE_NAMES: Final = frozenset(
    ("run", "exec", "execute", "script", "code", "bash", "line", "cli", "source", "sh", "launch", "spawn")
)
_COMMANDS_NAMES: Final = frozenset(
    ("steps", "step", "lines", "scripts", "tasks", "jobs", "pipeline", "pipelines", "stages", "sequence", "batch", "queue",
     "before", "after", "then", "setup", "teardown", "cleanup", "prepare", "init", "pre", "post", "finally", "prelude",
     "beforescript", "afterscript", "onsuccess", "onfailure", "onexit", "prerun", "postrun", "prehook", "posthook", "prefix")
)  # fmt: skip
_TYPED_NAMES: Final = frozenset(("input", "keys", "chars", "keystrokes", "stdin", "standardinput", "piped", "heredoc"))
_VARIABLE_WORDS: Final = frozenset(("env", "environ", "environment", "envs", "vars", "variables"))
_ENCODING_WORDS: Final = frozenset(("encoding", "encoded", "base", "b", "hex", "urlencoded"))
_IDENTIFIERS: Final = frozenset(("id", "ids", "timeout", "status", "type", "kind", "count", "limit", "pid"))


@lru_cache(maxsize=4096)
def _role_of(name: str) -> FieldRole:
    words = tuple(word for word in words_of(name) if not word.isdigit())
    joined = "".join(words)
    if not words or words[-1] in _IDENTIFIERS:
        return FieldRole.OTHER
    if words[-1] in _ARGUMENT_WORDS or joined in _ARGUMENT_NAMES:
        return FieldRole.ARGUMENTS
    if joined in _PROGRAM_NAMES:
        return FieldRole.PROGRAM
    if joined in _COMMANDS_NAMES or words[-1] in ("commands", "cmds"):
        return FieldRole.COMMANDS
    if joined in _TYPED_NAMES or "stdin" in words:
        return FieldRole.ENCODING if words[-1] in _ENCODING_WORDS else FieldRole.TYPED
    if not _VARIABLE_WORDS.isdisjoint(words):
        return FieldRole.ENVIRONMENT
    if joined in _LINE_NAMES or words[0] in ("script", "code") or is_command_field(name):
        return FieldRole.LINE
    return FieldRole.ENCODING if not _ENCODING_WORDS.isdisjoint(words) else FieldRole.OTHER


def role_of(name: object) -> FieldRole:
    """The role of a field. A name that is longer than any tool's is no name that a table has to remember."""
    if not isinstance(name, str):
        return FieldRole.OTHER
    return _role_of(name) if len(name) <= _MAX_NAME_CHARS else _role_of.__wrapped__(name)

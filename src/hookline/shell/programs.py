"""Programs that take arguments as code or run another program, as data for shell/injection.py."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_NO_MATCH: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """How an interpreter reads its arguments. After an option that no pattern matches, every argument is ambiguous."""

    code: re.Pattern[str]  # an option whose next word is code
    flags: re.Pattern[str] = _NO_MATCH  # an option without a value
    value_options: re.Pattern[str] = _NO_MATCH  # an option whose next word is its value
    assignment_options: re.Pattern[str] = _NO_MATCH  # an option whose next word is NAME=value
    stdin: re.Pattern[str] = _NO_MATCH  # an option that makes it read its code from stdin
    program_first: bool = False  # without such an option the first operand is code
    options_end: bool = True  # no options after the code or the first operand


@dataclass(frozen=True, slots=True)
class CommandWrapper:
    """A program that runs the command in its own arguments."""

    flags: str = ""  # letters of options without a value
    value_options: str = ""  # letters of options with a value
    operands: int = 0  # how many words come before the command

    def count_option_words(self, option: str) -> int | None:
        """How many words the option takes. None if it is unknown."""
        if option == "--" or _flag_pattern(self.flags).fullmatch(option):
            return 1
        if self.value_options and re.match(f"-[{self.value_options}].|--[a-z-]+=", option):
            return 1
        return 2 if self.value_options and re.fullmatch(f"-[{self.value_options}]", option) else None


def _flag_pattern(letters: str) -> re.Pattern[str]:
    return re.compile(f"-[{letters}]+") if letters else _NO_MATCH


_SHELL: Final = Interpreter(
    code=re.compile(r"-[abefhiklmnpruvxBCEHPT]*c[abefhiklmnpruvxBCEHPT]*"),
    flags=re.compile(r"-[abefhiklmnpruvxBCEHPT]+|--norc|--noprofile|--login|--posix"),
    value_options=re.compile(r"[-+][oO]"),
    stdin=re.compile(r"-[a-zA-Z]*s[a-zA-Z]*"),
)
_PYTHON: Final = Interpreter(
    code=re.compile(r"-[bBdEiIOPqsSuvx]*[cm]"),
    flags=re.compile(r"-[bBdEiIOPqsSuvx]+"),
    value_options=re.compile(r"-[WX]"),
)
_PERL: Final = Interpreter(
    code=re.compile(r"-[acnplwWtTuUsS0]*[eE]"),
    flags=re.compile(r"-[acnplwWtTuUsS0]+|-i(\.\w+)?|-M[\w:]+|-r\w+"),
    options_end=False,
)
_NODE: Final = Interpreter(
    code=re.compile(r"-e|-p|-pe|-r|--eval|--print|--require|--import|--loader|eval"),
    flags=re.compile(r"-c|--check|-i|--no-warnings|--trace-\w+"),
    options_end=False,
)
_PHP: Final = Interpreter(code=re.compile(r"-[rBREdFcz]"), flags=re.compile(r"-[lnqswa]+"), options_end=False)
_OTHER_INTERPRETER: Final = Interpreter(
    code=re.compile(r"-\w*[eEpxlr]|--?(?:eval|expr|ex|print|execute)"), options_end=False
)
_AWK: Final = Interpreter(
    code=re.compile(r"-[fEei]|--file|--source"),
    value_options=re.compile(r"-F"),
    assignment_options=re.compile(r"-v"),
    program_first=True,
)
_SED: Final = Interpreter(
    code=re.compile(r"-[nErsuz]*[ef]"),
    flags=re.compile(r"-[nErsuz]+|-i(\.\w+)?"),
    program_first=True,
    options_end=False,
)

INTERPRETERS: Final[dict[str, Interpreter]] = {
    **dict.fromkeys(("sh", "bash", "dash", "ash", "ksh", "ksh93", "mksh", "zsh", "rbash", "yash"), _SHELL),
    **dict.fromkeys(("python", "pypy", "ipython"), _PYTHON),
    **dict.fromkeys(("perl", "ruby"), _PERL),
    **dict.fromkeys(("node", "nodejs", "bun", "deno", "tsx", "ts-node"), _NODE),
    "php": _PHP,
    **dict.fromkeys(
        (
            "lua",
            "luajit",
            "R",
            "Rscript",
            "julia",
            "osascript",
            "elixir",
            "erl",
            "groovy",
            "scala",
            "ghc",
            "guile",
            "racket",
        ),
        _OTHER_INTERPRETER,
    ),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _AWK),
    **dict.fromkeys(("sed", "gsed"), _SED),
}

COMMAND_WRAPPERS: Final[dict[str, CommandWrapper]] = {
    "env": CommandWrapper(flags="i0v", value_options="uC"),
    "sudo": CommandWrapper(flags="AbEHKknPS", value_options="CDghprTtUu"),
    "doas": CommandWrapper(flags="n", value_options="Cu"),
    "timeout": CommandWrapper(flags="fpv", value_options="ks", operands=1),
    "nice": CommandWrapper(value_options="n"),
    "ionice": CommandWrapper(flags="t", value_options="cnpPu"),
    "nohup": CommandWrapper(),
    "setsid": CommandWrapper(flags="cfw"),
    "stdbuf": CommandWrapper(value_options="eio"),
    "time": CommandWrapper(flags="apqv", value_options="fo"),
    "chroot": CommandWrapper(operands=1),
    "xargs": CommandWrapper(flags="0oprtx", value_options="adEILnPs"),
    "exec": CommandWrapper(flags="cl", value_options="a"),
    "command": CommandWrapper(flags="p"),
    "builtin": CommandWrapper(),
    "strace": CommandWrapper(flags="cCdDfFhiqrtTvVwxy", value_options="abeEIoOpPsSuUX"),
    "unbuffer": CommandWrapper(flags="p"),
    "caffeinate": CommandWrapper(flags="dimsu", value_options="tw"),
}

# Programs that run another one, named somewhere among their arguments.
PROGRAM_RUNNERS: Final = frozenset(
    (
        *(
            "docker",
            "podman",
            "nerdctl",
            "kubectl",
            "lxc",
            "find",
            "fd",
            "npx",
            "bunx",
            "npm",
            "pnpm",
            "yarn",
            "corepack",
        ),
        *(
            "uv",
            "uvx",
            "poetry",
            "pipenv",
            "pdm",
            "hatch",
            "rye",
            "conda",
            "mamba",
            "mise",
            "asdf",
            "direnv",
            "nix",
            "bundle",
        ),
    )
)

# Builtins that never evaluate their arguments. Bash's other builtins may:
# `unset 'a[$(date)]'` runs date, and so do read, printf -v, declare, test -v and let.
HARMLESS_BUILTINS: Final = frozenset(
    (
        ":",
        "true",
        "false",
        "echo",
        "cd",
        "pwd",
        "pushd",
        "exit",
        "return",
        "kill",
        "wait",
        "umask",
        "type",
        "hash",
        "sleep",
    )
)
BUILTINS: Final = frozenset(
    (
        *(
            ".",
            "source",
            "eval",
            "let",
            "trap",
            "alias",
            "unalias",
            "unset",
            "read",
            "readonly",
            "declare",
            "typeset",
            "local",
        ),
        *(
            "mapfile",
            "readarray",
            "getopts",
            "bind",
            "complete",
            "compgen",
            "compopt",
            "enable",
            "shopt",
            "fc",
            "history",
        ),
        *(
            "jobs",
            "set",
            "shift",
            "bg",
            "fg",
            "disown",
            "suspend",
            "ulimit",
            "dirs",
            "popd",
            "caller",
            "logout",
            "times",
        ),
        *("help", "break", "continue"),
    )
)

# Programs that pass a word to a shell, local or remote, or whose own language can start programs.
CODE_PROGRAMS: Final = frozenset(
    (
        *(
            "ssh",
            "scp",
            "sftp",
            "mosh",
            "rsh",
            "su",
            "runuser",
            "watch",
            "parallel",
            "at",
            "batch",
            "crontab",
            "tmux",
            "screen",
        ),
        *(
            "script",
            "expect",
            "tclsh",
            "wish",
            "make",
            "gmake",
            "vim",
            "vi",
            "nvim",
            "view",
            "ex",
            "ed",
            "red",
            "emacs",
            "gdb",
        ),
        *(
            "lldb",
            "m4",
            "dc",
            "bc",
            "psql",
            "mysql",
            "mariadb",
            "sqlite3",
            "gnuplot",
            "octave",
            "matlab",
            "jshell",
            "irb",
        ),
        *(
            "xterm",
            "gnome-terminal",
            "entr",
            "fish",
            "csh",
            "tcsh",
            "pwsh",
            "powershell",
            "cmd",
            "cmd.exe",
            "busybox",
            "toybox",
        ),
        *(
            "nodemon",
            "concurrently",
            "hyperfine",
            "flock",
            "systemd-run",
            "nsenter",
            "unshare",
            "start-stop-daemon",
        ),
        *(
            "iex",
            "nix-shell",
            "runghc",
            "sbcl",
            "clisp",
            "ocaml",
            "scheme",
            "swipl",
            "socat",
            "ncat",
        ),
    )
)

# Variables whose values name programs, hold code or options, or are evaluated as arithmetic.
CODE_VARIABLES: Final = re.compile(
    r"PATH|IFS|ENV|PS[0-4]|PROMPT_COMMAND|SHELL|SHELLOPTS|CDPATH|EDITOR|VISUAL|PAGER|BROWSER|MAKEFLAGS|MAKEFILES|LESS\w*|MAIL\w*|"
    r"RANDOM|SRANDOM|SECONDS|LINENO|OPTIND|HIST\w*|FUNCNAME|DIRSTACK|EPOCH\w*|RUSTC?\w*|CARGO\w*|JAVA_TOOL_OPTIONS|_JAVA_OPTIONS|"
    r"(?:BASH|LD_|DYLD_|GIT_|SSH_|PYTHON|PERL|RUBY|GEM_|NODE_|NPM_|npm_|LUA_)\w*"
)

# Options of common programs whose value is a command.
CODE_OPTIONS: Final = re.compile(
    r"-exec|-execdir|-ok|-okdir|--exec|--eval|--to-command|--checkpoint-action|--use-compress-program|--rsh|--pager|--call"
)


def program_name(path: str) -> str:
    """`/usr/bin/python3.12` → `python`."""
    name = path.rsplit("/", 1)[-1]
    return re.sub(r"[0-9.]+$", "", name) if re.match(r"(?:python|pypy|ipython|perl|ruby|php|lua)[0-9.]", name) else name

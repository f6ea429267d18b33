"""Programs that take arguments as code or run another program, as data for shell/code_arguments.py."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern

_NO_MATCH: Final = lazy_pattern(r"(?!)")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """How an interpreter reads its arguments. After an option that no pattern matches, every argument is ambiguous."""

    code: re.Pattern[str]  # an option whose next word is code
    flags: re.Pattern[str] = _NO_MATCH  # an option without a value
    subcommands: re.Pattern[str] = _NO_MATCH  # a first word that is read like an option
    checks: re.Pattern[str] = _NO_MATCH  # an option that makes it check a file instead of running it
    value_options: re.Pattern[str] = _NO_MATCH  # an option whose next word decides what is loaded
    assignment_options: re.Pattern[str] = _NO_MATCH  # an option whose next word is NAME=value
    data_options: Mapping[str, int] = field(default_factory=dict)  # options and how many words of data they take
    program_first: bool = False  # without such an option the first operand is code
    permutes: bool = False  # it also reads options after its operands
    code_ends_options: bool = False


@dataclass(frozen=True, slots=True)
class CommandWrapper:
    """A program that runs the command in its own arguments."""

    flags: str = ""  # letters of options without a value
    value_options: str = ""  # letters of options with a value
    operands: int = 0  # how many words come before the command
    sets_variables: bool = False  # NAME=value may come before the command

    def count_option_words(self, option: str) -> int | None:
        """How many words the option takes. None if it is unknown."""
        if option == "--" or (self.flags and re.fullmatch(f"-[{self.flags}]+", option)):
            return 1
        if self.value_options and re.match(f"-[{self.value_options}].|--[a-z-]+=", option):
            return 1
        return 2 if self.value_options and re.fullmatch(f"-[{self.value_options}]", option) else None


SHELLS: Final = frozenset(("sh", "bash", "dash", "ash", "ksh", "ksh93", "mksh", "zsh", "rbash", "yash"))
SHELL_VALUE_OPTION: Final = lazy_pattern(r"[-+][A-Za-z]*[oO]|--rcfile|--init-file")  # `bash -euo pipefail`

_PYTHON: Final = Interpreter(
    code=lazy_pattern(r"-[bBdEhiIOPqRsSuvVx]*[cm]"),
    flags=lazy_pattern(r"-[bBdEhiIOPqRsSuvVx]+|-[WX].+"),
    value_options=lazy_pattern(r"-[WX]"),
    code_ends_options=True,
)
_PERL: Final = Interpreter(
    code=lazy_pattern(r"-[aclnpswtTuUWS0]*[eE]"),
    flags=lazy_pattern(r"-[alnpswtTuUWS0]+|-i(\.\w+)?|-M[\w:]+|-r\w+|-I.+"),
    checks=lazy_pattern(r"-[w]*c[w]*"),
)
_NODE: Final = Interpreter(
    code=lazy_pattern(r"-e|-p|-pe|--eval|--print|eval"),
    flags=lazy_pattern(r"-i|--no-warnings|--trace-[a-z-]+|--[a-z-]+=.*|run"),
    value_options=lazy_pattern(r"-r|--require|--import|--loader|--experimental-loader"),
    subcommands=lazy_pattern(r"eval|run|check|fmt|lint"),
    checks=lazy_pattern(r"-c|--check|check|fmt|lint"),
)
_PHP: Final = Interpreter(
    code=lazy_pattern(r"-[rBREF]"),
    flags=lazy_pattern(r"-[nqa]+"),
    checks=lazy_pattern(r"-[lsw]"),
    value_options=lazy_pattern(r"-[dcz]"),
)
_OTHER_INTERPRETER: Final = Interpreter(
    code=lazy_pattern(r"-\w*[eEpxr]|--?(?:eval|expr|ex|print|execute)"), value_options=lazy_pattern(r"-l")
)
_AWK: Final = Interpreter(
    code=lazy_pattern(r"-[fEe]|--file|--source|--exec"),
    value_options=lazy_pattern(r"-[il]|--include|--load"),
    assignment_options=lazy_pattern(r"-v|--assign"),
    data_options={"-F": 1, "--field-separator": 1},
    program_first=True,
)
_SED: Final = Interpreter(
    code=lazy_pattern(r"-[nErsuz]*[ef]|--expression|--file"),
    flags=lazy_pattern(r"-[nErsuz]+|-i(\.\w+)?|--quiet|--silent|--in-place|--regexp-extended|--posix|--debug"),
    program_first=True,
    permutes=True,
)
_JQ: Final = Interpreter(
    code=lazy_pattern(r"-f|--from-file"),
    value_options=lazy_pattern(r"-L"),
    flags=lazy_pattern(r"-[nRsrjaSCMce]+|--[a-z-]+"),
    data_options={"--arg": 2, "--argjson": 2, "--slurpfile": 2, "--rawfile": 2, "--indent": 1},
    program_first=True,
)

INTERPRETERS: Final[dict[str, Interpreter]] = {
    **dict.fromkeys(("python", "pypy", "ipython"), _PYTHON),
    **dict.fromkeys(("perl", "ruby"), _PERL),
    **dict.fromkeys(("node", "nodejs", "bun", "deno", "tsx", "ts-node"), _NODE),
    "php": _PHP,
    **dict.fromkeys(
        (
            *("lua", "luajit", "R", "Rscript", "julia", "osascript", "elixir", "erl", "groovy", "scala"),
            *("ghc", "guile", "racket"),
        ),
        _OTHER_INTERPRETER,
    ),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), _AWK),
    **dict.fromkeys(("sed", "gsed"), _SED),
    **dict.fromkeys(("jq", "yq", "gojq", "jaq"), _JQ),
}
RUNNING_MODULES: Final = frozenset(("timeit", "pdb", "trace", "cProfile", "profile", "runpy", "code", "doctest"))
"""Modules for `python -m` that run their arguments."""

COMMAND_WRAPPERS: Final[dict[str, CommandWrapper]] = {
    "env": CommandWrapper(flags="i0v", value_options="uC", sets_variables=True),
    "sudo": CommandWrapper(flags="AbEHKknPS", value_options="CDghprTtUu", sets_variables=True),
    "doas": CommandWrapper(flags="n", value_options="Cu", sets_variables=True),
    "timeout": CommandWrapper(flags="fpv", value_options="ks", operands=1),
    "gtimeout": CommandWrapper(flags="fpv", value_options="ks", operands=1),
    "nice": CommandWrapper(value_options="n"),
    "ionice": CommandWrapper(flags="t", value_options="cnpPu"),
    "chrt": CommandWrapper(flags="abdfiorR", operands=1),
    "taskset": CommandWrapper(operands=1),
    "nohup": CommandWrapper(),
    "setsid": CommandWrapper(flags="cfw"),
    "stdbuf": CommandWrapper(value_options="eio"),
    "time": CommandWrapper(flags="apqv", value_options="fo"),
    "chroot": CommandWrapper(operands=1),
    "gosu": CommandWrapper(operands=1),
    "su-exec": CommandWrapper(operands=1),
    "xargs": CommandWrapper(flags="0oprtx", value_options="adEILnPs"),
    "exec": CommandWrapper(flags="cl", value_options="a"),
    "command": CommandWrapper(flags="p"),
    "builtin": CommandWrapper(),
    "noglob": CommandWrapper(),
    "strace": CommandWrapper(flags="cCdDfFhiqrtTvVwxy", value_options="abeEIoOpPsSuUX"),
    "ltrace": CommandWrapper(flags="cCfhiLrStTV", value_options="aADeFlnopsuwx"),
    "unbuffer": CommandWrapper(flags="p"),
    "caffeinate": CommandWrapper(flags="dimsu", value_options="tw"),
    "flock": CommandWrapper(flags="ensuxFov", value_options="wE", operands=1),
    "fakeroot": CommandWrapper(),
    "eatmydata": CommandWrapper(),
    "dumb-init": CommandWrapper(flags="csv"),
    "tini": CommandWrapper(flags="gsvw"),
    "catchsegv": CommandWrapper(),
    "valgrind": CommandWrapper(flags="qv", value_options=""),
}

PACKAGE_RUNNERS: Final = frozenset(("npx", "bunx", "uvx", "pnpx"))
"""Programs whose first operand is the program to run."""
PACKAGE_RUNNER_FLAGS: Final = frozenset(("-y", "--yes", "-q", "--quiet", "--no", "--no-install", "--bun", "--"))
_PYTHON_RUNNERS: Final = ("uv", "pipx", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba", "micromamba")
RUNNER_SUBCOMMANDS: Final[Mapping[str, frozenset[str]]] = {
    **dict.fromkeys((*_PYTHON_RUNNERS, "go", "op", "doppler"), frozenset(("run",))),
    **dict.fromkeys(("npm", "pnpm", "yarn", "bun"), frozenset(("exec", "x", "dlx", "run", "run-script"))),
    **dict.fromkeys(("bundle", "mise", "asdf", "rbenv", "pyenv"), frozenset(("exec",))),
}
"""Programs that run their next operand after one of these subcommands."""
PROGRAM_RUNNERS: Final = PACKAGE_RUNNERS | frozenset(
    (
        *("docker", "podman", "nerdctl", "kubectl", "lxc", "fd", "npm", "pnpm", "yarn", "corepack", "pipx"),
        *("uv", "poetry", "pipenv", "pdm", "hatch", "rye", "conda", "mamba", "mise", "asdf", "direnv", "bundle"),
    )
)
"""Programs that run another one, named somewhere among their arguments."""

ARGUMENT_PROGRAMS: Final = frozenset(
    (
        *(
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
        ),
        *("sleep", "cat", "ls", "grep", "egrep", "fgrep", "rg", "ag", "ack", "logger", "notify-send", "curl", "wget"),
    )
)
"""Programs and builtins that never run an argument, even one that names an interpreter."""

CODE_BUILTINS: Final = frozenset(
    (
        *(".", "source", "eval", "let", "trap", "unalias", "unset", "read", "mapfile", "readarray", "getopts", "bind"),
        *("complete", "compgen", "compopt", "enable", "fc", "history"),
    )
)
"""Builtins that may evaluate an argument: `unset 'a[$(date)]'` runs date in bash."""

EVALUATORS: Final = frozenset(
    (
        *("compgen", "complete", "let", "test", "[", "[[", "declare", "typeset", "local", "export", "readonly"),
        *("printf", "read", "unset", "mapfile", "readarray", "wait"),
    )
)
"""Builtins that expand what is written in an argument: `test -v 'a[$(date)]'`, `compgen -W '$(date)'`."""

CODE_PROGRAMS: Final = frozenset(
    (
        *("ssh", "scp", "sftp", "mosh", "rsh", "su", "runuser", "watch", "parallel", "at", "batch", "crontab", "tmux"),
        *(
            "screen",
            "script",
            "expect",
            "tclsh",
            "wish",
            "make",
            "gmake",
            "just",
            "vim",
            "vi",
            "nvim",
            "view",
            "ex",
            "ed",
        ),
        *("red", "emacs", "gdb", "lldb", "m4", "dc", "bc", "psql", "mysql", "mariadb", "sqlite3", "duckdb", "gnuplot"),
        *("octave", "matlab", "jshell", "irb", "xterm", "gnome-terminal", "entr", "fish", "csh", "tcsh", "pwsh", "nu"),
        *("powershell", "cmd", "cmd.exe", "busybox", "toybox", "nodemon", "concurrently", "hyperfine", "systemd-run"),
        *("nsenter", "unshare", "start-stop-daemon", "iex", "nix-shell", "nix", "runghc", "sbcl", "clisp", "ocaml"),
        *("scheme", "swipl", "socat", "ncat", "mongo", "mongosh", "redis-cli", "xonsh", "elvish", "bwrap", "firejail"),
        *("capsh", "sg", "newgrp", "xvfb-run", "dbus-run-session", "setarch", "linux32", "linux64", "uname26"),
        *("prlimit", "setpriv", "run-parts", "heaptrack", "nocache", "watchexec", "reflex", "perf", "ansible"),
    )
)
"""Programs that pass a word to a shell, local or remote, or whose own language can start programs."""

CODE_OPTIONS: Final = lazy_pattern(
    r"-exec|-execdir|-ok|-okdir|--exec|--exec-batch|--eval|--to-command|--checkpoint-action|--use-compress-prog\w*|"
    r"--rsh|--rsync-path|--rsh-command|--rmt-command|--info-script|--new-volume-script|--pager|--call|"
    r"--compress-program|--upload-pack|--receive-pack|--extcmd|--open-files-in-pager|--unzip-command|--init-command"
)
"""Options of common programs whose value is a command."""
CODE_OPTIONS_BY_PROGRAM: Final[Mapping[str, re.Pattern[str]]] = {
    "tar": lazy_pattern(r"-[IF].*"),
    "rsync": lazy_pattern(r"-\w*e"),
    "fd": lazy_pattern(r"-[xX].*"),
    "man": lazy_pattern(r"-[PH].*"),
    "zip": lazy_pattern(r"-TT"),
    "split": lazy_pattern(r"--filter"),
    "rg": lazy_pattern(r"--pre"),
    "rake": lazy_pattern(r"-[eEp]|--execute(?:-print|-continue)?"),
    "less": lazy_pattern(r"\+.*"),
    "docker": lazy_pattern(r"--entrypoint"),
    **dict.fromkeys(("npx", "npm", "pnpm"), lazy_pattern(r"-c")),
    "flock": lazy_pattern(r"-c|--command"),
    "java": lazy_pattern(r"-jar|-cp|-classpath|--class-path|-m|--module|-p|--module-path|-javaagent.*|-agent\w+.*"),
    **dict.fromkeys(("gcc", "g++", "cc", "c++", "clang", "clang++"), lazy_pattern(r"-wrapper|-B.*|-fplugin.*|-specs")),
    "wget": lazy_pattern(r"--use-askpass|--config"),
    "curl": lazy_pattern(r"-K|--config"),
    "pytest": lazy_pattern(r"-[pc]|--rootdir|--confcutdir|--override-ini|-o"),
    "cargo": lazy_pattern(r"--config"),
    "openssl": lazy_pattern(r"-engine|-provider|-provider-path|-config"),
}
EXEC_OPTION: Final = lazy_pattern(r"-exec|-execdir|-ok|-okdir|--exec|--exec-batch|-x|-X")
"""Options of find and fd after which a command follows."""
GIT_CODE_COMMANDS: Final = frozenset(("config", "bisect", "filter-branch", "difftool", "mergetool", "upload-pack"))
GIT_COMMANDS_WITH_CODE_OPTIONS: Final = frozenset(("clone", "fetch", "pull", "ls-remote", "grep", "rebase"))
GIT_CODE_OPTIONS: Final = lazy_pattern(r"-c|--config-env|--exec-path|--upload-pack|-u|-x|-O.*|--config")

CODE_VARIABLES: Final = lazy_pattern(
    # shells and the system's loader
    r"PATH|IFS|ENV|PS[0-4]|PROMPT_COMMAND|SHELL|SHELLOPTS|CDPATH|FPATH|ZDOTDIR|HOME|XDG_\w+|INPUTRC|HIST\w*|MAIL\w*|"
    r"RANDOM|SRANDOM|SECONDS|LINENO|OPTIND|FUNCNAME|DIRSTACK|EPOCH\w*|BASH.*|(?:LD|DYLD)_\w+|GLIBC_TUNABLES|GCONV_PATH|"
    r"LOCPATH|NLSPATH|TERMINFO\w*|TERMCAP|COMSPEC|"
    # interpreters and their package managers
    r"(?:PYTHON|PERL|RUBY|LUA|JULIA_|ERL_|PHP|R_|NODE_|NPM_|npm_|YARN_|PNPM_|BUN_|DENO_|GEM_|BUNDLE_|PIP_|UV_)\w*|"
    r"AWKPATH|AWKLIBPATH|CLASSPATH|_JAVA_OPTIONS|J\w*_OPTIONS|\w+_OPTS|\w+_OPTIONS|(?:DOTNET|CORECLR|COMPLUS|MONO)_\w+|PSModulePath|"
    # programs that start others, or load a configuration that does
    r"\w*EDITOR|VISUAL|\w*PAGER|BROWSER|LESS\w*|EXINIT|VIM\w*|(?:GIT|SSH|SVN|HG|CVS)_\w+|HGRCPATH|\w+_RSH|\w+_ASKPASS|"
    r"GNUMAKEFLAGS|MAKE\w*|CMAKE_\w+|CC|CXX|CPP|LD|AR|AS|\w*CFLAGS|LDFLAGS|PKG_CONFIG\w*|RUST\w*|CARGO\w*|GO(?:FLAGS|ROOT|PATH|TOOLCHAIN)|"
    r"\w+_(?:PRELOAD|WRAPPER|STARTUP|COMMAND|PLUGINS?|MODULES)|OPENSSL_\w+|KUBECONFIG|AWS_CONFIG_FILE|DOCKER_CONFIG|ANSIBLE_\w+|"
    r"QT_PLUGIN_PATH|GIO_MODULE_DIR|GI_TYPELIB_PATH"
)
"""Variables whose values name programs, hold code or options, or are evaluated as arithmetic."""


_VERSIONED: Final = lazy_pattern(
    r"(?:python|pypy|ipython|perl|ruby|php|lua|luajit|node|nodejs|bash|zsh|ksh|gawk|mawk|guile|julia|elixir)[-0-9.]+"
)


_LOADER: Final = lazy_pattern(r"ld(?:64|-linux[\w.-]*|-musl[\w.-]*|-[\d.]+)?\.so(?:\.\d+)*")
"""The system's loader, which runs the program that it is given."""


def program_name(path: str) -> str:
    """`/usr/bin/python3.12` → `python`."""
    name = path.rsplit("/", 1)[-1]
    if name == "exe" and path.startswith("/proc/"):  # the shell itself
        return "sh"
    if name.startswith("ld") and _LOADER.fullmatch(name):
        return "ld.so"
    return re.sub(r"[-0-9.]+$", "", name) if _VERSIONED.fullmatch(name) else name

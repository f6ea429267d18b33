"""Programs that run a command from their own arguments, and how the command stands there.

One table for all of them: `sudo`, `timeout`, `xargs`, `find -exec`, `npx`, `docker run`, `ssh`, `tmux` and the like. Where an
option is not known, every word after it may begin the command: it is for matching, and reads more rather than less.
"""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum, auto
from itertools import pairwise
from typing import Final

from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern
from hookline.shell.expansion import mark_pattern
from hookline.shell.filters import MADE_TEXT
from hookline.shell.grammar import ASSIGNMENT, HAS_UNKNOWN, UNKNOWN, UNKNOWN_WORDS, UNREAD
from hookline.shell.programs import COMMAND_WRAPPERS, SHELLS, CommandWrapper, program_name

_MAX_POSITIONS: Final = 40  # at which a command may begin
_FOUND_NAME: Final = lazy_pattern(r"[\w.@%+=:,*?-]*\w[\w.@%+=:,*?-]*", re.ASCII)
_NO_OPTIONS: Final = CommandWrapper()


class Form(Enum):
    """How the command stands among the arguments."""

    WORDS = auto()  # its words: `nice git push`
    SHELL_TEXT = auto()  # words that are joined and given to a shell: `ssh host git push`
    EACH_SHELL_TEXT = auto()  # every operand is a command of its own: `concurrently 'npm start' 'npm test'`
    KEYS = auto()  # text that is typed into a shell: `tmux send-keys 'git push' Enter`


@dataclass(frozen=True, slots=True)
class Wrapper:
    """One way in which a program runs a command."""

    after: tuple[str, ...] = ()  # the subcommands before it; `a|b` is one of them
    form: Form = Form.WORDS
    options: CommandWrapper = _NO_OPTIONS
    operands: int = 0  # words before the command
    code_options: re.Pattern[str] | None = None  # options whose value is shell text
    word_options: frozenset[str] = frozenset()  # options whose value is the program
    run_options: frozenset[str] = frozenset()  # options after which the command stands, up to `;` or `+`
    except_for: frozenset[str] = frozenset()  # first words that are a subcommand of its own
    only_options: bool = False  # nothing but the options above makes it run a command
    after_dashes: bool = False  # the command stands after `--`, if there is one


@dataclass(frozen=True, slots=True)
class InnerCommand:
    words: tuple[str, ...] = ()
    code: str | None = None  # shell text instead of words
    positionals: tuple[str, ...] | None = None  # `"$@"` in that text


def limit_commands(commands: Iterable[InnerCommand], most: int) -> Iterator[InnerCommand]:
    """Each of them once. If there are too many to read them all, the rest may be any command."""
    found = set[InnerCommand]()
    for command in commands:
        if command in found:
            continue
        if len(found) == most:
            yield InnerCommand(code=MADE_TEXT)
            return
        found.add(command)
        yield command


def _argv(flags: str = "", value_options: str = "", operands: int = 0) -> Wrapper:
    return Wrapper(options=CommandWrapper(flags=flags, value_options=value_options), operands=operands)


_CODE: Final = lazy_pattern(r"-\w*c|--(?:session-)?command")
_PLAIN: Final = _argv()
_PACKAGE: Final = Wrapper(code_options=lazy_pattern(r"-c|--call|--shell-mode"))
_RUN: Final = Wrapper(after=("run",))
_EXEC: Final = Wrapper(after=("exec|x",))
_EXEC_RUN: Final = (_RUN, _EXEC)
_CONTAINER: Final = (
    Wrapper(after=("run|create",), operands=1),
    Wrapper(after=("exec",), operands=1),
    Wrapper(after=("run|create",), word_options=frozenset(("--entrypoint",)), operands=1),
    Wrapper(after=("container|machine", "run|exec|create|ssh"), operands=1),
    Wrapper(after=("compose", "run|exec"), operands=1),
)
_FIND: Final = Wrapper(run_options=frozenset(("-exec", "-execdir", "-ok", "-okdir")))
_FD: Final = Wrapper(run_options=frozenset(("-x", "-X", "--exec", "--exec-batch")))
_CALL: Final = lazy_pattern(r"-c|--call|--shell-mode")
_BINARY: Final = Wrapper(
    except_for=frozenset(
        (
            *(
                "add",
                "install",
                "i",
                "ci",
                "remove",
                "rm",
                "uninstall",
                "un",
                "unlink",
                "link",
                "ln",
                "update",
                "up",
                "upgrade",
            ),
            *(
                "outdated",
                "audit",
                "why",
                "list",
                "ls",
                "info",
                "view",
                "init",
                "create",
                "run",
                "run-script",
                "test",
                "t",
                "start",
            ),
            *(
                "stop",
                "restart",
                "build",
                "dev",
                "publish",
                "pack",
                "login",
                "logout",
                "whoami",
                "config",
                "cache",
                "exec",
                "dlx",
            ),
            *(
                "x",
                "store",
                "prune",
                "rebuild",
                "import",
                "fetch",
                "patch",
                "patch-commit",
                "deploy",
                "env",
                "setup",
                "root",
                "bin",
            ),
            *(
                "version",
                "help",
                "workspace",
                "workspaces",
                "global",
                "dedupe",
                "node",
                "npm",
                "plugin",
                "set",
                "get",
                "pm",
                "repl",
            ),
        )
    )
)
_JAVASCRIPT: Final = (
    _BINARY,
    Wrapper(after=("exec|x|dlx",), code_options=_CALL),
    Wrapper(after=("workspace|workspaces|foreach",), except_for=frozenset(("foreach", "run"))),
)
_OPTIONS_WITH_CODE: Final = Wrapper(code_options=_CODE)

WRAPPERS: Final[dict[str, tuple[Wrapper, ...]]] = {
    **{
        name: (Wrapper(options=wrapper, operands=wrapper.operands),)
        for name, wrapper in COMMAND_WRAPPERS.items()
    },
    **dict.fromkeys(("busybox", "toybox", "noglob", "nocorrect", "fakeroot", "-", "coproc", "chpst", "rlwrap", "chronic", "ts", "arch", "rtk", "shx", "cross-env", "cross-env-shell"), (_PLAIN,)),
    **dict.fromkeys(
        ("unshare", "nsenter", "systemd-run", "systemd-inhibit", "pkexec", "run0", "bwrap", "firejail", "proot", "setpriv"),
        (_PLAIN,),
    ),
    **dict.fromkeys(
        ("cpulimit", "numactl", "dbus-run-session", "xvfb-run", "start-stop-daemon", "gtime", "catchsegv", "entr", "wsl"),
        (_PLAIN,),
    ),
    **dict.fromkeys(("linux32", "linux64", "i386", "x86_64", "uname26", "heaptrack", "nocache", "reflex"), (_PLAIN,)),
    "dotenv": (_PLAIN, *_EXEC_RUN),
    **dict.fromkeys(("proxychains", "proxychains4", "torsocks", "torify", "tsocks", "daemonize", "cgexec"), (_PLAIN,)),
    **dict.fromkeys(
        ("gosu", "su-exec", "taskset", "envdir", "setuidgid", "schroot", "choom", "faketime", "lockf", "dtach", "abduco"),
        (_argv(operands=1), _PLAIN),
    ),
    "ld.so": (_PLAIN,),
    "runcon": (_argv(operands=1), _PLAIN),
    "guix": (Wrapper(after=("shell|environment",), after_dashes=True),),
    "zip": (Wrapper(code_options=lazy_pattern(r"-TT|--unzip-command"), only_options=True),),
    "gh": (Wrapper(after=("alias", "set|import"), form=Form.EACH_SHELL_TEXT),),
    "devbox": (_RUN,),
    "setarch": (_argv(operands=1), _PLAIN),
    "tox": (Wrapper(after=("exec|e",), after_dashes=True),),
    "adb": (Wrapper(after=("shell",), form=Form.SHELL_TEXT),),
    "multipass": (Wrapper(after=("exec",), operands=1),),
    "just": (Wrapper(run_options=frozenset(("--command", "-c"))),),
    "split": (Wrapper(code_options=lazy_pattern(r"--filter"), only_options=True),),
    "sort": (Wrapper(code_options=lazy_pattern(r"--compress-prog\w*"), only_options=True),),
    "capsh": (_OPTIONS_WITH_CODE, Wrapper(after_dashes=True, code_options=_CODE)),
    "gdb": (Wrapper(run_options=frozenset(("--args", "-args"))),),
    "chrt": (_argv("abefimoprRv", operands=1),),
    "chroot": (_argv(operands=1),),
    "prlimit": (_PLAIN,),
    "perf": (Wrapper(after=("stat|record|trace|mem|c2c",)),),
    "su": (_OPTIONS_WITH_CODE,),
    "sg": (_OPTIONS_WITH_CODE, Wrapper(form=Form.SHELL_TEXT, operands=1)),
    "script": (_OPTIONS_WITH_CODE, Wrapper(after_dashes=True)),
    "runuser": (_OPTIONS_WITH_CODE, _argv("fl", "ugG")),
    "flock": (_OPTIONS_WITH_CODE, _argv("senuxo", "wE", operands=1)),
    "watch": (Wrapper(form=Form.SHELL_TEXT, options=CommandWrapper(flags="bcdegprtwx", value_options="nqs")),),
    **dict.fromkeys(
        ("ssh", "autossh", "slogin", "mosh", "sshpass"),
        (
            Wrapper(
                form=Form.SHELL_TEXT,
                options=CommandWrapper(flags="46AaCfGgKkMNnqsTtVvXxYy", value_options="BbcDEeFIiJLlmOopQRSWw"),
                operands=1,
            ),
            _PLAIN,
        ),
    ),
    "vagrant": (Wrapper(after=("ssh",), code_options=_CODE),),
    "parallel": (Wrapper(form=Form.SHELL_TEXT, options=CommandWrapper(flags="0kmqtuvX", value_options="adEIjLNnPS")),),
    "rush": (Wrapper(form=Form.EACH_SHELL_TEXT),),
    **dict.fromkeys(("hyperfine", "concurrently", "npm-run-all", "nodemon", "watchexec"), (Wrapper(form=Form.EACH_SHELL_TEXT), _PLAIN)),
    "tmux": (
        Wrapper(after=("send-keys|send",), form=Form.KEYS),
        Wrapper(
            after=("new-session|new|new-window|neww|split-window|splitw|respawn-pane|respawnp|respawn-window|respawnw|run-shell|run|if-shell|if|popup|display-popup|pipe-pane|pipep",),
            form=Form.EACH_SHELL_TEXT,
        ),
        Wrapper(
            after=("new-session|new|new-window|neww|split-window|splitw|respawn-pane|respawnp|respawn-window|respawnw|popup|display-popup",)
        ),
    ),
    "screen": (Wrapper(after=("stuff",), form=Form.KEYS), Wrapper(form=Form.KEYS, run_options=frozenset(("stuff",))), _PLAIN),
    "zellij": (_RUN,),
    "find": (_FIND,),
    **dict.fromkeys(("fd", "fdfind"), (_FD,)),
    **dict.fromkeys(("npx", "bunx", "pnpx", "uvx"), (_PACKAGE,)),
    **dict.fromkeys(("pnpm", "yarn", "bun"), _JAVASCRIPT),
    "npm": (Wrapper(after=("exec|x",), code_options=_CALL),),
    "uv": (_RUN, Wrapper(after=("tool", "run"))),
    **dict.fromkeys(("poetry", "pipenv", "pdm", "hatch", "rye", "pipx", "pixi", "dotenvx", "op", "doppler"), _EXEC_RUN),
    **dict.fromkeys(("conda", "mamba", "micromamba", "toolbox", "snap", "infisical"), (_RUN,)),
    **dict.fromkeys(("bundle", "mise", "rbenv", "pyenv", "asdf", "nodenv", "rtx", "opam", "stack", "corepack", "volta"), _EXEC_RUN),
    **dict.fromkeys(("direnv", "aws-vault", "chamber"), (Wrapper(after=("exec",), operands=1),)),
    "flatpak": (_RUN, Wrapper(after=("run",), word_options=frozenset(("--command",)))),
    "distrobox": (Wrapper(after=("enter",), after_dashes=True),),
    **dict.fromkeys(("docker", "podman", "nerdctl"), _CONTAINER),
    "podman-compose": (Wrapper(after=("run|exec",), operands=1),),
    "docker-compose": (Wrapper(after=("run|exec",), operands=1),),
    **dict.fromkeys(("kubectl", "oc", "lxc", "incus", "machinectl"), (Wrapper(after=("exec|run|debug|shell",), operands=1), Wrapper(after=("exec|run|debug|shell",), after_dashes=True))),
    **dict.fromkeys(("nix-shell",), (Wrapper(code_options=lazy_pattern(r"--run|--command")),)),
    "nix": (Wrapper(after=("develop|shell",), run_options=frozenset(("-c", "--command"))),),
    "git": (
        Wrapper(after=("bisect", "run")),
        Wrapper(after=("submodule", "foreach"), form=Form.SHELL_TEXT),
        Wrapper(after=("rebase",), code_options=lazy_pattern(r"-x|--exec")),
        Wrapper(after=("filter-branch",), code_options=lazy_pattern(r"--\w+(?:-\w+)*-filter|--setup")),
        Wrapper(after=("difftool",), code_options=lazy_pattern(r"-x|--extcmd")),
        Wrapper(after=("grep",), code_options=lazy_pattern(r"-O|--open-files-in-pager"), only_options=True),
    ),
    "man": (Wrapper(code_options=lazy_pattern(r"-[PH]|--pager|--html"), only_options=True),),
    "sail": (_PLAIN,),
    "symfony": (Wrapper(after=("console|php|composer",)),),
    "rsync": (Wrapper(code_options=lazy_pattern(r"-\w*e|--rsh|--rsync-path"), only_options=True),),
    "tar": (Wrapper(code_options=lazy_pattern(r"--to-command|--checkpoint-action|-I|--use-compress-program")),),
}  # fmt: skip
"""Each program with the ways in which it runs a command."""

RUNNERS: Final = frozenset(
    (
        *(
            "npx",
            "bunx",
            "pnpx",
            "uvx",
            "npm",
            "pnpm",
            "yarn",
            "bun",
            "uv",
            "poetry",
            "pipenv",
            "pdm",
            "hatch",
            "rye",
            "pipx",
        ),
        *("pixi", "dotenv", "op", "doppler", "conda", "mamba", "micromamba", "flatpak", "toolbox", "snap", "infisical"),
        *("bundle", "mise", "rbenv", "pyenv", "asdf", "nodenv", "rtx", "opam", "stack", "corepack", "volta", "direnv"),
        *("docker", "podman", "nerdctl", "docker-compose", "kubectl", "oc", "lxc", "incus", "machinectl", "distrobox"),
        *("aws-vault", "chamber", "nix", "nix-shell", "vagrant", "git", "rsync", "tar", "hyperfine", "concurrently"),
        *("npm-run-all", "nodemon", "watchexec", "rush", "perf", "zellij"),
    )
)
"""Programs that one names together with what they run: who allows `uv run pytest` need not allow `pytest` as well."""

TAKES_ASSIGNMENTS: Final = frozenset(
    ("env", "sudo", "doas", "export", "typeset", "declare", "local", "readonly", "run0", "cross-env", "cross-env-shell")
)
RUNS_ARGUMENTS: Final = frozenset(name for name, ways in WRAPPERS.items() if any(not way.after for way in ways))
"""Programs whose arguments must always be looked at."""
SUBCOMMANDS: Final[dict[str, frozenset[str]]] = {
    name: frozenset(word for way in ways for word in way.after[0].split("|"))
    for name, ways in WRAPPERS.items()
    if ways and name not in RUNS_ARGUMENTS
}
"""Programs that run a command only with one of these subcommands."""

_SHELL_CODE: Final = lazy_pattern(r"-[abefhiklmnpruvxBCEHPT]*c[abefhiklmnpruvxBCEHPT]*")
OTHER_SHELLS: Final = {  # with the option before their code
    **dict.fromkeys(("fish", "csh", "tcsh", "nu", "xonsh", "elvish"), lazy_pattern(r"-\w*c|--commands?")),
    **dict.fromkeys(("pwsh", "powershell", "powershell.exe", "pwsh.exe"), lazy_pattern(r"(?i)[-/](?:c|co|com\w*|cwa)")),
    **dict.fromkeys(("cmd", "cmd.exe"), lazy_pattern(r"(?i)//?[ck]")),
}
_CODE_OPTION_PROGRAMS: Final = frozenset(("su", "runuser", "script", "flock", "sg"))


def shell_code(words: Sequence[str]) -> str | None:
    """The code in `sh -c code` and its like; None if the words start something else."""
    encoded = _encoded_code(words)
    found = shell_code_position(words) if encoded is None else None
    if found is None:
        return encoded
    at, text = found
    is_windows = program_name(words[0]).lower().startswith(("cmd", "pwsh", "powershell"))
    return " ".join(words[at:]).replace("\\", "/") if is_windows else text


def _encoded_code(words: Sequence[str]) -> str | None:
    """PowerShell's code in base64."""
    if len(words) < 3 or not program_name(words[0]).lower().startswith(("pwsh", "powershell")):
        return None
    code = next((word for option, word in pairwise(words[1:]) if _ENCODED_OPTION.fullmatch(option)), None)
    try:
        return None if code is None else b64decode(code).decode("utf-16-le", "replace").replace("\\", "/")
    except ValueError:
        return None


def shell_code_position(words: Sequence[str]) -> tuple[int, str] | None:
    """Where the code in `sh -c code` stands, and the code."""
    if not words:
        return None
    name = program_name(words[0])
    option = _SHELL_CODE if name in SHELLS else OTHER_SHELLS.get(name.lower())
    if option is None:
        option = _CODE if name in _CODE_OPTION_PROGRAMS else None
    if option is None:
        return None
    found = _code_after(words, option)
    return _powershell_operand(words) if found is None and name.lower().startswith("powershell") else found


_ENCODED_OPTION: Final = lazy_pattern(r"(?i)[-/](?:e|ec|en\w*)")
_POWERSHELL_VALUES: Final = lazy_pattern(r"(?i)[-/](?:f\w*|e\w*|w\w*|v\w*|o\w*|i\w*|config\w*|psc\w*|set\w*)")


def _powershell_operand(words: Sequence[str]) -> tuple[int, str] | None:
    """`powershell "Remove-Item x"`: without -Command, its first operand is code. That of `pwsh` is a file."""
    for at, word in enumerate(words[1:], 1):
        if not word.startswith(("-", "/")) and not _POWERSHELL_VALUES.fullmatch(words[at - 1]):
            return at, word
    return None


def _code_after(words: Sequence[str], option: re.Pattern[str]) -> tuple[int, str] | None:
    at = next((n for n, word in enumerate(words[1:], 1) if option.fullmatch(word)), None)
    if at is None:
        return next(
            ((n, word.partition("=")[2]) for n, word in enumerate(words) if word.startswith("--command=")), None
        )
    at += 1
    while at < len(words) - 1 and words[at][:1] in ("-", "+"):  # more options before the code
        at += 1
    return (at, words[at]) if at < len(words) else None


def unwrap(words: Sequence[str]) -> Iterator[InnerCommand]:
    """The commands that a program such as `env` or `sudo` runs; every possible one after an unknown option."""
    name = program_name(words[0])
    for wrapper in WRAPPERS.get(name, ()):
        start = _skip_subcommands(words, wrapper.after)
        if start is not None:
            yield from _unwrap_as(wrapper, name, words, start)


def _skip_subcommands(words: Sequence[str], names: tuple[str, ...]) -> int | None:
    """The position after these subcommands; None if they are not there."""
    at = 1
    for name in names:
        wanted = name.split("|")
        found = next((n for n in range(at, len(words)) if words[n] in wanted), None)
        if found is None:
            unknown = next((n for n in range(at, len(words)) if HAS_UNKNOWN.search(words[n])), None)
            if unknown is None:
                return None
            found = unknown
        at = found + 1
    return at


def _unwrap_as(wrapper: Wrapper, name: str, words: Sequence[str], start: int) -> Iterator[InnerCommand]:
    if wrapper.code_options is not None:
        yield from _codes_of_options(words[start:], wrapper.code_options)
        if name in _CODE_OPTION_PROGRAMS or wrapper.only_options:
            return
    if wrapper.word_options:
        yield from _programs_of_options(words[start:], wrapper.word_options)
        return
    if wrapper.run_options:
        found = found_files(words) if name == "find" else ()
        for inner in _run_by_options(words, wrapper.run_options):
            if inner[0] == "{}":  # it runs what it finds
                yield from (InnerCommand((start, *inner[1:])) for start in (*found, *_find_starts(words), UNKNOWN))
                continue
            if found and "{}" in inner:
                at = inner.index("{}")
                inner = [*inner[:at], *found, *inner[at + 1 :]]
            yield InnerCommand(code=" ".join(inner)) if wrapper.form is Form.KEYS else InnerCommand(tuple(inner))
        return
    if wrapper.after_dashes:
        at = next((n for n in range(start, len(words)) if words[n] == "--"), len(words))
        if words[at + 1 :]:
            yield InnerCommand(tuple(words[at + 1 :]))
        return
    for inner in _commands_after_options(wrapper, name, words, start):
        yield from _in_form(wrapper.form, inner)


def _in_form(form: Form, words: Sequence[str]) -> Iterator[InnerCommand]:
    if form is Form.WORDS:
        yield InnerCommand(tuple(words))
    elif form is Form.SHELL_TEXT:
        yield InnerCommand(code=" ".join(words))
        yield InnerCommand(tuple(words))
    elif form is Form.EACH_SHELL_TEXT:
        for word in words:
            if not word.startswith("-"):
                yield InnerCommand(code=word.removeprefix("!"))
    else:
        typed = [word for word in words if not word.startswith("-")]
        for text in dict.fromkeys((" ".join(typed), "".join(typed), *typed)):
            yield InnerCommand(code=re.sub(r"\s*(?:Enter|C-m|\^M|\\n|\\r|\\015)\s*", "\n", text.replace("Space", " ")))


def _commands_after_options(wrapper: Wrapper, name: str, words: Sequence[str], start: int) -> Iterator[list[str]]:
    at = start
    while (
        at < len(words)
        and (words[at].startswith("-") or HAS_UNKNOWN.match(words[at]))
        and (len(words[at].rstrip(UNREAD)) > 1 or name == "env")
    ):
        if words[at] == "-":  # `env -` is `env -i`
            at += 1
            continue
        if name == "command" and words[at] in ("-v", "-V"):
            return
        if words[at] == "--":
            at += 1
            break
        if name == "nice" and re.fullmatch(r"-\d+", words[at]):
            at += 1
            continue
        taken = None if HAS_UNKNOWN.search(words[at]) else wrapper.options.count_option_words(words[at])
        if taken is None:
            yield from _possible_commands(words[at + 1 :])
            return
        at += taken
    while name in TAKES_ASSIGNMENTS and at < len(words) and ASSIGNMENT.match(words[at]):
        at += 1
    for skipped in words[at : at + wrapper.operands]:
        if UNKNOWN_WORDS in skipped:  # it may be more than one word, or none
            yield from _possible_commands(words[at:])
            return
    rest = list(words[at + wrapper.operands :])
    if rest[:1] == ["--"]:
        rest.pop(0)
    if rest and rest[0] not in wrapper.except_for:
        yield rest
        if wrapper.operands and rest[0].startswith("-"):
            yield from _possible_commands(rest[1:])
        if rest[0].rstrip(UNREAD) == UNKNOWN_WORDS:
            yield from _possible_commands(rest[1:])


def _possible_commands(words: Sequence[str]) -> Iterator[list[str]]:
    """One from each word on that may be a program. Beyond the limit, it may be any command."""
    starts = [at for at, word in enumerate(words) if word and not word.startswith("-") and not ASSIGNMENT.match(word)]
    yield from (list(words[at:]) for at in starts[:_MAX_POSITIONS])
    if len(starts) > _MAX_POSITIONS:
        yield [UNKNOWN_WORDS + UNREAD]


def _codes_of_options(words: Sequence[str], options: re.Pattern[str]) -> Iterator[InnerCommand]:
    for at, word in enumerate(words):
        option, has_value, value = word.partition("=")
        if options.fullmatch(option):
            code = value if has_value else next(iter(words[at + 1 : at + 2]), "")
            yield InnerCommand(code=re.sub(r"^exec=", "", code))
        elif len(word) > 2 and word[0] == "-" != word[1] and options.fullmatch(word[:2]):  # -Pprogram
            yield InnerCommand(code=word[2:])


def _programs_of_options(words: Sequence[str], options: frozenset[str]) -> Iterator[InnerCommand]:
    """`docker run --entrypoint git image push`: the program, and the words that may be its arguments."""
    for at, word in enumerate(words):
        option, has_value, value = word.partition("=")
        if option in options:
            rest = list(words[at + 1 :])
            program = value if has_value else rest.pop(0) if rest else ""
            if program and len(rest) <= _MAX_POSITIONS:
                yield from (InnerCommand((program, *rest[cut:])) for cut in range(len(rest) + 1))
            elif program:  # which of the words are its first arguments is not known
                yield InnerCommand((program, UNKNOWN_WORDS, *rest))


def _run_by_options(words: Sequence[str], options: frozenset[str]) -> Iterator[list[str]]:
    for at, word in enumerate(words):
        if word in options and words[at + 1 :]:
            end = next((n for n in range(at + 1, len(words)) if words[n] in (";", "+")), len(words))
            if end > at + 1:
                yield list(words[at + 1 : end])


_FIND_CHOICES: Final = frozenset(("-o", "-or", ",", "!", "-not", "-files0-from"))


def found_files(words: Sequence[str]) -> tuple[str, ...]:
    """What `find` finds if it looks for one name or pattern: that name in each place where it begins. Otherwise nothing."""
    names = [words[at + 1] for at, word in enumerate(words[:-1]) if word == "-name"]
    if len(names) != 1 or not _FIND_CHOICES.isdisjoint(words) or not _FOUND_NAME.fullmatch(names[0]):
        return ()
    name = mark_pattern(names[0])
    return tuple(f"{start.rstrip('/')}/{name}" for start in _find_starts(words) or ["."])


def _find_starts(words: Sequence[str]) -> list[str]:
    """Where `find` begins to look."""
    operands = [word for word in words[1:] if word not in ("-H", "-L", "-P")]
    end = next((at for at, word in enumerate(operands) if word[:1] in ("-", "(", "\\")), len(operands))
    return operands[:end]


def add_input_words(words: Sequence[str], inputs: Sequence[str], mark: str) -> Iterator[tuple[str, ...]]:
    """The command of xargs or parallel with the words that it reads; `mark` is what it replaces, such as `{}`."""
    for text in inputs:
        given = text.replace("\0", " ").split() or [UNKNOWN_WORDS]
        is_unknown = any(HAS_UNKNOWN.search(each) for each in given)
        if mark and any(mark in word for word in words):
            for value in (text.strip(), *given) if not is_unknown else (UNKNOWN,):
                yield tuple(word.replace(mark, value) for word in words)
        else:
            yield (*words, *given)
            yield from ((*words, each) for each in given)

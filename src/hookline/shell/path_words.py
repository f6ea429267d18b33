"""The words of a shell text that may name files, with the directories to which they are relative.

It is for guards, and reads more rather than less: every argument may be a path, unless its program takes it as text.
"""

from __future__ import annotations

import os
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern
from hookline.shell.expansion import relative_path, visible_text
from hookline.shell.grammar import HAS_UNKNOWN, REPOSITORY, TEMPORARY
from hookline.shell.parsed_text import Path
from hookline.shell.programs import SHELLS, program_name
from hookline.shell.remote_commands import has_remote_command, local_words
from hookline.shell.run_text import RunCommand, RunText

_TEXT_PROGRAMS: Final = frozenset(
    (
        "echo",
        "printf",
        "tr",
        "expr",
        "export",
        "declare",
        "typeset",
        "local",
        "readonly",
        "unset",
        "alias",
        "read",
        "set",
    )
    + ("kill", "wait", "sleep", "exit", "return", "seq", "date", "true", "false", ":", "let", "shift", "eval", "trap")
    + ("df",)
    + ("jobs", "fg", "bg", "ulimit", "umask", "command", "type", "which", "whereis", "hash", "id", "uname", "whoami")
)
"""Programs whose arguments are not files."""
_PATTERN_PROGRAMS: Final = {
    **dict.fromkeys(
        ("grep", "egrep", "fgrep", "zgrep", "rg", "ag", "ack"),
        lazy_pattern(r"-\w*[efg].*|--(?:regexp|file|files|match)\b.*"),
    ),
    **dict.fromkeys(("sed", "gsed"), lazy_pattern(r"-\w*[ef].*|--(?:expression|file).*")),
    **dict.fromkeys(("awk", "gawk", "mawk", "nawk"), lazy_pattern(r"-[efE].*|--(?:source|file|exec).*")),
    "jq": lazy_pattern(r"-\w*[fL].*|--from-file.*"),
}
"""Programs whose first operand is a pattern or code, unless one of these options may give it."""
_NUMBER_OPTION: Final = lazy_pattern(r"-\w*[ABCm]|--(?:after-|before-)?context|--max-count")
_CODE_OPTIONS: Final = {
    **dict.fromkeys(_PATTERN_PROGRAMS, lazy_pattern(r"-\w*e|--regexp|--expression|--source")),
    **dict.fromkeys(("perl", "ruby", "lua", "Rscript", "osascript"), lazy_pattern(r"-\w*[eE]")),
    **dict.fromkeys(("node", "nodejs", "deno", "bun"), lazy_pattern(r"-e|-p|-pe|--eval|--print|eval")),
    "python": lazy_pattern(r"-\w*c"),
    "php": lazy_pattern(r"-r"),
}
"""Options whose next word is code."""
_MESSAGE_OPTION: Final = lazy_pattern(r"-\w*m|--message|--title|--body|--notes")
_MESSAGE_PROGRAMS: Final = frozenset(("git", "gh", "glab", "hg", "svn", "jj"))
_CONTAINERS: Final = frozenset(("docker", "podman", "nerdctl", "docker-compose", "podman-compose"))
_CONTAINER_OPTIONS: Final = frozenset(("-w", "--workdir", "--entrypoint", "--tmpfs"))
"""Options whose value is a path in the container."""
_IN_CONTAINER: Final = frozenset(("target", "dst", "destination"))  # the same, in --mount
_MAX_LETTERS: Final = 80  # of options before a value in the same word; behind more of them, it may be anywhere
_LETTERS: Final = lazy_pattern("-[A-Za-z0-9]*")
_DELIMITER_OPTION: Final = lazy_pattern(r"-[dtF]/")
_FILE_TEST: Final = lazy_pattern(r"-[a-hkprsuwxGLNOS]|-nt|-ot|-ef")
_URL: Final = lazy_pattern(r"(?!file:)[A-Za-z][\w+.-]*://", re.IGNORECASE)
_SHORT_OPTION: Final = lazy_pattern(r"-[A-Za-z]+?((?:[@/~]|\.\.?/|\.\.\Z).*)", re.DOTALL)
_DEVICES: Final = lazy_pattern(
    r"/dev/(?:null|zero|full|random|urandom|tty|stdin|stdout|stderr|(?:fd|tcp|udp)/.*|tty(?:USB|ACM|AMA|S)\d+|(?:tty|cu)\.usb[\w-]+)|-|"
)
_MATCHES_PARENT: Final = lazy_pattern(r"(?:\A|/)\.[*?\[]")
_PUBLIC_FILES: Final = lazy_pattern(
    r"/etc/(?:os-release|lsb-release|debian_version|[a-z]+-release|issue|shells|timezone|localtime|mime\.types|services|protocols|hosts|hostname|resolv\.conf)"
    r"|/usr/lib/os-release|/proc/(?:cpuinfo|meminfo|version|uptime|loadavg|filesystems|stat|swaps)"
    r"|(?:/usr(?:/local)?)?/s?bin/?"
    r"|/usr/(?:local/)?(?:include|share/(?:doc|man|info|licenses|zoneinfo|dict))(?:/[\w.+@%-]+)*/?"
)
"""What every system tells everybody about itself: its release, its processors, its headers and manuals."""
_READERS: Final = frozenset(
    (
        *("cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "ls", "wc", "stat", "nl"),
        *("cut", "test", "[", "[[", "du", "diff", "cmp", "sha256sum", "md5sum"),
    )
)
"""Programs that only read their files, whatever their options."""
_TOOL_DIRECTORIES: Final = lazy_pattern(
    r"/(?:usr|bin|sbin|nix/store|snap/bin|run/current-system|Applications|Library|opt/(?:homebrew|conda|miniconda3?|venv|hostedtoolcache))/"
    r"|(?:~|/root|/home/[^/]+|/Users/[^/]+)/(?:\.local/(?:bin|share|pipx)|\.(?:cargo|bun|deno|volta|dotnet|krew|yarn)/bin|go/bin"
    r"|\.(?:nvm|fnm|pyenv|rbenv|nodenv|asdf|rustup|sdkman|jenv|goenv|phpenv|nix-profile|npm-global|npm|cache)|(?:mini|ana)conda3?)/"
)
"""Where programs are installed: running one of them is not reading a file of somebody else."""
_TOOL_SCRIPTS: Final = lazy_pattern(
    r"(?:~|/root|/home/[^/]+|/Users/[^/]+)/(?:\.nvm/(?:nvm\.sh|bash_completion)|\.(?:cargo|ghcup)/env|\.asdf/asdf\.sh"
    r"|\.sdkman/bin/sdkman-init\.sh|(?:mini|ana)conda3/(?:etc/profile\.d/conda\.sh|bin/activate)|\.rvm/scripts/rvm)"
)
"""What a shell sources to find such programs."""
_LOOKS_FOR_SCRIPTS: Final = frozenset((".", "source", "test", "[", "[["))
_LIBRARY_OPTION: Final = lazy_pattern(r"-(?:I|L|isystem)(?:/usr|/usr/local|/opt/homebrew)(?:/[\w.+-]+)*/?")
_WINDOWS_OPTION: Final = lazy_pattern("//?[A-Za-z]")  # cmd /c dir, `//c` in Git Bash
_LABEL_PROGRAMS: Final = frozenset(("bazel", "bazelisk", "buck", "buck2", "pants", "plz", "please", "gn"))
_LABEL: Final = lazy_pattern(
    r"-?//[\w.+@=,-]*(?:/[\w.+@=,-]+)*(?::[\w.+@=,/-]*)?"
)  # //pkg:all, from the workspace's root
_COMPILERS: Final = frozenset(("gcc", "g++", "cc", "c++", "clang", "clang++", "gfortran", "ld", "nvcc", "tcc", "zig"))
_ABSOLUTE_NAMES: Final = lazy_pattern(r"-?[A-Za-z]*P[A-Za-z]*")
_LOGIN: Final = lazy_pattern(r"-[A-Za-z]*[il][A-Za-z]*|--login|-")
_USER_OPTION: Final = lazy_pattern(r"-[A-Za-z]*[ugpsCDRTh]|--(?:user|group|prompt|chdir|host)")
_UNIT_CHANGES: Final = frozenset(("enable", "disable", "link", "mask", "unmask", "edit", "reenable", "preset"))
_PLACE_VARIABLES: Final = frozenset(("CDPATH", "GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE"))
_DIRECTORY_CHANGES: Final = frozenset(("cd", "pushd", "chdir"))

UNKNOWN_WORD: Final = None


def find_path_words(text: RunText, start: str, is_directory: Callable[[str], bool]) -> Iterator[tuple[str, str | None]]:
    """Each word that may name a file, with its directory. A word is None if only the shell knows it."""
    return _Walk(text, start, is_directory).find()


@dataclass(slots=True)
class _Change:
    """The last `cd` of a group: `before` counts again if it was perhaps not made."""

    before: tuple[str, ...]
    is_sure: bool


@dataclass(slots=True)
class _Walk:
    text: RunText
    start: str
    is_directory: Callable[[str], bool]
    directories: dict[Path, tuple[str, ...]] = field(default_factory=dict)  # of each group, as far as the walk has come
    changes: dict[Path, _Change] = field(default_factory=dict)
    previous: tuple[str, ...] = ("/",)  # what `cd -` goes back to

    def find(self) -> Iterator[tuple[str, str | None]]:
        self.directories[()] = (self.start,)
        files: dict[Path, list[str]] = {}
        for path, word in self.text.files:
            files.setdefault(path, []).append(word)
        yield from ((self.start, word) for word in _variable_words(self.text.settings))
        inner = _inner_words(self.text.commands)
        remote = set[int]()
        for number, command in enumerate(self.text.commands):
            if command.is_written:
                continue
            group = command.path[:-1]
            is_remote = command.parent in remote
            if is_remote or has_remote_command(command.words):
                remote.add(number)
            if is_remote and len(group) > len(self.text.commands[command.parent].path[:-1]):
                files.pop(command.path, None)  # it runs elsewhere, and so do its redirections
            directories = self._enter(group, command.operator)
            named = [each for word in files.pop(command.path, ()) for each in _redirected(word)]
            if is_remote:
                yield from ((directory, word) for word in named for directory in directories)
                continue
            named += _argument_words(command, frozenset() if number in remote else inner.get(number, frozenset()))
            named = [self._resolve_previous(word) for word in named]
            named += self._below_root(command.words)
            yield from ((directory, word) for word in named for directory in directories)
            program = program_name(command.words[0])
            if program in _DIRECTORY_CHANGES:
                self._change_directory(group, command)
            if program == "ln":
                yield from (
                    (posixpath.join(directory, base), target)
                    for directory in directories
                    for base, target in _link_targets(command.words)
                )
        everywhere = dict.fromkeys(directory for each in self.directories.values() for directory in each)
        for words in files.values():
            for word in words:
                yield from ((directory, each) for each in _redirected(word) for directory in everywhere)

    def _below_root(self, words: Sequence[str]) -> Iterator[str]:
        """`"$(git rev-parse --show-toplevel)/etc"` is /etc where there is no repository."""
        for word in words:
            if word.startswith(f"{REPOSITORY}/") and self.is_directory(f"/{word.split('/')[1]}"):
                yield from () if _is_in_repository(self.start) else (visible_text(word),)

    def _resolve_previous(self, word: str | None) -> str | None:
        """`~-` is where the shell was before its last `cd`; before the first one, it may be anywhere."""
        if word is None or not (word == "~-" or word.startswith("~-/")):
            return word
        return f"{self.previous[0]}/{word[3:]}"

    def _enter(self, group: Path, operator: str) -> tuple[str, ...]:
        """The directories in which the next command of the group may run."""
        known = self.directories.get(group)
        if known is None:
            length = next(size for size in range(len(group), -1, -1) if group[:size] in self.directories)
            known = self.directories[group] = self.directories[group[:length]]
        change = self.changes.get(group)
        if change is not None and operator != "&&":
            del self.changes[group]
            if not change.is_sure or operator in ("|", "|&", "&"):
                known = self.directories[group] = _distinct((*known, *change.before))
        return known

    def _change_directory(self, group: Path, command: RunCommand) -> None:
        before = self.directories[group]
        operands = [
            visible_text(_known_place(word)) for word in command.words[1:] if not word.startswith("-") or word == "-"
        ]
        to = operands[0] if operands else "~"
        is_back = to in ("-", "~-")
        after = self.previous if is_back else tuple(posixpath.join(each, posixpath.expanduser(to)) for each in before)
        self.previous = before
        is_sure = command.operator in ("", ";", "\n") and all(map(self.is_directory, after))
        earlier = self.changes.get(group)
        if earlier is not None:  # still in one chain of &&
            before, is_sure = _distinct((*earlier.before, *before)), earlier.is_sure and is_sure
        if command.operator == "||":
            after = _distinct((*after, *before))
        self.directories[group] = after
        self.changes[group] = _Change(before, is_sure)
        for size in range(len(group)):  # a group may be part of the same shell
            if (outer := self.directories.get(group[:size])) is not None:
                self.directories[group[:size]] = _distinct((*outer, *after))


def _is_in_repository(directory: str) -> bool:
    while not os.path.lexists(f"{directory}/.git"):
        if directory in ("", "/"):
            return False
        directory = posixpath.dirname(directory)
    return True


def _variable_words(settings: Sequence[str]) -> Iterator[str]:
    """`GIT_DIR=/x git log` and `CDPATH=/ cd x` name no other path."""
    for setting in settings:
        name, _, value = setting.partition("=")
        if name.removesuffix("+") in _PLACE_VARIABLES:
            yield from (part.replace("$HOME", "~").replace("$PWD", ".") for part in value.split(":") if part)


def _link_targets(words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """What a symbolic link leads to, with the directory of the link: `ln -s ../x a/b` is the x beside a."""
    if _is_relative_link(words):
        target, link = (visible_text(relative_path(word)) for word in words[-2:])
        yield posixpath.dirname(link), target


def _is_relative_link(words: Sequence[str]) -> bool:
    """`ln -s TARGET LINK`, with a target that is relative to the link."""
    options, operands = words[1:-2], words[-2:]
    is_plain = all(_LINK_OPTION.fullmatch(word) for word in options) and any("s" in word for word in options)
    return is_plain and len(operands) == 2 and not any(map(HAS_UNKNOWN.search, operands)) and operands[0][:1] not in ("/", "~", "-")  # fmt: skip


_LINK_OPTION: Final = lazy_pattern(r"-[sfnvT]+|--symbolic|--force|--no-dereference|--verbose")


def _distinct(texts: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(texts))


def _inner_words(commands: Sequence[RunCommand]) -> dict[int, frozenset[str]]:
    """By number: the words of the commands that a command runs, which are read there.

    A program is not among them if it is open which word it is.
    """
    found: dict[int, frozenset[str]] = {}
    programs: dict[int, set[str]] = {}
    for command in commands:
        if command.parent >= 0:
            found[command.parent] = found.get(command.parent, frozenset()).union(command.words[1:])
            programs.setdefault(command.parent, set()).add(command.words[0])
    return {
        number: words | programs[number] if len(programs[number]) == 1 else words for number, words in found.items()
    }


def _argument_words(command: RunCommand, inner: frozenset[str]) -> Iterator[str | None]:
    """The arguments that may be files; None for one that is unknown."""
    name = program_name(visible_text(command.words[0]))
    if HAS_UNKNOWN.search(command.words[0]):
        yield UNKNOWN_WORD
    words = [word for word in local_words(command.words)[1:] if word not in inner]
    yield from _program_path(command.words[0])
    yield from _implied_places(name, command.words[1:])
    if name == "ln" and _is_relative_link(command.words):
        words = words[-1:]
    if name == "cmd":
        words = [word for word in words if not _WINDOWS_OPTION.fullmatch(word)]
    if name in _LABEL_PROGRAMS:
        own = words.index("--") if "--" in words else len(words)  # the rest belongs to the program that `run` starts
        words = [word for at, word in enumerate(words) if at > own or not _LABEL.fullmatch(word)]
    if name in _COMPILERS:
        words = [word for word in words if not _LIBRARY_OPTION.fullmatch(word) or "/.." in word]
    if name in _TEXT_PROGRAMS or (name in SHELLS and inner):
        return
    if name in ("test", "[", "[["):
        words = [word for at, word in enumerate(words) if _is_tested_file(words, at)]
    if name in _DIRECTORY_CHANGES and "-" in words:
        yield "~-"
    if name in _DIRECTORY_CHANGES and not any(not word.startswith("-") or word == "-" for word in words):
        yield "~"
    if name in _DIRECTORY_CHANGES and len(command.path) > 2 and any(".." in word for word in words):
        yield UNKNOWN_WORD  # a loop may go up any number of times
    is_reader = name in _READERS
    for word in _without_texts(name, words):
        if name in _LOOKS_FOR_SCRIPTS and _TOOL_SCRIPTS.fullmatch(word):
            continue
        if not (is_reader and _PUBLIC_FILES.fullmatch(word) and "/.." not in word):
            yield from _paths_in_word(word)


def _implied_places(name: str, words: Sequence[str]) -> Iterator[str]:
    """Where a program writes or works without a word that names it."""
    first = words[0] if words else ""
    if name in ("tar", "bsdtar") and (_ABSOLUTE_NAMES.fullmatch(first) or "--absolute-names" in words):
        yield "/"
    elif name in ("sudo", "su") and _is_login(words):
        yield "~"
    elif name == "git" and "--system" in words and "config" in words:
        yield "/etc/gitconfig"
    elif name == "crontab" and "-l" not in words:
        yield "/var/spool/cron"
    elif name == "systemctl" and not _UNIT_CHANGES.isdisjoint(words):
        yield "/etc/systemd"


def _is_login(words: Sequence[str]) -> bool:
    """Whether sudo or su begins in the user's home: `sudo -iu me x`, not `sudo grep -i x`."""
    before = ""
    for word in words:
        if _LOGIN.fullmatch(word):
            return True
        if not word.startswith("-") and not _USER_OPTION.fullmatch(before):
            return False
        before = word
    return False


def _program_path(word: str) -> Iterator[str]:
    """A program that is named by where it is, unless that is where programs are installed."""
    path = visible_text(relative_path(word))
    if (
        "/" in path
        and not HAS_UNKNOWN.search(relative_path(word))
        and not _DEVICES.fullmatch(path)  # screen /dev/ttyUSB0
        and (not _TOOL_DIRECTORIES.match(path) or "/.." in path)
    ):
        yield path


def _is_tested_file(words: Sequence[str], at: int) -> bool:
    is_binary = at + 1 < len(words) and words[at + 1] in ("-nt", "-ot", "-ef")
    return is_binary or (at > 0 and _FILE_TEST.fullmatch(words[at - 1]) is not None)


def _without_texts(name: str, words: Sequence[str]) -> Iterator[str]:
    """The words that are not a pattern, code or a message."""
    options = _PATTERN_PROGRAMS.get(name)
    skips_operand = options is not None and not any(options.fullmatch(word) for word in words)
    before = ""
    for word in words:
        is_code = name in _CODE_OPTIONS and _CODE_OPTIONS[name].fullmatch(before) is not None
        is_number = word.isdigit() and _NUMBER_OPTION.fullmatch(before) is not None
        is_elsewhere = name in _CONTAINERS and before in _CONTAINER_OPTIONS
        is_message = name in _MESSAGE_PROGRAMS and _MESSAGE_OPTION.fullmatch(before) is not None
        is_message = is_message or _is_remote_name(name, words, before, word)
        is_message = is_message or (name == "openssl" and before == "-subj")  # /CN=localhost
        before = word
        if is_code or is_message or is_elsewhere:
            continue
        if skips_operand and not word.startswith("-") and not is_number:
            skips_operand = False
            continue
        yield word


def _is_remote_name(name: str, words: Sequence[str], before: str, word: str) -> bool:
    """`gh api /repos/x`, `aws logs tail /aws/x`: names that only look like paths."""
    if not word.startswith("/"):
        return False
    if name in ("gh", "glab"):
        return before == "api" and words[0] == "api"
    return name == "aws" and words[0] in ("logs", "ssm") and before != "--cli-input-json"


def _known_place(word: str) -> str:
    """The word with a path in the place of what the shell is in, or of what mktemp made."""
    return f"/tmp/x{word[1:]}" if word.startswith(f"{TEMPORARY}/") else relative_path(word)


def _redirected(word: str) -> Iterator[str | None]:
    word = _known_place(word)
    if HAS_UNKNOWN.search(word):
        if not word.startswith("/dev/fd/"):
            yield UNKNOWN_WORD
    elif not _DEVICES.fullmatch(visible := visible_text(word)):
        yield visible


def _paths_in_word(word: str) -> Iterator[str | None]:
    """The paths in one argument: `--file=x` and `of=x` have one after the `=`, `-C/x` after the letter."""
    word = _known_place(word)
    if HAS_UNKNOWN.search(word):
        if not word.startswith("/dev/fd/"):
            yield UNKNOWN_WORD
        return
    text = visible_text(word)
    if _DEVICES.fullmatch(text) or _URL.match(text) or _DELIMITER_OPTION.fullmatch(text):
        return
    if text is not word and _MATCHES_PARENT.search(text):
        yield UNKNOWN_WORD
    if text.startswith("-"):
        short = _SHORT_OPTION.fullmatch(text)
        if short is not None and not text.startswith("--"):
            yield from _file_names(short[1])
        elif not text.startswith("--"):  # tar -xCdir
            letters = _LETTERS.match(text)
            end = min(letters.end() + 1 if letters else 0, len(text))
            yield from (text[at:] for at in range(2, end)) if end <= _MAX_LETTERS else ("/",)
    else:
        yield from _file_names(text)
    _, has_value, value = text.partition("=")
    if has_value and not _URL.match(value):
        yield from _file_names(value)
        if "=" in value and "," not in value:  # --override_repository=x=/y
            yield from _file_names(value.rpartition("=")[2])
        if "," in value:  # type=bind,source=/x
            for part in value.split(","):
                key, _, path = part.partition("=")
                yield from _file_names(path) if path and key not in _IN_CONTAINER else ()


def _file_names(text: str) -> Iterator[str]:
    text = text.removeprefix("@").removeprefix("<")  # curl -d @file
    if _DEVICES.fullmatch(text):
        return
    yield text
    if text.startswith(("~", "..:")) and ":" in text:  # docker -v ~:/x
        yield text.partition(":")[0]

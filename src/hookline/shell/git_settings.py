"""What git runs because of its settings: aliases, and programs for editors, pagers, helpers, filters and transports.

A setting may stand after `-c`, in `git config`, in a variable or in a file that the same line writes.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import islice, pairwise
from typing import Final

from hookline.lazy_imports import lazy_pattern
from hookline.shell.filters import MADE_TEXT
from hookline.shell.grammar import UNKNOWN
from hookline.shell.wrappers import InnerCommand

_PROGRAM_KEY: Final = lazy_pattern(
    r"(?is)core\.(?:sshcommand|pager|editor|fsmonitor|askpass|gitproxy|alternaterefscommand)|(?:sequence|gui)\.editor|diff\.external"
    r"|pager\..+|diff\..+\.(?:command|textconv)|filter\..+\.(?:clean|smudge|process)|merge\..+\.driver|gpg\.(?:.+\.)?program"
    r"|gpg\.ssh\.defaultkeycommand|uploadpack\.packobjectshook|(?:difftool|mergetool|browser|man|guitool)\..+\.(?:cmd|path)"
    r"|interactive\.difffilter|remote\..+\.(?:uploadpack|receivepack)|sendemail\.(?:.+\.)?(?:smtpserver|\w+cmd)|tar\..+\.command"
    r"|trailer\..+\.(?:command|cmd)|imap\.tunnel"
)
_MARKED_KEY: Final = lazy_pattern(r"(?is)credential\.(?:.+\.)?helper|submodule\..+\.update")
"""Their values are programs only if they look like one: `!command`, `/bin/x`."""
_KEY: Final = lazy_pattern(r"[A-Za-z][\w-]*\..*[\w-]", re.DOTALL)
_SECTION: Final = lazy_pattern(r"\[\s*([\w.-]+)(?:\s+\"([^\"]*)\")?\s*\]")
_TRANSPORTS: Final = frozenset(("--upload-pack", "--receive-pack", "--exec"))
_NAMES_PROGRAM: Final = lazy_pattern(
    r" (?:-c|config\b|clone\b|--(?:upload-pack|receive-pack|exec=|config)|ext::|subtree\b|lfs\b|send-pack\b|http-push\b)"
)
_PUSH_PLUMBING: Final = frozenset(("send-pack", "http-push"))
_GLOBAL_VALUES: Final = frozenset(
    [
        *("-C", "-c", "--git-dir", "--work-tree", "--namespace", "--super-prefix", "--config-env"),
        *("--attr-source", "--exec-path"),
    ]
)
_SUBTREE_VALUES: Final = frozenset(("-P", "--prefix", "-m", "--message", "--annotate", "-b", "--branch", "--onto"))
_DRY_RUN: Final = frozenset(("--dry-run", "-d"))  # of `git lfs push`
_MAX_SETTINGS: Final = 200  # of a file; if it has more of them, git may run anything
SETTINGS_FILES: Final = (".gitconfig", "config", "gitconfig", "config.worktree")

Settings = Iterator[tuple[str, str]]


def may_name_program(words: Sequence[str]) -> bool:
    """Whether the arguments of git may say which other program it runs. Cheap, and true too often."""
    return _NAMES_PROGRAM.search(" ".join(words)) is not None


def push_of_words(words: Sequence[str]) -> Iterator[InnerCommand]:
    """`git subtree push`, `git lfs push` and `git send-pack`, as the push that they are."""
    command, *arguments = _operands(words[1:], _GLOBAL_VALUES, stops=True) or [""]
    if command in _PUSH_PLUMBING:
        yield InnerCommand((words[0], "push", *arguments))
    elif command in ("subtree", "lfs") and not _DRY_RUN.intersection(arguments):
        operands = _operands(arguments, _SUBTREE_VALUES)
        if operands[:1] == ["push"]:
            yield InnerCommand((words[0], *operands))


def _operands(words: Sequence[str], values: frozenset[str], *, stops: bool = False) -> list[str]:
    """The words without options and their values; with `stops`, all words from the first operand on."""
    found, at = list[str](), 0
    while at < len(words):
        if not words[at].startswith("-"):
            if stops:
                return list(words[at:])
            found.append(words[at])
        at += 2 if words[at] in values else 1
    return found


def settings_of_words(words: Sequence[str], variables: Mapping[str, Mapping[str, None]]) -> Settings:
    """Those of `-c key=value`, `--config-env=key=NAME` and `git config key value`."""
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        given = following if word in ("-c", "--config", "--config-env") else ""
        for option in ("--config=", "--config-env=", "-c"):
            if word.startswith(option) and len(word) > len(option):
                given = given or word.removeprefix(option)
        key, has_value, value = given.partition("=")
        if has_value and "env" in word.partition("=")[0]:
            yield from ((key, each) for each in variables.get(value) or (UNKNOWN,))
        elif has_value:
            yield key, value
    if "config" in words:
        yield from stored_settings(words)


def stored_settings(words: Sequence[str]) -> Settings:
    """Those that `git config` keeps for later commands."""
    if "config" in words:
        operands = [word for word in words[words.index("config") + 1 :] if not word.startswith("-")]
        yield from ((key, value) for key, value in pairwise(operands) if _KEY.fullmatch(key))


@lru_cache(maxsize=16)
def settings_of_text(text: str) -> tuple[tuple[str, str], ...]:
    """Those of a file that name a program or a command: `[alias]`, `p = push`."""
    found = dict.fromkeys(setting for setting in _lines_of_text(text) if _names_command(setting[0]))
    return tuple(found) if len(found) <= _MAX_SETTINGS else (("core.pager", MADE_TEXT), *islice(found, _MAX_SETTINGS))


def _names_command(key: str) -> bool:
    return bool(alias_of(key)) or any(pattern.fullmatch(key) for pattern in (_PROGRAM_KEY, _MARKED_KEY))


def _lines_of_text(text: str) -> Settings:
    section = ""
    for line in text.splitlines():
        if found := _SECTION.match(line.strip()):
            section = ".".join(each for each in found.groups() if each)
            line = line.strip()[found.end() :]
        key, has_value, value = line.strip().partition("=")
        if section and has_value:
            yield f"{section}.{key.strip()}", value.strip().strip('"')


def settings_of_variables(variables: Mapping[str, Mapping[str, None]]) -> Settings:
    """Those of GIT_CONFIG_KEY_0 with GIT_CONFIG_VALUE_0, and of GIT_CONFIG_PARAMETERS."""
    for name, keys in variables.items():
        if name.startswith("GIT_CONFIG_KEY_"):
            values = variables.get(name.replace("_KEY_", "_VALUE_"), {})
            yield from ((key, value) for key in keys for value in values)
    for text in variables.get("GIT_CONFIG_PARAMETERS", ()):
        try:
            given = shlex.split(text)
        except ValueError:
            given = text.split()
        for each in given:
            key, _, value = each.partition("=")
            yield key, value


def as_options(words: Sequence[str], variables: Mapping[str, Mapping[str, None]]) -> tuple[str, ...]:
    """git with the settings that it gets from variables, as if they were given with `-c`; nothing if it gets none."""
    from_variables = list(settings_of_variables(variables))
    if not from_variables and not any(word.startswith("--config-env") for word in words):
        return ()
    settings = dict.fromkeys((*settings_of_words(words, variables), *from_variables))
    return (words[0], *(word for key, value in settings for word in ("-c", f"{key}={value}")))


def alias_of(key: str) -> str:
    """The name of the alias that the key sets; nothing for any other key."""
    section, _, name = key.partition(".")
    return name if section.lower() == "alias" else ""


def run_by_setting(key: str, value: str) -> Iterator[InnerCommand]:
    """What git runs if it needs this setting."""
    is_marked = _MARKED_KEY.fullmatch(key) is not None and (value.startswith("!") or "/" in value or " " in value)
    if is_marked or _PROGRAM_KEY.fullmatch(key):
        yield InnerCommand(code=value.removeprefix("!"))


def run_by_alias(program: str, value: str, arguments: Sequence[str]) -> InnerCommand:
    if value.startswith("!"):
        return InnerCommand(code=" ".join((value[1:], *map(shlex.quote, arguments))))
    return InnerCommand((program, *value.split(), *arguments))


def run_by_transport(words: Sequence[str]) -> Iterator[InnerCommand]:
    """`git fetch --upload-pack=x`, `git clone 'ext::x'`"""
    for at, word in enumerate(words):
        option, has_value, value = word.partition("=")
        following = words[at + 1] if at + 1 < len(words) else ""
        if option in _TRANSPORTS or (word == "-u" and "clone" in words):
            yield InnerCommand(code=value if has_value else following)
        elif word.startswith("ext::"):
            yield InnerCommand(code=re.sub(r"%(.)", r"\\\1", word.removeprefix("ext::")))


_COMMAND_NAMES: Final = """
    add am annotate apply archive bisect blame branch bugreport bundle cat-file check-attr check-ignore check-mailmap
    check-ref-format checkout checkout-index cherry cherry-pick citool clean clone column commit commit-graph commit-tree config
    count-objects credential credential-cache credential-store cvsexportcommit cvsimport cvsserver daemon describe diagnose diff
    diff-files diff-index diff-pairs diff-tree difftool fast-export fast-import fetch fetch-pack filter-branch fmt-merge-msg
    for-each-ref for-each-repo format-patch fsck fsck-objects fsmonitor--daemon gc get-tar-commit-id gitk grep gui hash-object help
    history hook http-backend http-fetch http-push imap-send index-pack init init-db instaweb interpret-trailers last-modified log
    ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index merge-octopus merge-one-file
    merge-ours merge-recursive merge-resolve merge-subtree merge-tree mergetool mktag mktree multi-pack-index mv name-rev notes
    p4 pack-objects pack-redundant pack-refs patch-id prune prune-packed pull push quiltimport range-diff read-tree rebase
    receive-pack reflog refs remote repack replace replay repo request-pull rerere reset restore rev-list rev-parse revert rm
    scalar send-email send-pack shell shortlog show show-branch show-index show-ref sparse-checkout stage stash status stripspace
    submodule subtree svn switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info
    upload-archive upload-pack var verify-commit verify-pack verify-tag version web--browse whatchanged worktree write-tree
    annex cliff crypt delta extras filter-repo flow gerrit gh gitlab hub issue lfs machete pr pw review secret sizer spice standup
    town absorb branchless move smartlog sync submit cz ci co br st lg df unstage last amend
    """
HOOKS: Final = (
    *("applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "pre-merge-commit", "prepare-commit-msg"),
    *("commit-msg", "post-commit", "pre-rebase", "post-checkout", "post-merge", "pre-push", "post-rewrite"),
    "post-update",
    *("pre-receive", "update", "post-receive", "reference-transaction", "push-to-checkout", "pre-auto-gc"),
    *("sendemail-validate", "fsmonitor-watchman", "post-index-change", "proc-receive"),
)
"""The files that git runs from `.git/hooks` or `core.hooksPath`."""
COMMANDS: Final = frozenset(_COMMAND_NAMES.split())
"""What git has, what is often added to it, and the usual aliases of harmless commands."""


def may_be_alias(word: str, command: str) -> bool:
    """Whether a command that git does not have is likely to be an alias of this one: `git p`, `git fpush`."""
    if word in COMMANDS or not word.isascii() or not word.replace("-", "").isalnum():
        return False
    return command in word or (word[0] == command[0] and set(word) <= set(command) | {"f"})

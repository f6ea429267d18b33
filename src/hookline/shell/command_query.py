"""Whether a command is of a certain program, with a certain subcommand and certain flags.

An answer is True, False, or None where only the shell can know: `rm $x` may have the flag `-r`. Such a command is likely
to match if all that is unknown is the program or the subcommand: `$x -rf /` may well be a deletion, `$EDITOR notes.md` not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern
from hookline.shell.expansion import mark_globs, visible_text
from hookline.shell.git_settings import may_be_alias
from hookline.shell.grammar import ASSIGNMENT, HAS_UNKNOWN, TEMPORARY, UNKNOWN, UNKNOWN_WORDS, UNREAD
from hookline.shell.parsed_text import Path
from hookline.shell.programs import SHELL_VALUE_OPTION, SHELLS, program_name
from hookline.shell.renamed_programs import INPUT_WRITERS, RENAMERS, files_of_input, renamed_files
from hookline.shell.run_text import RunCommand

Answer = bool | None


@dataclass(frozen=True, slots=True)
class OptionTable:
    """The options of a program or subcommand. A letter is a short option, a word a long one."""

    same: tuple[tuple[str, ...], ...] = ()  # spellings of one flag; `+` and `:` are how an operand begins
    values: frozenset[str] = frozenset()  # options that take the next word
    flags: frozenset[str] = frozenset()  # options before a subcommand that never do


def _table(*same: str, values: str = "", flags: str = "") -> OptionTable:
    return OptionTable(tuple(tuple(each.split()) for each in same), frozenset(values.split()), frozenset(flags.split()))


_RECURSIVE: Final = _table("R recursive", "f silent quiet", "v verbose")
_CONTAINER_RUN: Final = _table(
    *("v volume mount", "p publish", "d detach", "e env", "i interactive", "t tty", "u user", "w workdir"),
    *("net network", "P publish-all"),
    values="v volume mount p publish e env u user w workdir net network name entrypoint label l hostname h pid",
)
_KUBECTL_VALUES: Final = (
    "n namespace context kubeconfig cluster user s server token as as-group as-uid request-timeout cache-dir "
    "certificate-authority client-certificate client-key tls-server-name username password profile profile-output "
    "o output field-manager cascade grace-period timeout field-selector filename selector kustomize"
)
OPTIONS: Final[dict[str, OptionTable]] = {
    "rm": _table("r R recursive", "f force", "d dir", "i I interactive", "v verbose"),
    **dict.fromkeys(("chmod", "chown", "chgrp"), _RECURSIVE),
    "cp": _table(
        "r R recursive a archive",
        "f force",
        "n no-clobber",
        "i interactive",
        "t target-directory",
        values="t S target-directory",
    ),
    "mv": _table("f force", "n no-clobber", "i interactive", values="t S target-directory suffix"),
    "ln": _table("s symbolic", "f force", values="t S target-directory suffix"),
    "git": _table(
        values="C c git-dir work-tree namespace super-prefix config-env attr-source exec-path",
        flags="p P paginate no-pager bare no-replace-objects literal-pathspecs no-optional-locks no-advice",
    ),
    "git push": _table(
        *("f force force-with-lease +", "d delete :", "n dry-run", "u set-upstream", "q quiet", "v verbose"),
        values="o push-option receive-pack exec repo",
    ),
    **dict.fromkeys(("git send-pack", "git http-push"), _table("f force +", "n dry-run", values="receive-pack exec")),
    "git rm": _table("r", "f force", "n dry-run", "q quiet", values="pathspec-from-file"),
    "git clean": _table("f force", "n dry-run", "q quiet", "i interactive", values="e exclude"),
    "git branch": _table("d D delete", "f D force", "m M move", values="u set-upstream-to"),
    "git commit": _table("a all", "n no-verify", "s signoff", values="m message F file C c author date t template"),
    "git add": _table("A all", "f force", "u update", "n dry-run", "p patch"),
    **dict.fromkeys(
        ("git checkout", "git switch"), _table("f force discard-changes", "B C force-create", values="b c B C")
    ),
    "git fetch": _table("f force +", "p prune", "a append", "t tags"),
    "git tag": _table("d delete", "f force", "a annotate", values="m message F file u local-user"),
    "curl": _table(
        *("d data data-raw data-binary data-ascii data-urlencode json", "F form form-string", "T upload-file"),
        *("X request", "o output", "O remote-name", "k insecure", "L location", "s silent", "H header", "u user"),
        *("x proxy", "K config", "I head"),
        values="d F T X o H u x K A b c e m w r y Y z E C D P Q U",
    ),
    "wget": _table(
        *("O output-document", "q quiet", "i input-file", "P directory-prefix", "r recursive", "m mirror"),
        values="O o i P U e t T w Q A R D l",
    ),
    "docker": _table(values="H host context c config l log-level", flags="D debug tls tlsverify"),
    "podman": _table(values="url connection c log-level root runroot"),
    **dict.fromkeys(
        (f"{program} {command}" for program in ("docker", "podman") for command in ("run", "create", "exec")),
        _CONTAINER_RUN,
    ),
    **dict.fromkeys(
        (f"{program} {command}" for program in ("docker", "podman") for command in ("rm", "rmi")),
        _table("f force", "v volumes", "l link", "a all"),
    ),
    **dict.fromkeys(("kubectl", "oc"), _table(values=_KUBECTL_VALUES)),
    **dict.fromkeys(("kubectl get", "oc get"), _table("o output", values=_KUBECTL_VALUES)),
    "gpg": _table("o output", "d decrypt", "export-secret-keys export-secret-key"),
    "kubectl delete": _table(
        "f filename", "A all-namespaces", "l selector", "R recursive", values=f"f l k {_KUBECTL_VALUES}"
    ),
    "kubectl apply": _table("f filename", "k kustomize", "R recursive", values=f"f l k {_KUBECTL_VALUES}"),
    **dict.fromkeys(
        ("helm", "helmfile"),
        _table(
            values="n namespace kube-context kubeconfig kube-apiserver kube-token f values set set-string set-file version "
            "description post-renderer timeout repo username password e environment l selector file"
        ),
    ),
    **dict.fromkeys(("sed", "gsed"), _table("i in-place", values="e f l expression file")),
    "yq": _table("i inplace in-place"),
    **dict.fromkeys(("sort",), _table("o output")),
    "fdisk": _table("l list", values="b C H S o t sector-size cylinders heads sectors output type"),
    "sfdisk": _table("l list", "d dump", values="o output"),
    "parted": _table("l list", values="a align"),
    "gdisk": _table("l list"),
    "sgdisk": _table("p print"),
    **dict.fromkeys(
        ("cargo", "cargo publish"),
        _table(
            "n dry-run",
            values="p package F features manifest-path target target-dir registry index token j jobs config Z C color exclude",
        ),
    ),
    **dict.fromkeys(
        ("ansible-playbook", "ansible"),
        _table(
            "C check",
            values="i inventory inventory-file e extra-vars l limit t tags skip-tags u user f forks M module-path c connection "
            "T timeout private-key key-file a args m module-name start-at-task vault-id vault-password-file "
            "become-method become-user become-password-file connection-password-file ssh-common-args ssh-extra-args "
            "sftp-extra-args scp-extra-args P poll B background",
        ),
    ),
    **dict.fromkeys(
        (f"hookline {command}".strip() for command in ("", "init", "setup", "trust", "install", "uninstall", "hub")),
        _table("h help", values="pack agent mcp missing config host port store redis workspace", flags="debug"),
    ),
}
"""By program, and by program and subcommand."""
_NO_OPTIONS: Final = OptionTable()
_MAX_POSITIONS: Final = 40  # at which a command may begin
_MAX_SPELLINGS: Final = 10_000
_READS_STDIN: Final = frozenset(("-", "-s", "/dev/stdin"))  # arguments of a shell that runs what it is given


@dataclass(frozen=True, slots=True)
class CommandQuery:
    programs: tuple[str, ...]
    subcommands: tuple[str, ...] = ()  # one of these; each may be several words
    flags: tuple[str, ...] = ()  # all of these, in any spelling
    names: frozenset[str] = field(init=False, compare=False, repr=False)
    first_words: frozenset[str] = field(init=False, compare=False, repr=False)  # of the subcommands

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "first_words", frozenset(word for each in self.subcommands for word in each.split()[:1])
        )
        object.__setattr__(self, "names", frozenset(name for each in self.programs for name in program_names(each)))

    def answer(self, command: RunCommand) -> Answer:
        is_program = self.is_program(command)
        if not is_program or not (self.subcommands or self.flags):
            return is_program
        arguments = [mark_globs(word) for word in command.words[1:]]
        return self._arguments_answer(normalize_program(mark_globs(command.words[0])), arguments)

    def is_likely(self, command: RunCommand) -> bool:
        """Whether all that is asked for is there, but for an unknown program or subcommand. For an answer of None."""
        return self._is_likely([mark_globs(word) for word in command.words])

    def _is_likely(self, words: list[str]) -> bool:
        answer = self._is_likely_here(words)
        if answer is not None:
            return answer
        starts = [at for at in _commands_behind(words) if _program_answer(words[at], self.names) is not False]
        return len(starts) > _MAX_POSITIONS or any(self._is_likely_here(words[at:]) for at in starts)

    def _is_likely_here(self, words: list[str]) -> Answer:
        """None if the command may also begin behind the first word, which is unknown."""
        first, arguments = words[0], words[1:]
        if UNREAD in first:
            return True
        match _program_answer(first, self.names):
            case False:
                return False
            case True:
                return self._has_arguments(normalize_program(first), arguments)
        base = first.rsplit("/", 1)[-1]
        is_named = HAS_UNKNOWN.sub("", base) != ""  # `r?`, `$x/rm`
        if is_named and _program_answer(base, self.names) is False:
            return False
        needs_arguments = bool(self.subcommands or self.flags)
        if not (arguments if needs_arguments else is_named):
            return None
        return True if any(self._arguments_answer(each, arguments) for each in self.names) else None

    def _has_arguments(self, program: str, arguments: list[str]) -> bool:
        """Whether the flags are there, and the subcommand or something unknown in its place."""
        if not self.subcommands:
            return self._flags_answer(program, "", arguments) is True
        for subcommand in self.subcommands:
            is_found, rest = _find_subcommand(program, subcommand.split(), list(arguments))
            if is_found is not False and self._flags_answer(program, subcommand, rest):
                return True
        return False

    def _arguments_answer(self, program: str, arguments: list[str]) -> Answer:
        if not self.subcommands:
            return self._flags_answer(program, "", arguments) if self.flags else True
        answers = [self._subcommand_answer(program, each, arguments) for each in self.subcommands]
        return True if True in answers else None if None in answers else False

    def is_program(self, command: RunCommand) -> Answer:
        return _program_answer(mark_globs(command.words[0]), self.names)

    def _subcommand_answer(self, program: str, subcommand: str, arguments: Sequence[str]) -> Answer:
        is_found, rest = _find_subcommand(program, subcommand.split(), list(arguments))
        if is_found is False:
            return False
        answer = self._flags_answer(program, subcommand, rest)
        return None if answer and is_found is None else answer

    def _flags_answer(self, program: str, subcommand: str, arguments: Sequence[str]) -> Answer:
        table = OPTIONS.get(f"{program} {subcommand}".strip()) or OPTIONS.get(
            f"{program} {subcommand.partition(' ')[0]}", _NO_OPTIONS
        )
        answers = [_flag_answer(flag, table, arguments) for flag in self.flags]
        return False if False in answers else None if None in answers else True


def normalize_program(word: str) -> str:
    """`/usr/bin/Git.exe` → `git`. Some file systems ignore the case of a name."""
    if word.isalpha() and word.islower():  # most names
        return word
    name = word.rsplit("/", 1)[-1].rsplit("\\", 1)[-1].lower()
    if "@" in name[1:]:  # npx rimraf@5
        name = name[: name.index("@", 1)]
    return program_name(name[:-4] if name.endswith((".exe", ".cmd", ".bat")) else name)


def program_names(program: str) -> Iterator[str]:
    """The names of a program in a query: `sh` stands for every shell."""
    yield normalize_program(program)
    if program == "source":
        yield "."
    if program == "sh":
        yield from SHELLS
        yield from ("fish", "csh", "tcsh")


def _commands_behind(words: Sequence[str]) -> Iterator[int]:
    """Where the command may begin that an unknown program runs, or that it is if `$x` is empty: `$x rm -r y`,
    `$sudo -u root rm -r y`.
    """
    may_be_value = False
    for at, word in enumerate(words[1:], 1):
        is_option = word.startswith("-")
        if not is_option and not ASSIGNMENT.match(word):
            yield at
            if not may_be_value and not HAS_UNKNOWN.search(word):
                return
        may_be_value = is_option


def _program_answer(word: str, names: frozenset[str]) -> Answer:
    if word.isascii():  # nothing is unknown
        return normalize_program(word) in names
    base = word.rsplit("/", 1)[-1].replace(UNREAD, "")
    if UNKNOWN_WORDS in word:
        start = word[: word.index(UNKNOWN_WORDS)]
        base = start.rsplit("/", 1)[-1] + UNKNOWN if start else UNKNOWN
    if UNKNOWN not in base:
        return normalize_program(base) in names
    if base == UNKNOWN:
        return None
    pattern = re.compile(".*".join(map(re.escape, base.lower().split(UNKNOWN))), re.DOTALL)
    return None if any(map(pattern.fullmatch, names)) else False


def _find_subcommand(program: str, wanted: list[str], arguments: list[str]) -> tuple[Answer, list[str]]:
    """Whether these words are the first operands, and the arguments without them."""
    table = OPTIONS.get(program, _NO_OPTIONS)
    before: list[str] = []  # options of the program itself may be those of the subcommand
    may_be_value = False
    while arguments:
        word = arguments.pop(0)
        if HAS_UNKNOWN.search(word):
            may_be = _may_be_option(word) or UNKNOWN_WORDS in word or _fits(word, wanted[0])
            if may_be:
                return None, [*before, word, *arguments]
            if not may_be_value:
                return False, []
            may_be_value = False
        elif word.startswith("-") and len(word) > 1:
            before.append(word)
            name = word.lstrip("-")
            if name in table.values and "=" not in word:
                before += arguments[:1]
                del arguments[:1]
                may_be_value = False
            else:
                is_known = "=" in word or name in table.flags or word == "--"
                may_be_value = not is_known
        elif word == wanted[0]:
            if len(wanted) == 1:
                return True, [*before, *arguments]
            found, rest = _find_subcommand(f"{program} {word}", wanted[1:], arguments)
            return found, [*before, *rest]
        elif program == "git" and may_be_alias(word, wanted[0]):
            return None, [*before, *arguments]
        elif may_be_value:  # the value of an option that is not in the table
            may_be_value = False
        else:
            return False, []
    return False, []


def _fits(word: str, wanted: str) -> bool:
    return re.fullmatch(".*".join(map(re.escape, HAS_UNKNOWN.split(word))), wanted, re.DOTALL) is not None


class _Spellings(NamedTuple):
    """How a flag may be written."""

    all: frozenset[str]
    longs: tuple[str, ...]  # with more than one letter
    starts: tuple[str, ...]  # how an operand begins that says the same


_SPELLINGS: Final[dict[tuple[str, int], _Spellings]] = {}  # by flag, and by the id of the table


def _spellings_of(flag: str, table: OptionTable) -> _Spellings:
    known = _SPELLINGS.get((flag, id(table)))
    if known is None:
        spellings = frozenset((flag, *(name for same in table.same if flag in same for name in same)))
        longs = tuple(each for each in spellings if len(each) > 1)
        known = _Spellings(spellings, longs, tuple(spellings & {"+", ":"}))
        if len(_SPELLINGS) < _MAX_SPELLINGS:
            _SPELLINGS[flag, id(table)] = known
    return known


def _flag_answer(flag: str, table: OptionTable, arguments: Sequence[str]) -> Answer:
    """`-rf` and, for a program with such letters, `rf` are also the flags `r` and `f`."""
    name = flag.lstrip("-")
    answer = _has_flag(name, table, arguments)
    if answer or len(name) < 2 or flag.startswith("--"):
        return answer
    known = {each for same in table.same for each in same}
    is_group = flag.startswith("-") or (name not in known and known.issuperset(name))
    if not is_group:
        return answer
    letters = [_has_flag(letter, table, arguments) for letter in name]
    return answer if False in letters else None if None in letters else True


_HARMLESS_FLAGS: Final = frozenset(
    ("dry-run", "dryrun", "check", "plan", "pretend", "snapshot", "validate-only", "help", "diff")
)
"""Flags with which a command does nothing. One counts only if it is surely there and nothing switches it off again."""
_OFF: Final = frozenset(("false", "none", "no", "off", "0", "f"))


def _has_flag(flag: str, table: OptionTable, arguments: Sequence[str]) -> Answer:
    if flag in _HARMLESS_FLAGS:
        return _has_harmless_flag(flag, table, arguments)
    spellings = _spellings_of(flag, table)
    starts = spellings.starts
    maybe = dashed = False
    for word in arguments:
        if not word.isascii() and HAS_UNKNOWN.search(word):
            operand = UNKNOWN_WORDS in word or (starts and HAS_UNKNOWN.match(word) is not None)
            maybe |= bool(operand) or (not dashed and _may_be_option(word))
        if word == "--":
            dashed = True
        elif (starts and word.startswith(starts)) or (
            not dashed and word.startswith("-") and _is_flag(word, spellings, table)
        ):
            return True
    return None if maybe else False


def _has_harmless_flag(flag: str, table: OptionTable, arguments: Sequence[str]) -> Answer:
    """The last one counts: `--dry-run --no-dry-run` and `--dry-run=none` are no dry run. Nor is the value of an option."""
    spellings = _spellings_of(flag, table)
    offs = {f"--no-{each}" for each in spellings.longs}
    found = is_value = maybe = False
    before = ""
    for word in arguments:
        if word == "--":
            break
        previous, before = before, word
        if flag == "help" and previous.startswith("-"):  # it may be the value of any option
            continue
        maybe |= not word.isascii() and _may_be_option(word) and (UNKNOWN_WORDS in word or not is_value)
        if is_value or not word.startswith("-"):
            is_value = False
            continue
        name, has_value, value = word.partition("=")
        if name in offs:
            found = has_value != "" and value.lower() in _OFF
        elif _is_flag(word, spellings, table):
            found = not (has_value and (value.lower() in _OFF or not value or not value.isascii()))
        else:
            is_value = not has_value and (name.lstrip("-") in table.values or _ends_in_value(name, table))
    return None if maybe else found


def _ends_in_value(option: str, table: OptionTable) -> bool:
    """`-itn`: the last letter takes the next word."""
    letters = option[1:]
    at = next((at for at, letter in enumerate(letters) if letter in table.values), -1)
    return not option.startswith("--") and at >= 0 and at == len(letters) - 1


def _is_flag(word: str, spellings: _Spellings, table: OptionTable) -> bool:
    if len(word) < 2:
        return False
    name = HAS_UNKNOWN.split(word.lstrip("-"))[0] if not word.isascii() else word.lstrip("-")
    name = name.partition("=")[0]
    if word.startswith("--"):  # programs accept the beginning of a long option
        return bool(name) and (name in spellings.all or any(each.startswith(name) for each in spellings.longs))
    if name in spellings.longs:
        return True
    for letter in name:
        if letter in spellings.all:
            return True
        if letter in table.values:  # the rest is its value
            return False
    return False


def _may_be_option(word: str) -> bool:
    """Whether a word with unknown parts may be an option."""
    if UNKNOWN_WORDS in word or word.startswith("-"):
        return True
    if word.startswith(TEMPORARY):
        return False
    return HAS_UNKNOWN.match(word) is not None and re.fullmatch(r"[\w=-]*", HAS_UNKNOWN.sub("", word)) is not None


class _Feeding:
    """Which commands may get what another one prints. Looked up, since each may be asked about every other one."""

    def __init__(self, commands: Iterable[RunCommand]) -> None:
        self._stages: dict[tuple[Path, int], dict[int, list[RunCommand]]] = {}
        for command in commands:
            for at, (pipeline, stage) in enumerate(command.path):
                self._stages.setdefault((command.path[:at], pipeline), {}).setdefault(stage, []).append(command)

    def fed_by(self, command: RunCommand) -> Iterator[RunCommand]:
        """The same as those for which `command.feeds` holds."""
        for at, (pipeline, stage) in enumerate(command.path):
            for other, commands in self._stages.get((command.path[:at], pipeline), {}).items():
                if other > stage:
                    yield from commands


_ROOT_PRINTER: Final = ("git", "rev-parse", "--show-toplevel")  # its output is known: a directory


def pipes_answer(sources: CommandQuery, targets: CommandQuery, commands: Sequence[RunCommand]) -> Answer:
    """Whether a program of the first query feeds one of the second, through pipes or substitutions."""
    first = [
        (command, answer)
        for command in commands
        if (answer := sources.is_program(command)) is not False and command.words != _ROOT_PRINTER
    ]
    second = [
        (command, answer)
        for command in commands
        if (answer := targets.is_program(command)) is not False and not _reads_only_data(command)
    ]
    wanted = {id(command): answer for command, answer in second}
    feeding = _Feeding(command for command, _ in second)
    pairs = {(answer, wanted[id(fed)]) for command, answer in first for fed in feeding.fed_by(command)}
    if (True, True) in pairs:
        return True
    has_source = any(answer for _, answer in first)
    runs_unknown_code = any(map(_is_unknown_code, commands))
    is_unread = any(UNREAD in command.words[0] for command in commands)
    return None if pairs or is_unread or (has_source and runs_unknown_code) else False


_SAVES_AS: Final = frozenset(("--output", "--output-document"))
_SAVES_AS_LETTER: Final = lazy_pattern(r"-[a-zA-Z]*?[oO](.*)", re.DOTALL)  # -o, -Lo, -qO/tmp/x
_SAVES_BY_NAME: Final = lazy_pattern(r"-[a-zA-Z]*O[a-zA-Z]*|--remote-name(?:-all)?")
_COPIES_FROM_HOSTS: Final = frozenset(("scp", "sftp", "rsync", "aws", "gsutil", "gcloud", "rclone", "kubectl", "oc"))
_ONLY_PRINTS: Final = frozenset(
    (
        "ssh",
        "nc",
        "ncat",
        "netcat",
        "socat",
        "telnet",
        "dig",
        "nslookup",
        "host",
        "drill",
        "gh",
        "glab",
        "az",
        "pbpaste",
    )
)
_DELETES: Final = frozenset(("rm", "unlink", "shred", "truncate", "trash", "trash-put"))  # what they are given, not run
_STARTUP_OPTIONS: Final = frozenset(("--rcfile", "--init-file"))
_SHELL_CODE: Final = lazy_pattern("-[a-z]*c")
_NOT_SAVED: Final = frozenset(("", "-", "null", "stdout", "stderr"))


def runs_saved_file(
    sources: CommandQuery,
    targets: CommandQuery,
    commands: Sequence[RunCommand],
    files: Sequence[tuple[Path, str]],
    written: Sequence[str] = (),
) -> bool:
    """Whether a file in which one of the first programs saves what it gets is run: `curl -o i.sh … && sh i.sh`.

    Directories do not count, since a `cd` may stand between. The commands may have variables instead of their values,
    and `written` are the targets of redirections that are variables.
    """
    saving = [command for command in commands if sources.is_program(command)]
    feeding, names = _Feeding(commands if saving else ()), dict[Path, list[str]]()
    for path, name in files if saving else ():
        names.setdefault(path, []).append(_base_name(name))
    saved = {name for command in saving for name in _saved_names(command, feeding, names)} - _NOT_SAVED
    if saving:
        saved |= set(map(_base_name, written))
    if not saved:
        return False
    saved |= _made_of(saved, commands, names)
    return any(
        _base_name(command.words[0]) in saved
        or (targets.is_program(command) is True and not saved.isdisjoint(_script_names(command, files)))
        for command in commands
    )


def _made_of(saved: set[str], commands: Sequence[RunCommand], targets: Mapping[Path, list[str]]) -> set[str]:
    """The files that are made of these: `mv x y`, `cat x | tr a b > y`."""
    found, feeding = set(saved), list[Path]()
    for command in commands:
        names = set(map(_base_name, command.words[1:]))
        is_fed = bool(feeding) and _feeds(feeding[-1], command.path)
        if not is_fed and found.isdisjoint((*names, *targets.get(command.path, ()))):
            continue
        feeding.append(command.path)
        found.update(targets.get(command.path, ()))
        name = normalize_program(command.words[0])
        if name in RENAMERS:
            copies = renamed_files(name, command.words)
            found |= {_base_name(file) for file, source in copies if _base_name(source) in found}
        if is_fed and name in INPUT_WRITERS:
            found |= set(map(_base_name, files_of_input(name, command.words)))
    return found - saved - _NOT_SAVED


def _feeds(path: Path, other: Path) -> bool:
    """Whether the commands stand in one pipe, in this order."""
    return path[:-1] == other[:-1] and path[-1:] < other[-1:] and path[-1][0] == other[-1][0]


def _saved_names(command: RunCommand, feeding: _Feeding, files: Mapping[Path, list[str]]) -> Iterator[str]:
    words, program = command.words, normalize_program(command.words[0])
    if program in _COPIES_FROM_HOSTS:
        yield from (_base_name(word).rpartition(":")[2] for word in words[1:] if ":" in word)
    elif program not in _ONLY_PRINTS:
        yield from _names_of_options(words)
        if program != "curl" or any(map(_SAVES_BY_NAME.fullmatch, words)):
            yield from (_base_name(word.partition("?")[0]) for word in words[1:] if "/" in word)
    for each in (command, *feeding.fed_by(command)):
        yield from files.get(each.path, ())
        if each.program == "tee":
            yield from map(_base_name, each.words[1:])


def _names_of_options(words: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(words[1:], 1):
        option, has_value, value = word.partition("=")
        if option in _SAVES_AS:
            yield _base_name(value if has_value else "".join(words[at + 1 : at + 2]))
        elif letter := _SAVES_AS_LETTER.fullmatch(word):
            yield _base_name(letter[1] or "".join(words[at + 1 : at + 2]))


def _script_names(command: RunCommand, files: Sequence[tuple[Path, str]]) -> Iterator[str]:
    """What may be the script: the first operand, or a redirection if there is none. The code of `sh -c` gets another one."""
    scripts, startup_files, option = list[str](), list[str](), ""
    is_shell = program_name(command.words[0]) in SHELLS
    has_code = is_shell and any(map(_SHELL_CODE.fullmatch, command.words))
    for word in command.words[1:]:
        if word[:1] in ("-", "+") and word != "-":
            name, _, value = word.partition("=")
            startup_files += [value] if value and name in _STARTUP_OPTIONS else []
            option = word if is_shell and SHELL_VALUE_OPTION.fullmatch(word) else ""
        elif option:
            startup_files += [word] if option in _STARTUP_OPTIONS else []
            option = ""
        else:
            scripts.append(word)
    chosen = [] if normalize_program(command.words[0]) in _DELETES else scripts[: 2 if has_code else 1]
    redirected = () if chosen else (name for path, name in files if path == command.path)
    return map(_base_name, (*chosen, *startup_files, *redirected))


def _base_name(word: str) -> str:
    """Nothing if it is not known, but for what mktemp made."""
    name = word.rstrip("/").rsplit("/", 1)[-1]
    return name if name == TEMPORARY else "" if HAS_UNKNOWN.search(name) else visible_text(name)


def is_likely_pipe(sources: CommandQuery, targets: CommandQuery, commands: Sequence[RunCommand]) -> bool:
    """Whether the second program is known, or something says that it may be the unknown one. For an answer of None."""
    if any(
        UNREAD in command.words[0] or (targets.is_program(command) and not _reads_only_data(command))
        for command in commands
    ):
        return True
    first = [command for command in commands if sources.is_program(command)]
    if first and any(map(_is_unknown_code, commands)):  # it may be what was printed
        return True
    return any(
        targets.is_likely(command) or not _READS_STDIN.isdisjoint(command.words[1:])
        for command in commands
        if targets.is_program(command) is None and any(each.feeds(command) for each in first)
    )


_CODE_OPTION: Final = {
    "python": lazy_pattern("-[uBIsSE]*c"),
    "perl": lazy_pattern("-[nlpaw0]*[eE]"),
    "ruby": lazy_pattern("-[nlpaw]*e"),
    "node": lazy_pattern("-e|-p|-pe|--eval|--print"),
    "php": lazy_pattern("-r"),
}
_PLAIN_OPTION: Final = lazy_pattern("-[uBIsSEnlw]+|-r(?:json|csv)")
_SCRIPT: Final = lazy_pattern(r"[\w./-]+\.(?:py|m?js|cjs|ts|rb|pl|php)", re.ASCII)
_RUNS_INPUT: Final = lazy_pattern(
    r"\b(?:exec|eval|compile|Function|system|popen|Popen|run|call|spawn|import_module|__import__|require|(?<!json\.)load|vm|marshal"
    r"|pickle|child_process|subprocess|instance_eval|class_eval|assert|create_function)\b|`"
)
_DATA_MODULES: Final = frozenset(("json.tool", "json", "base64"))


def _reads_only_data(command: RunCommand) -> bool:
    """Whether an interpreter has its code from its arguments, and what is piped into it is no code.

    `python3 -m json.tool`, `node -e '…'`, `python3 report.py`; not if that code may run its input.
    """
    words = command.words
    if len(words) < 2 or not all(map(str.isascii, words)):
        return False
    code_option = _CODE_OPTION.get(normalize_program(words[0]))
    if code_option is None:
        return False
    for at, word in enumerate(words[1:], 1):
        value = words[at + 1] if at + 1 < len(words) else ""
        if word == "-m":
            return value in _DATA_MODULES
        if code_option.fullmatch(word):
            return value != "" and _RUNS_INPUT.search(value) is None
        if not _PLAIN_OPTION.fullmatch(word):
            return _SCRIPT.fullmatch(word) is not None
    return False


def _is_unknown_code(command: RunCommand) -> bool:
    """As of `eval "$x"`, and not a program `$x`."""
    return command.words == (UNKNOWN_WORDS,) and command.replaces < 0

"""Finds the words of a command that may name files that it runs.

It finds too many rather than too few. Every word counts, unless the command plainly writes that file, or is known to only
read it and to pass what it reads to nothing that could run it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Final

from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import lazy_pattern
from hookline.shell.grammar import ASSIGNMENT
from hookline.shell.programs import CODE_VARIABLES, INTERPRETERS, SHELLS, program_name
from hookline.shell.run_patterns import ShellToken, find_run_patterns, tokenize

_MAX_DEPTH: Final = 4  # commands quoted inside commands
_OPERATOR: Final = lazy_pattern(r"<<<|<<-?|[<>]\(|&>>?|>>|>\||>&|<&|<>|[<>]|\|\||&&|;;&?|;&|[|;&\n()`]")
_OUTPUT: Final = frozenset(("&>", "&>>", ">>", ">|", ">&", ">"))
_IGNORED_TARGET: Final = frozenset(("<<", "<<-", "<&"))  # their word is a delimiter or a descriptor
_KEYWORDS: Final = frozenset(("if", "then", "elif", "else", "while", "until", "do", "!", "{", "time"))
_COMPOUND_END: Final = frozenset(("}", "done", "fi", "esac"))
_VARIABLE_NAME: Final = lazy_pattern(r"\$\{?([A-Za-z_]\w*)")
_SUBSTITUTION: Final = lazy_pattern(r"\$\(|`|[<>]\(")
_LOOSE_BREAK: Final = lazy_pattern(r"""(?:\$\w+|[\s'"`;|&<>()${}=,:\[\]*?!#\\])+""")
_ATTACHED_VALUE: Final = lazy_pattern(r"-[A-Za-z]([^-\s].*)", re.DOTALL)  # -fx, -Ix, -Mx

_SHELL_TEXT_PROGRAMS: Final = SHELLS | {"fish", "eval", "su", "ssh", "watch", "parallel", "trap"}
_READERS: Final = frozenset(
    [
        "cat",
        "tac",
        "nl",
        "head",
        "tail",
        "grep",
        "egrep",
        "fgrep",
        "rg",
        "ag",
        "wc",
        "ls",
        "dir",
        "stat",
        "file",
        "test",
        "[",
        "[[",
        "diff",
        "cmp",
        "comm",
        "sort",
        "uniq",
        "cut",
        "paste",
        "join",
        "tr",
        "rev",
        "column",
        "fold",
        "fmt",
        "od",
        "xxd",
        "hexdump",
        "strings",
        "base64",
        "md5sum",
        "sha1sum",
        "sha224sum",
        "sha256sum",
        "sha384sum",
        "sha512sum",
        "b2sum",
        "cksum",
        "sum",
        "du",
        "df",
        "realpath",
        "readlink",
        "basename",
        "dirname",
        "jq",
        "echo",
        "printf",
        "true",
        "false",
        ":",
        "cp",
        "mv",
        "ln",
        "install",
        "chmod",
        "chown",
        "date",
        "sleep",
        "exit",
        "return",
        "pwd",
        "id",
        "whoami",
        "uname",
        "hostname",
        "tput",
        "clear",
    ]
)
_WRITERS: Final = frozenset(["touch", "mkdir", "rmdir", "rm", "unlink", "tee", "truncate", "mktemp"])
_COPIERS: Final = frozenset(["cp", "mv", "ln", "install"])
_CODE_OPTIONS: Final = {
    "jq": lazy_pattern(r"-\w*[fL].*|--from-file.*|--library-path.*|--(?:slurp|raw|arg)file"),
    **dict.fromkeys(("grep", "egrep", "fgrep", "ag"), lazy_pattern(r"-\w*f.*|--file.*")),
    "rg": lazy_pattern(r"-\w*f.*|--file.*|--pre(?:=.*)?|--hostname-bin.*"),
    "sort": lazy_pattern(r"--compress-program.*"),
}
"""Options with which a reader runs a file, or takes from it what it looks for."""
_DATA_PROGRAMS: Final = frozenset(("awk", "gawk", "mawk", "nawk", "sed", "gsed"))
"""Their first operand is code, the others are data, unless an option names the code."""
_NO_OUTPUT_OPTION: Final = frozenset(
    (*INTERPRETERS, *_SHELL_TEXT_PROGRAMS, "set", "git", "scp", "sftp", "find", "mount")
)
_OUTPUT_OPTIONS: Final = frozenset(("-o", "--output", "--output-file", "--out"))

_PYTHON_IMPORT: Final = lazy_pattern(r"\b(?:import|from)\s+([\w.]+(?:\s+as\s+\w+)?(?:\s*,\s*[\w.]+(?:\s+as\s+\w+)?)*)")
_NODE_IMPORT: Final = lazy_pattern(r"(?:require|import|from)\s*\(?\s*[\"'`](\.{0,2}/[^\"'`\s]+)")
_NODE: Final = frozenset(("node", "nodejs", "bun", "deno", "tsx", "ts-node"))
NODE_SUFFIXES: Final = (".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".tsx", ".json", ".node")
_IMPLIED_FILES: Final = {
    "make": ("Makefile", "makefile", "GNUmakefile"),
    "gmake": ("Makefile", "makefile", "GNUmakefile"),
    "ninja": ("build.ninja",),
    "just": ("justfile", "Justfile", ".justfile"),
    "task": ("Taskfile.yml", "Taskfile.yaml", "Taskfile.dist.yml"),
    "rake": ("Rakefile", "rakefile", "Rakefile.rb"),
    "bundle": ("Gemfile",),
    **dict.fromkeys(("npm", "npx", "pnpm", "yarn", "bun", "bunx"), ("package.json", ".npmrc", ".yarnrc.yml")),
    "deno": ("deno.json", "deno.jsonc"),
    "composer": ("composer.json",),
    **dict.fromkeys(
        ("gradle", "gradlew"),
        (
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradle/wrapper/gradle-wrapper.properties",
            "gradle/wrapper/gradle-wrapper.jar",
        ),
    ),
    **dict.fromkeys(("mvn", "mvnw"), ("pom.xml", ".mvn/jvm.config", ".mvn/maven.config", ".mvn/extensions.xml")),
    "cargo": ("Cargo.toml", "build.rs", ".cargo/config.toml"),
    "go": ("go.mod", "go.work"),
    "tox": ("tox.ini", "pyproject.toml", "setup.cfg", "tox.toml"),
    "nox": ("noxfile.py",),
    **dict.fromkeys(("pytest", "py.test"), ("conftest.py", "pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg")),
    **dict.fromkeys(("invoke", "inv"), ("tasks.py",)),
    "fab": ("fabfile.py",),
    **dict.fromkeys(("uv", "poetry", "pdm", "hatch"), ("pyproject.toml",)),
    "pipenv": ("Pipfile",),
    "pre-commit": (".pre-commit-config.yaml",),
    "lefthook": ("lefthook.yml",),
    **dict.fromkeys(
        ("docker", "docker-compose", "podman"),
        ("Dockerfile", "compose.yaml", "compose.yml", "docker-compose.yaml", "docker-compose.yml"),
    ),
    "eslint": ("eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", ".eslintrc.js", ".eslintrc.cjs"),
    "prettier": ("prettier.config.js", "prettier.config.mjs", ".prettierrc.js"),
    "jest": ("jest.config.js", "jest.config.ts", "jest.config.mjs", "jest.config.cjs"),
    "vitest": ("vitest.config.ts", "vitest.config.js", "vite.config.ts", "vite.config.js"),
}
"""Files that a program reads its commands from without being told."""


@dataclass(frozen=True, slots=True)
class FileWord:
    text: str
    is_searched: bool = False  # a directory or a pattern: every file in it counts


@dataclass(slots=True)
class _Command:
    words: list[str] = field(default_factory=list)
    inputs: list[str] = field(default_factory=list)  # files behind <
    in_substitution: bool = False  # another command gets its output as words or as a file
    is_piped: bool = False
    has_output_file: bool = False
    next: _Command | None = None  # the command that reads its output

    @property
    def program_at(self) -> int:
        """The position of its program, after keywords and assignments."""
        at = 0
        while at < len(self.words) and (self.words[at] in _KEYWORDS or ASSIGNMENT.match(self.words[at])):
            at += 1
        return at

    @property
    def program(self) -> str:
        at = self.program_at
        return self.words[at] if at < len(self.words) else ""

    @property
    def is_assignment(self) -> bool:
        """It only sets variables."""
        return not self.inputs and bool(self.words) and all(map(ASSIGNMENT.match, self.words))

    @property
    def arguments(self) -> list[str]:
        return self.words[self.program_at + 1 :]

    @property
    def only_reads(self) -> bool:
        """Whether it does nothing with its files but read or write them."""
        program = self.program
        if any(map(_loads_code, self.words[: self.program_at])):  # LD_PRELOAD=./x.so ls
            return False
        if program in _WRITERS or (not program and not self.words):
            return True
        options = _CODE_OPTIONS.get(program)
        return program in _READERS and not (options and any(map(options.fullmatch, self.arguments)))


def _loads_code(word: str) -> bool:
    assigned = ASSIGNMENT.match(word)
    return assigned is not None and CODE_VARIABLES.fullmatch(assigned[1]) is not None


def find_file_words(text: str) -> Iterator[FileWord]:
    """The words of shell text that may name files that it runs."""
    yield from _words_of_text(text, _MAX_DEPTH)


def find_code_words(text: str) -> Iterator[FileWord]:
    """The same for code of another language. What it quotes may be a command."""
    commands = [quoted for quoted in _QUOTED_TEXT.findall(text) if _has_space(quoted)]
    for quoted in commands:
        yield from _words_of_text(quoted[1:-1], _MAX_DEPTH)
    rest = _QUOTED_TEXT.sub(lambda quoted: " " if _has_space(quoted[0]) else quoted[0], text)
    yield from map(FileWord, _loose_words(rest))


_QUOTED_TEXT: Final = lazy_pattern(r"""'[^'\n]*'|"[^"\n]*"|`[^`]*`""")


def _has_space(text: str) -> bool:
    return any(char.isspace() for char in text)


def _loose_words(text: str) -> Iterator[str]:
    return filter(None, (text, *_LOOSE_BREAK.split(text)))


def _words_of_text(text: str, depth: int) -> Iterator[FileWord]:
    commands, tokens = _split_commands(list(tokenize(text)))
    ends_in_pipe = any(command.is_piped and _COMPOUND_END.intersection(command.words[-1:]) for command in commands)
    runs_nothing = all(command.only_reads or not command.program for command in commands)
    counted: list[_Command] = []
    assignments: list[str] = []
    for command in commands:
        if command.is_assignment:
            assignments += command.words
        elif not ends_in_pipe and _is_harmless(command, runs_nothing):
            yield from _inside_substitutions(command.words, depth)
        else:
            counted.append(command)
    variables = {name for command in counted for word in command.words for name in _VARIABLE_NAME.findall(word)}
    used = [word for word in assignments if ASSIGNMENT.split(word, maxsplit=1)[1] in variables]
    for command in (*counted, _Command(used)):
        yield from _words_of_command(command, depth)
    yield from _inside_substitutions(assignments, depth)
    yield from (FileWord(pattern, is_searched=True) for pattern in find_run_patterns(tokens))


def _words_of_command(command: _Command, depth: int) -> Iterator[FileWord]:
    yield from _implied_words(command)
    programs = {program_name(word) for word in command.words}
    is_shell_alone = bool(programs & _SHELL_TEXT_PROGRAMS) and not programs & (
        INTERPRETERS.keys() - _SHELL_TEXT_PROGRAMS
    )
    for word in _counted_words(command):
        yield FileWord(word)
        attached = _ATTACHED_VALUE.fullmatch(word)
        if attached:
            yield FileWord(attached[1])
        if any(char.isspace() or char in "'\"(;" for char in word):
            yield from _words_in_word(word, is_shell_alone, depth)


def _words_in_word(word: str, for_shell: bool, depth: int) -> Iterator[FileWord]:
    """A quoted word may be a command for a shell, or code of another language."""
    if depth and (for_shell or _SUBSTITUTION.search(word)):
        yield from _words_of_text(word, depth - 1)
    if not for_shell or not depth:
        yield from map(FileWord, _loose_words(word))


def _inside_substitutions(words: Iterable[str], depth: int) -> Iterator[FileWord]:
    """What the words run themselves: `echo "$(./x)"`."""
    for word in filter(_SUBSTITUTION.search, words):
        if not depth:
            yield from map(FileWord, _loose_words(word))
        else:
            commands, _ = _split_commands(list(tokenize(word)))
            for command in commands:
                if command.in_substitution:
                    yield from map(FileWord, _counted_words(command))
                    yield from _implied_words(command)
                    yield from _inside_substitutions(command.words, depth - 1)


def _is_harmless(command: _Command, runs_nothing: bool) -> bool:
    """Whether none of its files is run: it only reads or writes them, and so does whatever gets its output."""
    if command.in_substitution or not command.only_reads:
        return False
    if command.program in _WRITERS and command.program != "tee":
        return True
    if runs_nothing:
        return _passes_to_readers(command)
    if command.has_output_file or command.program in {*_COPIERS, "tee"}:
        return command.program == "tee" and not command.inputs
    return _passes_to_readers(command, but_no_file=True)


def _passes_to_readers(command: _Command, *, but_no_file: bool = False) -> bool:
    """Whether every command that gets its output only reads it, and does not write it into a file."""
    while command.next is not None:
        command = command.next
        if not command.only_reads or (but_no_file and (command.program == "tee" or command.has_output_file)):
            return False
    return True


def _counted_words(command: _Command) -> list[str]:
    words, program = command.words, program_name(command.program)
    if program in _DATA_PROGRAMS and not command.is_piped and not command.in_substitution:
        operands = [at for at, word in enumerate(words) if at > command.program_at and not word.startswith("-")]
        if len(operands) == len(words) - command.program_at - 1 and not command.has_output_file:
            words = words[: operands[0] + 1] if operands else words
            return words
    if program not in _NO_OUTPUT_OPTION:
        words = [word for at, word in enumerate(words) if not at or words[at - 1] not in _OUTPUT_OPTIONS]
    return [*words, *command.inputs]


def _implied_words(command: _Command) -> Iterator[FileWord]:
    """Files that the command runs without writing their names out."""
    words = command.words
    programs = {program_name(word) for word in words}
    for name in programs:
        yield from map(FileWord, _IMPLIED_FILES.get(name, ()))
    if programs & {"python", "pypy"}:
        yield from map(FileWord, _python_files(words))
    if programs & _NODE:
        operands = [word.partition("=")[2] if word.startswith("-") else word for word in words]
        operands += [path for word in words for path in _NODE_IMPORT.findall(word)]
        yield from (FileWord(f"{word}{end}") for word in operands if word for end in NODE_SUFFIXES)
        yield from (FileWord(f"{word}/index{end}") for word in operands if word for end in NODE_SUFFIXES)
        yield from (FileWord(f"{word}/package.json") for word in operands if word)
    if programs & {"perl", "ruby", "lua", "luajit"}:
        yield from map(FileWord, _library_files(words))
    if "go" in programs:
        yield from (FileWord("*.go" if word in (".", "./") else word, is_searched=True) for word in words[1:])
        yield FileWord("*.go", is_searched=True)
    if "git" in programs:
        yield from (
            FileWord(word.partition("=")[2], is_searched=True)
            for word in words
            if "hookspath=" in word.lower() or word.startswith("--exec-path=")
        )


def _python_files(words: list[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        option = re.fullmatch(r"-[bBdEiIOPqsSuvx]*m(.*)", word)
        module = (option[1] or "".join(words[at + 1 : at + 2])) if option else ""
        for imported in _PYTHON_IMPORT.findall(word):  # python3 -c 'import x'
            for each in imported.split(","):
                yield from _module_files(each.split()[0])
        if re.fullmatch(r"[\w.]+", module):
            yield from _module_files(module)
            yield from _IMPLIED_FILES.get(module, ())
        elif not word.startswith("-"):
            yield f"{word}/__main__.py"


def _module_files(module: str) -> Iterator[str]:
    path = module.replace(".", "/")
    yield from (f"{path}.py", f"{path}/__main__.py", f"{path}/__init__.py")
    while "/" in path:
        path = path.rpartition("/")[0]
        yield f"{path}/__init__.py"


def _library_files(words: list[str]) -> Iterator[str]:
    """`perl -Mx`, `ruby -rx`, `lua -lx`."""
    for at, word in enumerate(words):
        option = re.fullmatch(r"-[mMrl]-?(.*)", word, re.DOTALL)
        name = (option[1] or "".join(words[at + 1 : at + 2])) if option else ""
        name = name.partition("=")[0].replace("::", "/")
        if name:
            yield from (name, f"{name}.pm", f"{name}.rb", f"{name}.lua")


def _split_commands(tokens: list[ShellToken]) -> tuple[list[_Command], list[ShellToken]]:
    """The simple commands, and the tokens without the names of files that are only written."""
    splitter = _Splitter()
    kept: list[ShellToken] = []
    for token in tokens:
        if token.is_operator:
            for operator in _OPERATOR.findall(token.text):
                splitter.add_operator(operator)
        elif splitter.add_word(token.text):
            continue
        kept.append(token)
    return splitter.finish(), kept


class _Splitter:
    def __init__(self) -> None:
        self._done: list[_Command] = []
        self._current = _Command()
        self._outer: list[tuple[str, _Command]] = []
        self._redirection = ""

    def add_word(self, word: str) -> bool:
        """True if it is the name of a file that is only written."""
        redirection, self._redirection = self._redirection, ""
        if redirection in _OUTPUT:
            self._current.has_output_file = self._current.has_output_file or not word.isdigit()
            if not _SUBSTITUTION.search(word):
                return True
        if redirection in ("<", "<>"):
            self._current.inputs.append(word)
        elif redirection not in _IGNORED_TARGET:
            self._current.words.append(word)
        return False

    def add_operator(self, operator: str) -> None:
        if operator in _OUTPUT or operator in _IGNORED_TARGET or operator in ("<", "<>", "<<<"):
            self._redirection = operator
        elif operator in ("(", "<(", ">("):
            self._open(operator)
        elif operator == ")":
            self._close()
        elif operator == "`":
            if self._outer and self._outer[-1][0] == "`":
                self._close()
            else:
                self._open("`")
        else:
            self._end(is_piped=operator == "|")

    def finish(self) -> list[_Command]:
        while self._outer:
            self._close()
        self._end()
        return self._done

    def _open(self, operator: str) -> None:
        self._redirection = ""
        self._outer.append((operator, self._current))
        self._current = _Command(in_substitution=True)  # the output of a subshell may go anywhere, too

    def _close(self) -> None:
        self._end()
        if self._outer:
            self._current = self._outer.pop()[1]
        self._redirection = ""

    def _end(self, *, is_piped: bool = False) -> None:
        command, self._redirection = self._current, ""
        self._current = _Command(in_substitution=bool(self._outer))
        command.is_piped = is_piped
        if is_piped:
            command.next = self._current
        if command.words or command.inputs or is_piped:
            self._done.append(command)

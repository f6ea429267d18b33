"""Finds the files that a script of the project runs in turn: what it sources, imports, or starts by its path."""

from __future__ import annotations

import json
import os
import re
import shlex
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from itertools import islice
from pathlib import Path
from typing import Final

from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern
from hookline.project.referenced_files import (
    MAX_FILES,
    OPEN_FLAGS,
    FileReferences,
    TooManyReferencesError,
    find_referenced_files,
    references_of_words,
)
from hookline.shell.file_words import NODE_SUFFIXES, FileWord, find_file_words
from hookline.shell.grammar import HAS_UNKNOWN
from hookline.shell.run_commands import read_commands

MAX_SCRIPT_BYTES: Final = 200_000
"""A larger file is a bundle or data: it is not searched for what it imports."""
_CODE_SUFFIXES: Final = frozenset(
    [
        *(".sh", ".bash", ".zsh", ".ksh", ".dash", ".fish", ".py", ".pyw", ".pyc", ".pyz", ".so", ".rb", ".pl", ".pm"),
        *(".php", ".lua", ".awk", ".sed", ".tcl", ".jar", ".exs", ".r", ".R", ".groovy", ".go"),
        *(".mk", ".mak", ".make", ".just"),
        *NODE_SUFFIXES,
    ]
) - {".json"}
_CODE_STARTS: Final = (b"#!", b"\x7fELF", b"\xcf\xfa\xed\xfe", b"\xca\xfe\xba\xbe")
_COMMENT: Final = lazy_pattern(r"(?m)^[ \t]*#.*$")
_QUOTED: Final = lazy_pattern(r"""'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`""")
_PYTHON_IMPORT: Final = lazy_pattern(
    r"(?m)^[ \t]*(?:from[ \t]+(?P<dots>\.*)(?P<module>[\w.]*)[ \t]+import[ \t]+(?P<names>\([^)]*\)|[^\n#;]+)"
    r"|import[ \t]+(?P<modules>[^\n#;]+))|\b(?:import_module|__import__)\(\s*['\"](?P<called>[\w.]+)"
)
_PERL_IMPORT: Final = lazy_pattern(r"(?m)^[ \t]*(?:use|require)[ \t]+([A-Z]\w*(?:::\w+)*)")
_NO_SHADOW: Final = frozenset(("test", "this", "antigravity", "idlelib"))  # no program imports them
_MAX_DIRECTORIES: Final = 16  # in which a script may look for what it imports
_MAX_NAME: Final = 255
_NOT_RUN: Final = FileReferences()


@dataclass(frozen=True, slots=True)
class ScriptReferences:
    imported: FileReferences = _NOT_RUN  # every such file counts
    named: FileReferences = _NOT_RUN  # such a file counts if it looks like code
    modules: tuple[str, ...] = ()  # that a Python file imports, as paths without a suffix
    is_python: bool = False


def add_imported_files(files: Iterable[Path], root: Path, expected: Iterable[Path] = ()) -> tuple[Path, ...]:
    """The files, and the files inside `root` that they run in turn. Raises TooManyReferencesError."""
    expected = frozenset(expected)
    found = dict.fromkeys(files)
    queue = list(found)
    while queue:
        script = queue.pop()
        for file in _imported_files(script, root, expected):
            if file not in found:
                found[file] = None
                queue.append(file)
        if len(found) > MAX_FILES:
            raise TooManyReferencesError(f"its commands run more than {MAX_FILES} files")
    return tuple(sorted(found))


def _imported_files(script: Path, root: Path, expected: frozenset[Path]) -> Iterator[Path]:
    data = _read_script(script)
    if data is None:
        return
    references = _references_of(script.name, data)
    directory = script.parent
    for place in (directory, *_named_directories(references, root, directory)):
        yield from find_referenced_files(references.imported, root, place, expected)
        yield from _extension_modules(references.modules, place, expected)
    for file in find_referenced_files(references.named, root, directory, expected):
        if file in expected or _looks_like_code(file):
            yield file
    if references.is_python:
        yield from _shadowed_modules(directory, expected)


def _named_directories(references: ScriptReferences, root: Path, directory: Path) -> list[Path]:
    """Where the script may look for what it imports."""
    if not references.imported.words:
        return []
    found = (base / word for base in (root, directory) for word in references.named.words if len(word) < _MAX_NAME)
    inside = (path for path in found if path.is_relative_to(root) and path not in (root, directory))
    return list(islice((path for path in inside if os.path.isdir(path)), _MAX_DIRECTORIES))


def _read_script(path: Path) -> bytes | None:
    """None if it is not a text of a usual size."""
    try:
        descriptor = os.open(path, OPEN_FLAGS)
        with open(descriptor, "rb") as file:
            is_file = stat.S_ISREG(os.fstat(descriptor).st_mode)
            data = file.read(MAX_SCRIPT_BYTES + 1) if is_file else b"\0"
    except OSError:
        return None
    return None if b"\0" in data or len(data) > MAX_SCRIPT_BYTES else data


def _looks_like_code(path: Path) -> bool:
    if path.suffix in _CODE_SUFFIXES:
        return True
    try:
        with path.open("rb") as file:
            return file.read(4).startswith(_CODE_STARTS)
    except OSError:
        return False


def _shadowed_modules(directory: Path, expected: frozenset[Path]) -> Iterator[Path]:
    """Python looks for its own modules beside the script first."""
    try:
        names = os.listdir(directory)
    except OSError:
        return
    if "__init__.py" in names:  # a package: scripts are elsewhere
        return
    for path in dict.fromkeys((*(directory / name for name in names), *expected)):
        if path.name == "__init__.py":
            path = path.parent
        if path.parent != directory or not _is_standard_module(path.name):
            continue
        if not path.suffix:
            yield from _extension_modules((path.name,), directory, expected)
            path = path / "__init__.py"
        if path.suffix in (".py", ".pyc", ".so") and (path in expected or path.is_file()):
            yield path


def _extension_modules(modules: Iterable[str], directory: Path, expected: frozenset[Path]) -> Iterator[Path]:
    """Compiled modules, and packages that are one: Python prefers them to a .py file, with any of several suffixes."""
    stems: dict[str, set[str]] = {}
    for module in modules:
        place = os.path.normpath(directory / module)
        stems.setdefault(os.path.dirname(place), set()).add(os.path.basename(place))
        stems.setdefault(place, set()).add("__init__")
    for place, wanted in stems.items():
        try:
            names = os.listdir(place)
        except OSError:
            names = []
        found = {Path(place, name) for name in names} | {path for path in expected if str(path.parent) == place}
        yield from (path for path in found if path.suffix in (".so", ".pyd") and path.name.partition(".")[0] in wanted)


def _is_standard_module(name: str) -> bool:
    stem = name.partition(".")[0]
    return stem in sys.stdlib_module_names and stem not in _NO_SHADOW


@lru_cache(maxsize=512)
def _references_of(name: str, data: bytes) -> ScriptReferences:
    read = _reader_of(name, data)
    return read(data.decode("utf-8", "replace")) if read is not None else ScriptReferences()


def _reader_of(name: str, data: bytes) -> Callable[[str], ScriptReferences] | None:
    suffix = os.path.splitext(name)[1].lower()
    if suffix in _READERS:
        return _READERS[suffix]
    first = data.partition(b"\n")[0].decode("utf-8", "replace")
    if first.startswith("#!"):
        program = next((each for each in _READER_BY_PROGRAM if each in first), "")
        return _READER_BY_PROGRAM.get(program, _read_other)
    if name == "package.json":
        return _read_package
    return _read_shell if not suffix else None


def _read_shell(text: str) -> ScriptReferences:
    text = _COMMENT.sub("", text)
    commands = [[HAS_UNKNOWN.sub("$X", word) for word in each.words] for each in read_commands(text).commands]
    words = list(find_file_words(text))
    for command in commands:
        words += find_file_words(shlex.join(command).replace("'$X'", "$X"))
        words += (FileWord(word.replace("$X", "", 1).lstrip("/")) for word in command if word.startswith("$X/"))
    sourced = [FileWord(word) for command in commands if command[0] in (".", "source") for word in command[1:2]]
    return ScriptReferences(references_of_words(sourced), references_of_words(words))


def _read_python(text: str) -> ScriptReferences:
    modules: dict[str, None] = {}
    for found in _PYTHON_IMPORT.finditer(text):
        if found["modules"] is not None or found["called"] is not None:
            for module in (found["modules"] or found["called"]).split(","):
                modules[module.strip().partition(" ")[0].replace(".", "/")] = None
            continue
        above = "../" * (len(found["dots"]) - 1)
        base = above + found["module"].replace(".", "/")
        modules[base] = None
        for name in found["names"].strip("()").split(","):
            imported = name.strip().partition(" ")[0]
            modules[f"{base}/{imported}" if found["module"] else f"{above}{imported}"] = None
    words = [FileWord(word) for module in modules for word in _python_module_files(module)]
    paths = tuple(dict.fromkeys(path for module in modules for path in _module_paths(module)))
    return ScriptReferences(references_of_words(words), references_of_words(_quoted_words(text)), paths, is_python=True)


def _python_module_files(module: str) -> Iterator[str]:
    for number, path in enumerate(_module_paths(module)):
        yield from (f"{path}.py", f"{path}/__init__.py")
        if number == 0:
            yield f"{path}.pyc"


def _module_paths(module: str) -> Iterator[str]:
    """The module and the packages that it is in."""
    if not re.fullmatch(r"[\w./]+", module):
        return
    path = module.strip("/")
    yield path
    while "/" in path and not path.endswith(".."):
        path = path.rpartition("/")[0]
        yield path


def _read_javascript(text: str) -> ScriptReferences:
    quoted = list(_quoted_words(text))
    paths = [word.text for word in quoted if word.text.startswith(("./", "../"))]
    imported = [FileWord(f"{path}{end}") for path in paths for end in ("", *NODE_SUFFIXES)]
    imported += [FileWord(f"{path}/index{end}") for path in paths for end in NODE_SUFFIXES]
    return ScriptReferences(references_of_words(imported), references_of_words(quoted))


def _read_other(text: str) -> ScriptReferences:
    """Ruby, Perl, PHP, Lua and the like."""
    quoted = list(_quoted_words(text))
    more = [FileWord(f"{word.text}{end}") for word in quoted for end in (".rb", ".pl", ".pm")]
    more += [FileWord(f"{word.text.replace('.', '/')}.lua") for word in quoted]
    perl = [FileWord(f"{name.replace('::', '/')}.pm") for name in _PERL_IMPORT.findall(text)]
    libraries = [FileWord(f"lib/{word.text}") for word in perl]
    return ScriptReferences(references_of_words((*perl, *libraries, *more)), references_of_words(quoted))


def _read_package(text: str) -> ScriptReferences:
    """The commands of a package.json."""
    try:
        scripts = json.loads(text)["scripts"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return ScriptReferences()
    commands = [each for each in scripts.values() if isinstance(each, str)] if isinstance(scripts, Mapping) else []
    return ScriptReferences(_NOT_RUN, references_of_words(word for text in commands for word in find_file_words(text)))


def _quoted_words(text: str) -> Iterator[FileWord]:
    """Quoted texts that may be paths, and the words of those that may be commands."""
    for groups in _QUOTED.findall(text):
        quoted = next(filter(None, groups), "")
        if not any(char.isspace() for char in quoted):
            yield FileWord(quoted)
        else:
            yield from (word for word in find_file_words(quoted) if "." in word.text or "/" in word.text)


_READERS: Final[Mapping[str, Callable[[str], ScriptReferences]]] = {
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh", ".dash", ".fish", ".mk"), _read_shell),
    **dict.fromkeys((".py", ".pyw"), _read_python),
    **dict.fromkeys((end for end in NODE_SUFFIXES if end not in (".json", ".node")), _read_javascript),
    **dict.fromkeys((".rb", ".pl", ".pm", ".php", ".lua", ".awk", ".tcl"), _read_other),
}
_READER_BY_PROGRAM: Final[Mapping[str, Callable[[str], ScriptReferences]]] = {
    "python": _read_python,
    **dict.fromkeys(("node", "deno", "bun"), _read_javascript),
    **dict.fromkeys(("ruby", "perl", "php", "lua", "awk"), _read_other),
    "sh": _read_shell,
}

"""Programs that a line gives another name: `cp $(which git) g; ./g push`, `ln -s`, `hash -p`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

_COPIERS: Final = frozenset(("cp", "mv", "ln", "link", "install", "rsync", "gcp", "gmv", "gln", "ginstall"))
RENAMERS: Final = _COPIERS | {"dd", "hash"}
_TEES: Final = frozenset(("tee", "sponge", "gtee"))
INPUT_WRITERS: Final = RENAMERS | _TEES
_INPUTS: Final = frozenset(("-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"))


def renamed_files(name: str, words: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each file that the command makes, with the one that it is a copy of."""
    if name == "dd":
        given = dict(word.split("=", 1) for word in words[1:] if "=" in word)
        if "if" in given and "of" in given:
            yield given["of"], given["if"]
        return
    operands = [word for word in words[1:] if not word.startswith("-")]
    if name == "hash":
        if "-p" in words and len(operands) > 1:
            yield from ((each, operands[0]) for each in operands[1:])
        return
    target = next((word.partition("=")[2] for word in words if word.startswith("--target-directory=")), "")
    if not target and len(operands) > 1:
        target = operands[-1 if "-t" not in words else 0]
    for source in operands:
        if source != target and target:
            yield target, source


def files_of_input(name: str, words: Sequence[str]) -> Iterator[str]:
    """The files into which the program writes what it reads: `tee x`, `dd of=x`, `cp /dev/stdin x`."""
    if name in _TEES:
        yield from (word for word in words[1:] if not word.startswith("-"))
    elif name == "dd" and not any(word.startswith("if=") for word in words):
        yield from (word[3:] for word in words[1:] if word.startswith("of="))
    else:
        yield from (file for file, source in renamed_files(name, words) if source in _INPUTS)

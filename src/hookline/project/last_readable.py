"""What counts instead of a file that cannot be read: its last good version, or else a hook that holds every call.

Copies of the user's own files are kept in the state directory, so that a new process has them too. Accepted versions of a
project's files are kept by the trust store.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from hookline.config.problem import Problem, errors_of
from hookline.config.reader import MAX_FILE_BYTES, salvage_text
from hookline.engine.book import Layer
from hookline.hooks.actions.hold import HoldCall
from hookline.hooks.conditions.logic import ALWAYS
from hookline.hooks.hook import Hook, Origin
from hookline.lazy_dataclasses import dataclass, replace
from hookline.lazy_imports import hashlib, lazy_logger
from hookline.project.effective_file import EffectiveFile
from hookline.project.parsed_file import ParsedFile, parse_document
from hookline.project.private_file import write_private_file
from hookline.project.sources import SourceLayer

_log = lazy_logger("hookline")

_MAX_PLACES: Final = 5  # of errors in a reason
_DIRECTORY: Final = "readable"
_UNTRUSTED_REASON: Final = (
    "A hooks file of this repository, which nobody has trusted yet, cannot be read. `hookline check` says why."
)


@dataclass(frozen=True, slots=True)
class LastReadable:
    """Copies of the user's files as they were when they last had no errors."""

    state_directory: Path

    def resolve(self, parsed: ParsedFile) -> ParsedFile:
        """The file as it is, or its last good version, with the problems of the file as it is."""
        if parsed.source.layer is not SourceLayer.USER:
            return parsed
        copy = self._copy_path(parsed)
        if not parsed.is_unreadable:
            if parsed.is_valid and parsed.text:
                _write_if_changed(copy, parsed.text)
            return parsed
        text = _read_copy(copy)
        document = None if text is None else salvage_text(text, parsed.source.display_path)[0]
        known = None if document is None else parse_document(document, parsed.source)
        return parsed if known is None or known.is_unreadable else replace(known, problems=parsed.problems)

    def _copy_path(self, parsed: ParsedFile) -> Path:
        digest = hashlib.sha256(os.fsencode(parsed.source.path)).hexdigest()[:32]
        return self.state_directory / _DIRECTORY / f"{digest}{parsed.source.path.suffix}"


def hold_if_unreadable(effective: EffectiveFile) -> EffectiveFile:
    """Adds a hook that holds every tool call if nobody can say what the file's hooks are."""
    parsed = effective.parsed
    if not parsed.is_unreadable:
        return effective
    problem, is_trusted = parsed.errors[0], not parsed.source.is_from_project
    reason = f"{problem} Nobody can say what this file guards, so every call waits until it can be read."
    if not is_trusted:  # a problem may quote the file, and an agent reads the reason
        reason = _UNTRUSTED_REASON
    hold = Hook(
        id=f"{parsed.source.path.name}:unreadable",
        event="tool.before",
        when=ALWAYS,
        then=HoldCall(reason),
        origin=Origin(problem.file, problem.line, parsed.dialect or parsed.source.dialect or ""),
        is_trusted=is_trusted,
    )
    return replace(effective, hooks=(*effective.hooks, hold))


def hold_on_problems(files: Iterable[ParsedFile], problems: Iterable[Problem]) -> tuple[Layer, ...]:
    """A layer that holds every tool call if there are errors, and a file of the user's own says `on_problem: closed`."""
    errors = errors_of(problems)
    closing = next((file for file in files if file.closes_on_problem and file.source.layer is SourceLayer.USER), None)
    if closing is None or not errors:
        return ()
    places = ", ".join(dict.fromkeys(f"{problem.file}:{problem.line}" for problem in errors[:_MAX_PLACES]))
    more = f" and {len(errors) - _MAX_PLACES} more" if len(errors) > _MAX_PLACES else ""
    reason = f"The config has errors ({places}{more}), and {closing.source.display_path} says on_problem: closed."
    hold = Hook(
        id="on_problem",
        event="tool.before",
        when=ALWAYS,
        then=HoldCall(reason),
        origin=Origin(closing.source.display_path, 1, closing.dialect or ""),
    )
    return (Layer("problems", [hold]),)


def _read_copy(path: Path) -> str | None:
    try:
        with path.open("rb") as file:
            return file.read(MAX_FILE_BYTES).decode("utf-8")
    except (OSError, ValueError):
        return None


def _write_if_changed(path: Path, text: str) -> None:
    """A state directory that cannot be written has no copies."""
    if _read_copy(path) == text:
        return
    try:
        write_private_file(path, text.encode("utf-8"))
    except OSError as error:
        _log.debug("cannot keep a copy of %s: %s", path, error)

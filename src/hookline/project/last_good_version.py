"""The last good version of a user's own file, which counts while the file cannot be read.

Copies are kept in the state directory, so that a new process has them too. Accepted versions of a project's files are kept
by the trust store.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final

from hookline.config.reader import MAX_FILE_BYTES, salvage_text
from hookline.lazy_dataclasses import dataclass, replace
from hookline.lazy_imports import hashlib, lazy_logger
from hookline.project.parsed_file import ParsedFile, parse_document
from hookline.project.private_file import write_private_file
from hookline.project.sources import SourceLayer

_log = lazy_logger("hookline")

_DIRECTORY: Final = "readable"


@dataclass(frozen=True, slots=True)
class LastGoodVersions:
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

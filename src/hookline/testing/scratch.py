"""A directory and a log that belong to one case and are gone after it."""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

_log = logging.getLogger("hookline")


@contextmanager
def scratch(files: Mapping[str, str]) -> Iterator[Path]:
    """A fresh directory with these files, and an empty `home/` in it. A file that begins with #! can be run."""
    with tempfile.TemporaryDirectory(prefix="hookline-case-", ignore_cleanup_errors=True) as name:
        directory = Path(name).resolve()
        (directory / "home").mkdir()
        for relative, text in files.items():
            path = directory / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(text.encode("utf-8", "surrogatepass"))
            if text.startswith("#!"):
                path.chmod(0o755)
        yield directory


class _Kept(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.INFO)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(f"{record.levelname.lower()}: {record.getMessage()}")


@contextmanager
def kept_log() -> Iterator[list[str]]:
    """The log's lines from here on; whoever shows the log shows it only while debugging."""
    kept = _Kept()
    handlers, level, propagate = _log.handlers, _log.level, _log.propagate
    debugging = _log.isEnabledFor(logging.DEBUG) and bool(handlers)
    _log.handlers = [*handlers, kept] if debugging else [kept]
    _log.setLevel(logging.DEBUG if debugging else logging.INFO)
    _log.propagate = False
    try:
        yield kept.lines
    finally:
        _log.handlers, _log.propagate = handlers, propagate
        _log.setLevel(level)

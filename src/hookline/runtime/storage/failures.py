"""What went wrong with a database, in one line that says what to do."""

from __future__ import annotations

import errno
import sqlite3
from typing import Final

from sqlalchemy.exc import DBAPIError, IntegrityError, StatementError

from hookline.errors import HooklineError

_SHOWN: Final = 300

_SQLITE: Final = (
    ("is locked", "{place} is locked by another program; try again when that has ended"),
    ("readonly", "{place} cannot be written; see to the rights of the file and of its directory"),
    ("is full", "{place} cannot be written: the disk is full. Nothing of this was stored; make room and try again"),
    ("disk I/O error", "{place} cannot be read or written: disk I/O error. See whether the disk has room and works"),
    ("not a database", "{place} is not a hookline database; move that file away or name another"),
    ("malformed", "{place} is damaged; move it away, or bring back a copy of it"),
    ("unable to open", "{place} cannot be opened; see whether its directory is there and may be written"),
    ("already exists", "{place} has tables of something else; name another file"),
    ("too big", "this is too large for {place}"),
)
_POSTGRES: Final = (
    ("3D000", "{place} does not exist; make it with createdb"),
    ("28", "{place} does not let this user in; see to the user, the password and pg_hba.conf"),
    ("42501", "{place} does not give this user enough rights"),
    ("42P07", "{place} has tables of something else; give hookline a database of its own"),
    ("53100", "{place} cannot be written: its disk is full. Nothing of this was stored; make room and try again"),
    ("25006", "{place} is read-only"),
    ("40", "{place} was busy with something that excludes this. Nothing of this was stored; try again"),
    ("55P03", "{place} is locked by another program; try again when that has ended"),
    ("54", "this is too large for {place}"),
    ("08", "the connection to {place} was lost; see whether the server runs and try again"),
    ("57P", "{place} is shutting down or starting; try again when it runs"),
)
_SYSTEM: Final = {
    errno.EACCES: "{place} cannot be written; see to the rights of the file and of its directory",
    errno.EPERM: "{place} cannot be written; see to the rights of the file and of its directory",
    errno.EROFS: "{place} cannot be written: the disk is read-only; name a file on another",
    errno.ENOSPC: "{place} cannot be written: the disk is full. Nothing of this was stored; make room and try again",
}
_NO_OWNER: Final = "this belongs to a session or thread that is not stored (any more)"
_TWICE: Final = "something else is stored under this id already"


def explained(failed: Exception, place: str) -> Exception:
    """A HooklineError for everything that a database can do to us; our own bugs stay what they are."""
    place = " ".join(place.split())
    if isinstance(failed, StatementError) and isinstance(failed.orig, HooklineError):
        return failed.orig
    if isinstance(failed, StatementError) and not isinstance(failed, DBAPIError):
        return failed
    cause = failed.orig if isinstance(failed, DBAPIError) and failed.orig is not None else failed
    if isinstance(failed, IntegrityError) and (text := _broken(cause)):
        return HooklineError(text)
    if isinstance(cause, TimeoutError):
        return HooklineError(f"{place} did not answer in time; see whether it is busy or held, and try again")
    for text in _known(cause):
        return HooklineError(text.format(place=place))
    return HooklineError(f"{place} cannot be used: {_line(cause)}")


def _known(cause: BaseException) -> list[str]:
    state = getattr(cause, "sqlstate", None)
    if isinstance(state, str):
        return [text for start, text in _POSTGRES if state.startswith(start)]
    if isinstance(cause, sqlite3.Error):
        return [text for part, text in _SQLITE if part in str(cause)]
    return [_SYSTEM[cause.errno]] if isinstance(cause, OSError) and cause.errno in _SYSTEM else []


def _broken(cause: BaseException) -> str | None:
    """Both databases name the kind of a broken constraint in their text or state, and nothing else that is stable."""
    state = getattr(cause, "sqlstate", None)
    if state == "23503" or "FOREIGN KEY" in str(cause):
        return _NO_OWNER
    return _TWICE if state == "23505" or "UNIQUE" in str(cause) else None


def _line(cause: BaseException) -> str:
    said = f"{cause.strerror}: {cause.filename}" if isinstance(cause, OSError) and cause.filename else str(cause)
    text = " ".join(said.split()) or type(cause).__name__
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"

"""A project's file is trusted only if the user accepted this very text, and what the files that it names hold.

What the user has accepted, in one file that every process of the user shares.

What a project's hooks may do before the user has accepted them: deny, ask, log and notify, with constant text.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import stat
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from threading import Lock
from typing import Any, Final

from hookline.config.problem import Problem, Severity
from hookline.errors import HooklineError
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer, UntrustedAction
from hookline.hooks.actions.chain import Chain, ChainStep
from hookline.hooks.actions.notify import Log, Notify
from hookline.hooks.hook import Hook
from hookline.hooks.outcome import Audience, Note, Outcome, Verdict
from hookline.hooks.protocols import Action
from hookline.project.parsed_file import CodeFolder, ParsedFile, read_source
from hookline.project.referenced_files import (
    NO_REFERENCES,
    FileReferences,
    TooManyReferencesError,
    find_referenced_files,
    find_references,
)
from hookline.project.review import Review, effects_of_capability, effects_of_folder, effects_of_hook
from hookline.project.sources import Source

_log = logging.getLogger("hookline")

TRUST_FILE_VERSION: Final = 1
_MAX_TRUST_FILE_BYTES: Final = 50_000_000  # bytes
_warned_files: set[str] = set()
_warned_files_lock = Lock()


class TrustFile:
    """`{"version": 1, "files": {path: {"hash": …, "at": …}}}`. A file that cannot be read accepts nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def accepted_hash(self, file: Path) -> str | None:
        entry = self._read_files().get(str(file))
        found = entry.get("hash") if isinstance(entry, dict) else None
        return found if isinstance(found, str) else None

    def add(self, hashes: Mapping[Path, str]) -> None:
        """Safe beside other processes that do the same. Raises HooklineError if it cannot be written."""
        now = datetime.now(UTC).isoformat(timespec="seconds")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with _file_lock(self.path.with_name(self.path.name + ".lock")):
                self._refuse_newer_version()
                new = {str(file): {"hash": hash, "at": now} for file, hash in hashes.items()}
                _write_atomically(self.path, {"version": TRUST_FILE_VERSION, "files": {**self._read_files(), **new}})
        except OSError as error:
            raise HooklineError(f"{self.path} cannot be written: {error.strerror or error}") from error

    def _read_files(self) -> dict[str, Any]:
        try:
            held = self._read_json()
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            self._warn_once(f"cannot be read ({type(error).__name__})")
            return {}
        files = held.get("files") if isinstance(held, dict) else None
        if not isinstance(files, dict) or held.get("version") != TRUST_FILE_VERSION:
            self._warn_once(f"is not a list of version {TRUST_FILE_VERSION}")
            return {}
        return files

    def _refuse_newer_version(self) -> None:
        """A newer hookline's list is not ours to overwrite; a broken one is."""
        try:
            held = self._read_json()
        except (OSError, ValueError, RecursionError):
            return
        version = held.get("version") if isinstance(held, dict) else None
        if isinstance(version, int) and version > TRUST_FILE_VERSION:
            raise HooklineError(f"{self.path} is of version {version}; this hookline knows {TRUST_FILE_VERSION}")

    def _read_json(self) -> Any:
        with self.path.open("rb") as file:
            return json.loads(file.read(_MAX_TRUST_FILE_BYTES))

    def _warn_once(self, what: str) -> None:
        with _warned_files_lock:
            if str(self.path) in _warned_files:
                return
            _warned_files.add(str(self.path))
        _log.warning("%s %s, so no project's file counts as trusted; `hookline trust` writes it anew", self.path, what)


def _write_atomically(path: Path, value: Any) -> None:
    descriptor, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)  # only its owner may read it
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(value, file, indent=1, sort_keys=True)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o600)
    try:
        _lock_descriptor(descriptor)
        yield
    finally:
        os.close(descriptor)  # which gives the lock back


def _lock_descriptor(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has none; there the last writer wins
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)


def restrict_hook(hook: Hook) -> Hook:
    if not needs_trust(hook):
        return hook
    return replace(hook, then=_restrict_action(hook.then), on_error=restrict_outcome(hook.on_error))


def _restrict_action(action: Action) -> Action:
    """A guard whose reason has placeholders still guards: it shows its reason as it was written."""
    if is_permitted(action):
        return action
    if isinstance(action, TemplateAnswer) and (action.outcome.verdict >= Verdict.ASK or action.outcome.halt):
        said = action.reason.source if action.reason else action.outcome.reason
        return FixedAnswer(replace(restrict_outcome(action.outcome), reason=said))
    return UntrustedAction(action)


def needs_trust(hook: Hook) -> bool:
    """A constant answer cannot fail, so its hook's on_error never counts."""
    fails_harmlessly = hook.then.constant is not None or hook.on_error == restrict_outcome(hook.on_error)
    return not (is_permitted(hook.then) and fails_harmlessly)


def is_permitted(action: Action) -> bool:
    match action:
        case FixedAnswer(constant):
            return constant == restrict_outcome(constant)
        case Log(text):
            return text.constant
        case Notify(message, title):
            return message.constant and title.constant
        case Chain(steps):
            return all(is_permitted(step.action) and _fails_harmlessly(step) for step in steps)
        case _:
            return False


def _fails_harmlessly(step: ChainStep) -> bool:
    return step.on_error is None or step.on_error == restrict_outcome(step.on_error)


def restrict_outcome(outcome: Outcome) -> Outcome:
    """Without what could open a door: an allow, changes, words for the agent, requests, silencing other hooks."""
    return replace(
        outcome,
        verdict=outcome.verdict if outcome.verdict >= Verdict.ASK else Verdict.SILENT,
        changes=(),
        notes=tuple(note for note in outcome.notes if _is_for_user(note)),
        requests=(),
        final=False,
    )


def _is_for_user(note: Note) -> bool:
    """A note without text takes a failure's words, which are ours."""
    return note.audience is Audience.USER or not note.text


_MAX_HASHED_BYTES: Final = (
    64_000_000  # bytes of named files; what is larger is known by its place on the disk and its times
)
_WARNING: Final = Severity.WARNING
_NOT_IMPORTED_TEXT: Final = "the Python files in {} were not imported, so their hooks are not seen here."
_warned_versions: set[tuple[Path, str]] = set()
_warned_versions_lock = Lock()


def trust_file_path(home: Path, state_home: Path | None = None) -> Path:
    """Where a user's acceptances are kept."""
    return (state_home or home / ".local" / "state") / "hookline" / "trust.json"


@dataclass(frozen=True, slots=True)
class EffectiveFile:
    """A file's hooks as they may act now."""

    parsed: ParsedFile
    hooks: tuple[Hook, ...]
    references: FileReferences = NO_REFERENCES  # of which one may become that of a file, and so change what is trusted
    folders: tuple[CodeFolder, ...] = ()  # whose code may be imported now
    problems: tuple[Problem, ...] = ()  # beside those that the file has
    trusted: bool = True  # whether what it wants beside its hooks may be

    @property
    def is_valid(self) -> bool:
        return self.parsed.is_valid and all(problem.severity is not Severity.ERROR for problem in self.problems)

    def referenced_files(self) -> tuple[Path, ...]:
        return (*_referenced_files(self.parsed.source, self.references), *_folder_files(self.parsed))

    def import_folders(self) -> EffectiveFile:
        """With the hooks of its folders: this runs their code."""
        if not self.folders:
            return self
        loaded = [folder.import_hooks() for folder in self.folders]
        hooks = [hook for each in loaded for hook in each.hooks]
        known = set(self.parsed.problems)
        problems = [problem for each in loaded for problem in each.problems if problem not in known]
        return replace(self, hooks=(*self.hooks, *hooks), problems=(*self.problems, *problems), folders=())

    def without_folders(self) -> EffectiveFile:
        """Without those hooks, and saying so."""
        hint = "Only a session, fire and test import it."
        notes = [
            Problem(
                "not-imported",
                self.parsed.source.display_path,
                folder.line,
                _NOT_IMPORTED_TEXT.format(folder.display_path),
                hint,
                _WARNING,
            )
            for folder in self.parsed.folders
        ]
        return replace(self, problems=(*self.problems, *notes), folders=())


class Trust:
    """`path` is the file that remembers what was accepted."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._accepted = TrustFile(path)

    def effective_file(self, held: ParsedFile) -> EffectiveFile:
        """Without trust, the file's hooks in their restricted form; the user is told once for each version of it."""
        wishes = _hooks_needing_trust(held)
        if not held.source.is_from_project:
            return EffectiveFile(held, held.hooks, folders=held.folders)
        if not wishes and not held.folders and not held.capabilities:
            return EffectiveFile(held, _restrict_all(held))
        about_hooks = bool(wishes or held.folders)
        try:
            names = _references_of(held, wishes)
            hash = _trust_hash(held, (*_referenced_files(held.source, names), *_folder_files(held)))
        except TooManyReferencesError as too_many:
            if about_hooks:
                _warn_untrusted(held, str(too_many), too_many)
            return EffectiveFile(held, _restrict_all(held), trusted=False)
        if self._accepted.accepted_hash(held.source.path) == hash:
            return EffectiveFile(held, held.hooks, names, held.folders)
        if about_hooks:
            _warn_untrusted(held, hash)
        return EffectiveFile(held, _restrict_all(held), names, trusted=False)

    def trusts(self, source: Source) -> bool:
        """True for the user's own files, and for a file with nothing in it that needs trust."""
        return not self.untrusted_sources((source,))

    def untrusted_sources(self, sources: Iterable[Source]) -> tuple[Source, ...]:
        """Those in which something waits for the user's trust."""
        return tuple(source for source in sources if not self._is_accepted(read_source(source)))

    def review(self, source: Source) -> Review:
        """Raises TooManyNames where a file names more than can be watched."""
        held = read_source(source)
        wishes = _hooks_needing_trust(held)
        names = (*_referenced_files(source, _references_of(held, wishes)), *_folder_files(held))
        root = source.project or source.path.parent
        shown = tuple(os.path.relpath(name, root) for name in names)
        asked = (
            *map(effects_of_hook, wishes),
            *map(effects_of_folder, held.folders),
            *map(effects_of_capability, held.capabilities),
        )
        return Review(source, _trust_hash(held, names), self._is_accepted(held), asked, shown)

    def accept(self, what: Iterable[Source | Review]) -> None:
        """Of a review, exactly what it showed, even if the files are different by now; of a source, what it says now."""
        reviews = [each if isinstance(each, Review) else self.review(each) for each in what]
        foreign = {review.source.path: review.hash for review in reviews if review.source.is_from_project}
        if foreign:
            self._accepted.add(foreign)

    def _is_accepted(self, held: ParsedFile) -> bool:
        wishes = _hooks_needing_trust(held)
        if not wishes and not (held.source.is_from_project and (held.folders or held.capabilities)):
            return True
        try:
            hash = _trust_hash(
                held, (*_referenced_files(held.source, _references_of(held, wishes)), *_folder_files(held))
            )
        except TooManyReferencesError:
            return False
        return self._accepted.accepted_hash(held.source.path) == hash


def _hooks_needing_trust(held: ParsedFile) -> list[Hook]:
    """The hooks of a project's file that need trust; one that is switched off needs none."""
    if not held.source.is_from_project:
        return []
    return [hook for hook in held.hooks if hook.enabled and needs_trust(hook)]


def _references_of(held: ParsedFile, wishes: Iterable[Hook]) -> FileReferences:
    return find_references(
        wishes, (wanted.paths_text for wanted in held.capabilities), (wanted.prose for wanted in held.capabilities)
    )


def _restrict_all(held: ParsedFile) -> tuple[Hook, ...]:
    return tuple(restrict_hook(hook) for hook in held.hooks)


def _referenced_files(source: Source, names: FileReferences) -> tuple[Path, ...]:
    if source.project is None:
        return ()
    return tuple(
        file for file in find_referenced_files(names, source.project, source.path.parent) if file != source.path
    )


def _folder_files(held: ParsedFile) -> tuple[Path, ...]:
    """Every file that importing its folders could run. Raises TooManyNames."""
    try:
        return tuple(dict.fromkeys(file for folder in held.folders for file in folder.files()))
    except HooklineError as too_many:
        raise TooManyReferencesError(str(too_many)) from None


def _warn_untrusted(held: ParsedFile, version: str, too_many: TooManyReferencesError | None = None) -> None:
    with _warned_versions_lock:
        if (held.source.path, version) in _warned_versions:
            return
        _warned_versions.add((held.source.path, version))
    _log.warning(
        "%s %s its hooks may only deny, ask, log and notify, and only with constant text%s. %s",
        held.source.display_path,
        f"cannot be trusted, because {too_many}:" if too_many else "is not trusted yet: until then",
        ", and its Python files are not imported" if held.folders else "",
        "Name fewer, and run `hookline trust`." if too_many else "Look at it and run `hookline trust`.",
    )


def _trust_hash(held: ParsedFile, names: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    pieces = ["hookline trust 1", held.dialect or "", held.text]
    left = _MAX_HASHED_BYTES
    for name in names:
        content, size = _content_digest(name, left)
        left -= size
        pieces += [os.path.relpath(name, held.source.project), content]
    for piece in pieces:
        data = piece.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def _content_digest(path: Path, most: int) -> tuple[str, int]:
    """What stands for a file's content, and how many bytes were read for it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            data = file.read(most + 1) if stat.S_ISREG(status.st_mode) and status.st_size <= most else None
    except OSError as error:
        return f"cannot be read: {error.errno}", 0
    if data is not None and len(data) <= most:
        return hashlib.sha256(data).hexdigest(), len(data)
    place = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return " ".join(map(str, place)), 0

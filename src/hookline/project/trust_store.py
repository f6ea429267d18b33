"""Which project files the user trusts, and what their hooks may do before that.

Trust covers the exact text of a file and the content of the files that it names. Without it, hooks may only deny, ask,
log and notify, with constant text. All of the user's processes share one trust file.
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
from hookline.hooks.actions.answer import FixedAnswer, TemplateAnswer
from hookline.hooks.actions.chain import Chain, ChainStep
from hookline.hooks.actions.failing import UntrustedAction
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
_MAX_TRUST_FILE_BYTES: Final = 50_000_000
_MAX_HASHED_BYTES: Final = 64_000_000  # of referenced files; larger ones are identified by inode, size and times
_warned_trust_files: set[str] = set()
_warned_versions: set[tuple[Path, str]] = set()
_warned_lock = Lock()


def trust_file_path(home: Path, state_home: Path | None = None) -> Path:
    """The file that stores what the user trusts."""
    return (state_home or home / ".local" / "state") / "hookline" / "trust.json"


@dataclass(frozen=True, slots=True)
class EffectiveFile:
    """A file's hooks as they may act now, restricted if the file is not trusted."""

    parsed: ParsedFile
    hooks: tuple[Hook, ...]
    references: FileReferences = NO_REFERENCES  # a file that appears at one of them changes what is trusted
    folders: tuple[CodeFolder, ...] = ()  # folders whose code may be imported now
    problems: tuple[Problem, ...] = ()  # in addition to those of `parsed`
    trusted: bool = True  # covers the file's capabilities, too

    @property
    def is_valid(self) -> bool:
        return self.parsed.is_valid and all(problem.severity is not Severity.ERROR for problem in self.problems)

    def referenced_files(self) -> tuple[Path, ...]:
        return (*_referenced_files(self.parsed.source, self.references), *_folder_files(self.parsed))

    def import_folders(self) -> EffectiveFile:
        """Adds the hooks of its folders. This runs their code."""
        if not self.folders:
            return self
        loaded = [folder.import_hooks() for folder in self.folders]
        hooks = [hook for each in loaded for hook in each.hooks]
        known = set(self.parsed.problems)
        problems = [problem for each in loaded for problem in each.problems if problem not in known]
        return replace(self, hooks=(*self.hooks, *hooks), problems=(*self.problems, *problems), folders=())

    def without_folders(self) -> EffectiveFile:
        """Leaves out the hooks of its folders, with a warning for each."""
        warnings = [self._not_imported_warning(folder) for folder in self.parsed.folders]
        return replace(self, problems=(*self.problems, *warnings), folders=())

    def _not_imported_warning(self, folder: CodeFolder) -> Problem:
        what = f"The Python files in {folder.display_path} were not imported, so their hooks are missing here."
        hint = "Only a session, `hookline fire` and `hookline test` import them."
        return Problem("not-imported", self.parsed.source.display_path, folder.line, what, hint, Severity.WARNING)


class Trust:
    """What the user trusts, as stored in the file at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._accepted = TrustFile(path)

    def effective_file(self, parsed: ParsedFile) -> EffectiveFile:
        """The file's hooks, restricted if the file is not trusted. Logs that once for each version of the file."""
        hooks = _hooks_needing_trust(parsed)
        if not parsed.source.is_from_project:
            return EffectiveFile(parsed, parsed.hooks, folders=parsed.folders)
        if not hooks and not parsed.folders and not parsed.capabilities:
            return EffectiveFile(parsed, _restrict_all(parsed))
        affects_hooks = bool(hooks or parsed.folders)
        try:
            references = _references_of(parsed, hooks)
            hash = _trust_hash(parsed, (*_referenced_files(parsed.source, references), *_folder_files(parsed)))
        except TooManyReferencesError as too_many:
            if affects_hooks:
                _warn_untrusted(parsed, str(too_many), too_many)
            return EffectiveFile(parsed, _restrict_all(parsed), trusted=False)
        if self._accepted.accepted_hash(parsed.source.path) == hash:
            return EffectiveFile(parsed, parsed.hooks, references, parsed.folders)
        if affects_hooks:
            _warn_untrusted(parsed, hash)
        return EffectiveFile(parsed, _restrict_all(parsed), references, trusted=False)

    def trusts(self, source: Source) -> bool:
        """True for the user's own files, and for a file with nothing in it that needs trust."""
        return not self.untrusted_sources((source,))

    def untrusted_sources(self, sources: Iterable[Source]) -> tuple[Source, ...]:
        """The sources in which something needs the user's trust."""
        return tuple(source for source in sources if not self._is_accepted(read_source(source)))

    def review(self, source: Source) -> Review:
        """Raises TooManyReferencesError if the file names more files than can be watched."""
        parsed = read_source(source)
        hooks = _hooks_needing_trust(parsed)
        files = (*_referenced_files(source, _references_of(parsed, hooks)), *_folder_files(parsed))
        root = source.project or source.path.parent
        names = tuple(os.path.relpath(file, root) for file in files)
        effects = (
            *map(effects_of_hook, hooks),
            *map(effects_of_folder, parsed.folders),
            *map(effects_of_capability, parsed.capabilities),
        )
        return Review(source, _trust_hash(parsed, files), self._is_accepted(parsed), effects, names)

    def accept(self, what: Iterable[Source | Review]) -> None:
        """Trusts exactly what a review showed, even if the files changed since; or what a source says now."""
        reviews = [each if isinstance(each, Review) else self.review(each) for each in what]
        hashes = {review.source.path: review.hash for review in reviews if review.source.is_from_project}
        if hashes:
            self._accepted.add(hashes)

    def _is_accepted(self, parsed: ParsedFile) -> bool:
        hooks = _hooks_needing_trust(parsed)
        if not hooks and not (parsed.source.is_from_project and (parsed.folders or parsed.capabilities)):
            return True
        try:
            references = _references_of(parsed, hooks)
            hash = _trust_hash(parsed, (*_referenced_files(parsed.source, references), *_folder_files(parsed)))
        except TooManyReferencesError:
            return False
        return self._accepted.accepted_hash(parsed.source.path) == hash


def _hooks_needing_trust(parsed: ParsedFile) -> list[Hook]:
    """The hooks of a project's file that need trust; disabled hooks do not."""
    if not parsed.source.is_from_project:
        return []
    return [hook for hook in parsed.hooks if hook.enabled and needs_trust(hook)]


def _references_of(parsed: ParsedFile, hooks: Iterable[Hook]) -> FileReferences:
    return find_references(
        hooks,
        (capability.paths_text for capability in parsed.capabilities),
        (capability.prose for capability in parsed.capabilities),
    )


def _restrict_all(parsed: ParsedFile) -> tuple[Hook, ...]:
    return tuple(restrict_hook(hook) for hook in parsed.hooks)


def _referenced_files(source: Source, references: FileReferences) -> tuple[Path, ...]:
    if source.project is None:
        return ()
    return tuple(
        file for file in find_referenced_files(references, source.project, source.path.parent) if file != source.path
    )


def _folder_files(parsed: ParsedFile) -> tuple[Path, ...]:
    """Every file that importing the folders could run. Raises TooManyReferencesError."""
    try:
        return tuple(dict.fromkeys(file for folder in parsed.folders for file in folder.files()))
    except HooklineError as too_many:
        raise TooManyReferencesError(str(too_many)) from None


def _warn_untrusted(parsed: ParsedFile, version: str, too_many: TooManyReferencesError | None = None) -> None:
    with _warned_lock:
        if (parsed.source.path, version) in _warned_versions:
            return
        _warned_versions.add((parsed.source.path, version))
    _log.warning(
        "%s %s: its hooks may only deny, ask, log and notify, with constant text%s. %s",
        parsed.source.display_path,
        f"cannot be trusted, because {too_many}" if too_many else "is not trusted yet",
        ", and its Python files are not imported" if parsed.folders else "",
        "Name fewer files, then run `hookline trust`." if too_many else "Review it with `hookline trust`.",
    )


def _trust_hash(parsed: ParsedFile, files: Iterable[Path]) -> str:
    digest = hashlib.sha256()
    pieces = ["hookline trust 1", parsed.dialect or "", parsed.text]
    remaining = _MAX_HASHED_BYTES
    for file in files:
        content, size = _content_digest(file, remaining)
        remaining -= size
        pieces += [os.path.relpath(file, parsed.source.project), content]
    for piece in pieces:
        data = piece.encode("utf-8", "surrogatepass")
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def _content_digest(path: Path, max_bytes: int) -> tuple[str, int]:
    """A text that identifies the file's content, and how many bytes were read for it."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
        with open(descriptor, "rb") as file:
            status = os.fstat(descriptor)
            data = file.read(max_bytes + 1) if stat.S_ISREG(status.st_mode) and status.st_size <= max_bytes else None
    except OSError as error:
        return f"cannot be read: {error.errno}", 0
    if data is not None and len(data) <= max_bytes:
        return hashlib.sha256(data).hexdigest(), len(data)
    identity = (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)
    return " ".join(map(str, identity)), 0


def restrict_hook(hook: Hook) -> Hook:
    if not needs_trust(hook):
        return hook
    return replace(hook, then=_restrict_action(hook.then), on_error=restrict_outcome(hook.on_error))


def _restrict_action(action: Action) -> Action:
    """A guard whose reason has placeholders still guards, and shows them unfilled."""
    if is_permitted(action):
        return action
    if isinstance(action, TemplateAnswer) and (action.outcome.verdict >= Verdict.ASK or action.outcome.halt):
        reason = action.reason.source if action.reason else action.outcome.reason
        return FixedAnswer(replace(restrict_outcome(action.outcome), reason=reason))
    return UntrustedAction(action)


def needs_trust(hook: Hook) -> bool:
    """A constant answer cannot fail, so on_error does not matter for it."""
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
    """Removes what could grant something: allow, changes, text for the agent, requests, ending a group."""
    return replace(
        outcome,
        verdict=outcome.verdict if outcome.verdict >= Verdict.ASK else Verdict.SILENT,
        changes=(),
        notes=tuple(note for note in outcome.notes if _is_for_user(note)),
        requests=(),
        final=False,
    )


def _is_for_user(note: Note) -> bool:
    """A note without text shows the failure's text, which hookline writes."""
    return note.audience is Audience.USER or not note.text


class TrustFile:
    """`{"version": 1, "files": {path: {"hash": …, "at": …}}}`. If it cannot be read, nothing is trusted."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def accepted_hash(self, file: Path) -> str | None:
        entry = self._read_files().get(str(file))
        found = entry.get("hash") if isinstance(entry, dict) else None
        return found if isinstance(found, str) else None

    def add(self, hashes: Mapping[Path, str]) -> None:
        """Safe while other processes add too. Raises HooklineError if the file cannot be written."""
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
            content = self._read_json()
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, RecursionError) as error:
            self._warn_once(f"cannot be read ({type(error).__name__})")
            return {}
        files = content.get("files") if isinstance(content, dict) else None
        if not isinstance(files, dict) or content.get("version") != TRUST_FILE_VERSION:
            self._warn_once(f"is not a trust file of version {TRUST_FILE_VERSION}")
            return {}
        return files

    def _refuse_newer_version(self) -> None:
        """Overwrites a broken file, but never the file of a newer hookline."""
        try:
            content = self._read_json()
        except (OSError, ValueError, RecursionError):
            return
        version = content.get("version") if isinstance(content, dict) else None
        if isinstance(version, int) and version > TRUST_FILE_VERSION:
            raise HooklineError(
                f"{self.path} has version {version}, but this hookline supports {TRUST_FILE_VERSION}. Upgrade hookline."
            )

    def _read_json(self) -> Any:
        with self.path.open("rb") as file:
            return json.loads(file.read(_MAX_TRUST_FILE_BYTES))

    def _warn_once(self, what: str) -> None:
        with _warned_lock:
            if str(self.path) in _warned_trust_files:
                return
            _warned_trust_files.add(str(self.path))
        _log.warning("%s %s, so no project file is trusted. Run `hookline trust` to write it again.", self.path, what)


def _write_atomically(path: Path, value: Any) -> None:
    descriptor, name = tempfile.mkstemp(prefix=path.name, dir=path.parent)  # readable by its owner only
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
        os.close(descriptor)  # also releases the lock


def _lock_descriptor(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no fcntl: the last writer wins
        return
    fcntl.flock(descriptor, fcntl.LOCK_EX)

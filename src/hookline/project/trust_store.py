"""Which project files the user trusts, and which hooks are in force because of it.

Trust covers the exact text of a file and of every file of the project that it runs. A change never loosens: the version that
the user accepted stays in force until the user accepts the change or withdraws the trust.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Final

from hookline.config.problem import Problem, Severity
from hookline.config.reader import salvage_text
from hookline.dialects.dialect import CONFIG_LOCATIONS
from hookline.errors import HooklineError
from hookline.hooks.actions.verified import FileChangedError, VerifiedAction
from hookline.hooks.hook import Hook
from hookline.lazy_dataclasses import replace
from hookline.lazy_imports import difflib, hashlib, lazy_logger
from hookline.project.effective_file import EffectiveFile, folder_files
from hookline.project.packs import PackFile
from hookline.project.parsed_file import (
    CodeFolder,
    ParsedFile,
    parse_document,
    read_source,
)
from hookline.project.private_file import write_private_file
from hookline.project.referenced_files import (
    NO_REFERENCES,
    FileReferences,
    TooManyReferencesError,
    find_references,
)
from hookline.project.restrictions import blocks_untrusted, is_restricted, restrict_hook
from hookline.project.review import HookEffects, Review, effects_of_capability, effects_of_folder, effects_of_hook
from hookline.project.run_files import MAX_COPY_BYTES, FileContent, RunFiles, check_contents, is_accepted, read_content
from hookline.project.sources import Source, SourceLayer, find_sources, hub_rules_source
from hookline.project.trust_file import AcceptedVersion, TrustFile, content_digest, warn_once

_log = lazy_logger("hookline")

CHANGED_SINCE_TRUSTED: Final = "changed-since-trusted"  # the code of a problem
_LAYER_ORDER: Final = tuple(SourceLayer)
_NOT_TRUSTED_YET: Final = " (not trusted yet)"


def trust_file_path(home: Path, state_home: Path | None = None) -> Path:
    """The file that stores what the user trusts."""
    return (state_home or home / ".local" / "state") / "hookline" / "trust.json"


class Trust:
    """What the user trusts, as stored in the file at `path`."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._accepted = TrustFile(path)

    def sources(self, directory: Path, home: Path, config_home: Path | None = None) -> tuple[Source, ...]:
        """The files that apply to a session in this directory: those on disk, accepted ones that are gone, the hub's rules."""
        taken = hub_rules_source(self.path.parent)
        found = (*(() if taken is None else (taken,)), *find_sources(directory, home, config_home))
        versions = self._accepted.versions()
        if not versions:
            return found
        places = {os.path.realpath(directory), os.path.abspath(directory)}
        known = {str(source.path) for source in found}
        missing = [
            Source(
                version.path,
                os.path.relpath(version.path, here),
                version.dialect,
                version.layer,
                version.project,
                directory=Path(here),
            )
            for here in sorted(places)
            for version in versions.values()
            if str(version.path) not in known and _applies_to(version, Path(here))
        ]
        if not missing:
            return found
        return tuple(sorted((*found, *dict.fromkeys(missing)), key=lambda source: _LAYER_ORDER.index(source.layer)))

    def deleted_files(self, folder: Path, name: str) -> list[str]:
        """The directories in the folder whose file of this name is gone, and was accepted."""
        paths = (version.path for version in self._accepted.versions().values())
        gone = (path for path in paths if path.name == name and path.parent.parent == folder)
        return [path.parent.name for path in gone if not os.path.lexists(path)]

    def effective_file(self, parsed: ParsedFile, *, for_hooks: bool = True) -> EffectiveFile:
        """The hooks in force because of this file. Logs once for each version that it is not trusted, if hooks are wanted."""
        source = parsed.source
        if source.project is None:
            return EffectiveFile(parsed, parsed.hooks, folders=parsed.folders)
        version = self._accepted.get(source.path)
        accepted = self._read_accepted(version, parsed) if version is not None else None
        if version is None or accepted is None:
            needs_trust = _needs_trust(parsed)
            if needs_trust and for_hooks:
                _warn_untrusted(parsed, self._find_obstacle(parsed))
            hooks = tuple(map(restrict_hook, parsed.hooks))
            return EffectiveFile(parsed, hooks, trusted=not needs_trust, standing="restricted")
        in_force = replace(self._verify(accepted, version), standing="accepted")
        if accepted is parsed:
            return in_force
        unreadable = parsed.problems if os.path.lexists(source.path) else ()
        return replace(
            in_force,
            hooks=(*in_force.hooks, *new_guards(parsed, accepted)),
            problems=(*in_force.problems, *unreadable, _describe_change(parsed, version)),
            changed=parsed,
        )

    def has_accepted(self, source: Source) -> bool:
        """True if the user trusts a version of this file, the present one or another."""
        return source.project is not None and self._accepted.get(source.path) is not None

    def trusts(self, source: Source) -> bool:
        """True for the user's own files, and for a file with nothing in it that needs trust."""
        return not self.untrusted_sources((source,))

    def untrusted_sources(self, sources: Iterable[Source]) -> tuple[Source, ...]:
        """The sources in which something needs the user's trust, or is not as the user accepted it."""
        return tuple(source for source in sources if not self._is_accepted(read_source(source)))

    def review(self, source: Source) -> Review:
        """Raises HooklineError if the file cannot be read, or names more files than can be watched."""
        parsed = read_source(source)
        if parsed.is_unreadable and os.path.lexists(source.path):
            raise HooklineError("it cannot be read")
        contents = self._read_contents(parsed)
        effects = (
            *(_effects_of_hook(hook, parsed) for hook in parsed.hooks if hook.enabled),
            *map(effects_of_folder, parsed.folders),
            *map(effects_of_capability, parsed.capabilities),
        )
        version = self._accepted.get(source.path)
        state = "new" if version is None else "deleted" if not os.path.lexists(source.path) else "changed"
        return Review(
            source,
            _review_hash(parsed, contents),
            self._is_accepted(parsed),
            effects,
            tuple(contents),
            state,
            parsed.text,
            contents,
            _foreign_packs(parsed),
        )

    def accept(self, what: Iterable[Source | Review]) -> None:
        """Trusts exactly what a review showed, even if the files changed since; or what a source says now."""
        reviews = [each if isinstance(each, Review) else self.review(each) for each in what]
        reviews = [review for review in reviews if review.source.is_from_project]
        gone = [review.source.path for review in reviews if review.state == "deleted" or not review.hook_effects]
        kept = [review for review in reviews if review.source.path not in gone]
        if gone:
            self._accepted.remove(gone)
        if kept:
            versions = [_version_of(review, self._accepted.get(review.source.path)) for review in kept]
            self._accepted.add(versions, (copy for review in kept for copy in _copies_of(review)))

    def revoke(self, sources: Iterable[Source]) -> tuple[Source, ...]:
        """Withdraws the trust in these files. Returns those that were trusted."""
        trusted = tuple(source for source in sources if self._accepted.get(source.path) is not None)
        if trusted:
            self._accepted.remove(source.path for source in trusted)
        return trusted

    def diff(self, source: Source) -> str:
        """What changed since the user accepted the file, in it and in the files that it runs, as a unified diff."""
        version = self._accepted.get(source.path)
        if version is None:
            return ""
        parsed = read_source(source)
        try:
            present = self._read_contents(parsed)
        except TooManyReferencesError:
            present = {}
        accepted = {name: self._accepted.read_copy(digest) for name, digest in version.runs.items()}
        own = os.path.relpath(source.path, source.project)
        pieces = [_unified_diff(own, self._accepted.read_copy(version.text), _read_bytes(source.path))]
        pieces += self._pack_diffs(version, parsed)
        for name in sorted({*accepted, *present}):
            now = present.get(name) or read_content(version.project / name)
            if not is_accepted(now.digest, version.runs.get(name)):
                is_same = now.data is not None and now.data == accepted.get(name)
                pieces.append(
                    f"{name}: it is not executable any more\n"
                    if is_same
                    else _unified_diff(name, accepted.get(name), now.data)
                )
        return "".join(pieces)

    def _pack_diffs(self, version: AcceptedVersion, parsed: ParsedFile) -> Iterator[str]:
        present = {pack.key: pack for pack in _foreign_packs(parsed)}
        for key in sorted({*version.packs, *present}):
            pack = present.get(key)
            now = None if pack is None or pack.text is None else _encode(pack.text)
            before = self._accepted.read_copy(version.packs[key]) if key in version.packs else None
            if before != now:
                name = os.path.relpath(key, version.project) if os.path.isabs(key) else key
                yield _unified_diff(name, before, now)

    def verify_stored_hooks(self, hooks: Sequence[Hook], directory: Path) -> tuple[Hook, ...]:
        """Hooks that a session has stored, such as those of a skill, as they may act in this directory."""
        here = os.path.realpath(directory)
        versions = [self._accepted.get(Path(os.path.normpath(os.path.join(here, hook.origin.file)))) for hook in hooks]
        return tuple(
            hook if version is None else _verify_hook(hook, version, self._accepted.bytecode)
            for hook, version in zip(hooks, versions, strict=True)
        )

    def _read_accepted(self, version: AcceptedVersion, parsed: ParsedFile) -> ParsedFile | None:
        """`parsed` itself if it is the accepted version. None if there is no copy of it."""
        has_folders = all(problem.code != "no-folder" for problem in parsed.problems)
        is_same = content_digest(_encode(parsed.text)) == version.text and _pack_digests(parsed) == version.packs
        if is_same and parsed.dialect is not None and has_folders:
            return parsed
        copy = self._accepted.read_copy(version.text)
        packs = {key: self._accepted.read_copy(digest) for key, digest in version.packs.items()}
        if copy is None or None in packs.values():
            return None
        document, _ = salvage_text(copy, parsed.source.display_path)
        texts = {key: data.decode("utf-8", "surrogatepass") for key, data in packs.items() if data is not None}
        return None if document is None else parse_document(document, parsed.source, must_exist=False, pack_texts=texts)

    def _verify(self, parsed: ParsedFile, version: AcceptedVersion) -> EffectiveFile:
        """The accepted version in force. Its hooks check their files when they run."""
        hooks = tuple(_verify_hook(hook, version, self._accepted.bytecode) for hook in parsed.hooks)
        needed = RunFiles(
            _capability_references(parsed), version.project, version.path.parent, version.runs, version.path
        )
        problems: list[Problem] = []
        is_trusted, watched, folders = True, list[Path](), list[CodeFolder]()
        try:
            needed.read()
        except FileChangedError as changed:
            is_trusted = False
            problems.append(
                _describe_run_file(parsed, f"{changed}, so nothing that needs it is started", Severity.WARNING)
            )
        watched += (version.project / name for name in version.runs if parsed.folders or parsed.capabilities)
        for folder in parsed.folders:
            try:
                folders.append(self._accepted_folder(folder, version))
            except (FileChangedError, TooManyReferencesError) as changed:
                problems.append(_describe_run_file(parsed, f"{changed}, and there is no copy of them", Severity.ERROR))
        return EffectiveFile(parsed, hooks, tuple(watched), tuple(folders), tuple(problems), is_trusted)

    def _accepted_folder(self, folder: CodeFolder, version: AcceptedVersion) -> CodeFolder:
        """The folder itself, or a copy of the accepted one if a file in it has changed. Raises FileChangedError."""
        prefix = os.path.relpath(folder.path, version.project)
        names = [name for name in version.runs if PurePath(name).is_relative_to(prefix) and name.endswith(".py")]
        paths = dict.fromkeys((*folder_files(folder), *(version.project / name for name in names)))
        try:
            check_contents(paths, version.project, version.runs)
        except FileChangedError:
            return replace(folder, path=self._write_folder_copy(prefix, names, version))
        return folder

    def _write_folder_copy(self, prefix: str, names: Iterable[str], version: AcceptedVersion) -> Path:
        copies = {name: self._accepted.read_copy(version.runs[name]) for name in names}
        lost = next((name for name, data in copies.items() if data is None), None)
        if lost is not None or not copies:
            raise FileChangedError(f"the files in {prefix} were changed since you trusted them")
        digest = hashlib.sha256("".join(f"{name}\0{version.runs[name]}\0" for name in sorted(copies)).encode())
        directory = self._accepted.copies_below(f"folder-{digest.hexdigest()[:32]}")
        for name, data in copies.items():
            file = directory / name
            if data is not None and _read_bytes(file) != data:
                write_private_file(file, data)
        return directory / prefix

    def _is_accepted(self, parsed: ParsedFile) -> bool:
        if not parsed.source.is_from_project:
            return True
        version = self._accepted.get(parsed.source.path)
        if version is None:
            return not _needs_trust(parsed)
        if content_digest(_encode(parsed.text)) != version.text or parsed.dialect is None:
            return False
        if _pack_digests(parsed) != version.packs:
            return False
        try:
            contents = self._read_contents(parsed)
        except TooManyReferencesError:
            return False
        elsewhere = {  # accepted in another directory of the project
            name: read_content(version.project / name) for name in version.runs if name not in contents
        }
        return all(
            is_accepted(content.digest, version.runs.get(name)) for name, content in {**contents, **elsewhere}.items()
        )

    def _find_obstacle(self, parsed: ParsedFile) -> TooManyReferencesError | None:
        try:
            self._read_contents(parsed)
        except TooManyReferencesError as too_many:
            return too_many
        return None

    def _read_contents(self, parsed: ParsedFile) -> dict[str, FileContent]:
        """The files that it runs, by their path from the project's root. Raises TooManyReferencesError."""
        source = parsed.source
        if source.project is None:
            return {}
        references = find_references(
            (hook for hook in parsed.hooks if hook.enabled),
            (capability.paths_text for capability in parsed.capabilities),
            (capability.prose for capability in parsed.capabilities),
        )
        here = () if source.directory is None else (str(source.directory),)
        found = RunFiles(references, source.project, source.path.parent, {}, source.path).paths(here)
        files = dict.fromkeys((*found, *(file for folder in parsed.folders for file in folder_files(folder))))
        return {os.path.relpath(file, source.project): read_content(file) for file in files}


def _applies_to(version: AcceptedVersion, here: Path) -> bool:
    """Whether a session in this directory would find the file if it still existed.

    A repository's files count in every directory below it, even if there is another .git in between now.
    """
    if version.layer is SourceLayer.NAMED or (here != version.project and not version.in_repository):
        return False
    if here != version.project and version.project not in here.parents:
        return False
    places = CONFIG_LOCATIONS.get(version.dialect or "", ())
    patterns = [place.pattern for place in places if not place.user]
    inner = [here, *(parent for parent in here.parents if parent.is_relative_to(version.project))]
    return any(
        version.path.is_relative_to(directory) and _matches(version.path.relative_to(directory), pattern)
        for directory in inner
        for pattern in patterns
    )


def _matches(path: PurePath, pattern: str) -> bool:
    return len(path.parts) == len(PurePath(pattern).parts) and path.match(pattern)


def _needs_trust(parsed: ParsedFile) -> bool:
    return any(map(is_restricted, parsed.hooks)) or bool(parsed.folders or parsed.capabilities)


def new_guards(parsed: ParsedFile, accepted: ParsedFile) -> Iterator[Hook]:
    """The constant denies and asks of a text that is not trusted yet, beside those of the accepted one.

    They have ids of their own: what they fire does not count against the limits of the accepted hooks.
    """
    known = {(hook.id, hook.event, str(hook.when), hook.then.constant) for hook in accepted.hooks}
    for hook in parsed.hooks:
        if blocks_untrusted(hook) and (hook.id, hook.event, str(hook.when), hook.then.constant) not in known:
            yield replace(restrict_hook(hook), id=f"{hook.id}{_NOT_TRUSTED_YET}")


def _verify_hook(hook: Hook, version: AcceptedVersion, bytecode: Path) -> Hook:
    try:
        references = find_references((hook,))
    except TooManyReferencesError:  # it was never accepted like this
        return restrict_hook(hook)
    if references == NO_REFERENCES:
        return hook
    files = RunFiles(references, version.project, version.path.parent, version.runs, version.path, bytecode)
    return replace(hook, then=VerifiedAction(hook.then, files, hook.may_stop))


def _capability_references(parsed: ParsedFile) -> FileReferences:
    return find_references(
        (),
        (capability.paths_text for capability in parsed.capabilities),
        (capability.prose for capability in parsed.capabilities),
    )


def _effects_of_hook(hook: Hook, parsed: ParsedFile) -> HookEffects:
    effects = effects_of_hook(hook)
    return effects if hook.origin.file == parsed.source.display_path else replace(effects, file=hook.origin.file)


def _version_of(review: Review, before: AcceptedVersion | None) -> AcceptedVersion:
    """`before` has the files that commands find in other directories of the project: those that are unchanged stay."""
    source, text = review.source, content_digest(_encode(review.text))
    if source.project is None:
        raise ValueError("only a project's file needs trust")
    runs = {name: content.digest for name, content in review.contents.items()}
    if before is not None and before.text == text:
        present = {name: read_content(source.project / name).digest for name in before.runs if name not in runs}
        runs |= {name: digest for name, digest in present.items() if is_accepted(digest, before.runs[name])}
    return AcceptedVersion(
        source.path,
        source.project,
        source.dialect,
        source.layer,
        os.path.lexists(source.project / ".git"),
        text,
        runs,
        {pack.key: content_digest(_encode(pack.text)) for pack in review.packs if pack.text is not None},
    )


def _copies_of(review: Review) -> Iterator[bytes]:
    """Of the files that it runs: all Python files, which can be imported from the copy, and the small ones, to compare."""
    yield _encode(review.text)
    yield from (_encode(pack.text) for pack in review.packs if pack.text is not None)
    for name, content in review.contents.items():
        if content.data is not None and (len(content.data) <= MAX_COPY_BYTES or name.endswith(".py")):
            yield content.data


def _warn_untrusted(parsed: ParsedFile, too_many: TooManyReferencesError | None) -> None:
    why = f"cannot be trusted, because {too_many}" if too_many else "is not trusted yet"
    more = ", and its Python files are not imported" if parsed.folders else ""
    hint = "Name fewer files, then run `hookline trust`." if too_many else "Review it with `hookline trust`."
    text = f"its hooks may only deny, ask, log and notify, with constant text{more}. {hint}"
    version = parsed.source.path, content_digest(_encode(parsed.text))
    warn_once(version, f"{parsed.source.display_path} {why}: {text}")


def _foreign_packs(parsed: ParsedFile) -> tuple[PackFile, ...]:
    """The packs that can change without hookline."""
    return tuple(pack for pack in parsed.packs if not pack.is_own)


def _pack_digests(parsed: ParsedFile) -> dict[str, str]:
    return {pack.key: content_digest(_encode(pack.text or "")) for pack in _foreign_packs(parsed)}


def _describe_change(parsed: ParsedFile, version: AcceptedVersion) -> Problem:
    source = parsed.source
    what = "this file was changed" if os.path.lexists(source.path) else "this file was deleted"
    if content_digest(_encode(parsed.text)) == version.text and _pack_digests(parsed) != version.packs:
        what = "a pack that this file extends was changed"
    text = f"{what} since you trusted it; the version that you trusted stays in force."
    hint = "Run `hookline trust --diff` to see the change, and `hookline trust` to accept it."
    content = content_digest(_encode("".join((parsed.text, *sorted(_pack_digests(parsed).values())))))
    return Problem(CHANGED_SINCE_TRUSTED, source.display_path, 1, text, hint, Severity.WARNING, content)


def log_changes(problems: Iterable[Problem]) -> None:
    """For hosts that show no problems by themselves."""
    for problem in problems:
        if problem.code == CHANGED_SINCE_TRUSTED:
            _log.warning("%s", problem)


def _describe_run_file(parsed: ParsedFile, what: str, severity: Severity) -> Problem:
    hint = "Run `hookline trust --diff` to see the change, and `hookline trust` to accept it."
    return Problem(CHANGED_SINCE_TRUSTED, parsed.source.display_path, 1, f"{what}.", hint, severity)


def _review_hash(parsed: ParsedFile, contents: Mapping[str, FileContent]) -> str:
    digest = hashlib.sha256()
    pieces = ["hookline trust 2", parsed.dialect or "", parsed.text]
    for key, pack_digest in _pack_digests(parsed).items():
        pieces += [key, pack_digest]
    for name, content in contents.items():
        pieces += [name, content.digest]
    for piece in pieces:
        data = _encode(piece)
        digest.update(b"%d:" % len(data) + data)
    return digest.hexdigest()


def _unified_diff(name: str, before: bytes | None, after: bytes | None) -> str:
    """Says so instead if a version is not text, or was too large to keep."""
    old, new = ("" if data is None else data.decode("utf-8", "replace") for data in (before, after))
    if old == new:
        return "" if before == after else f"{name}: the binary content changed\n"
    lines = difflib.unified_diff(
        old.splitlines(),
        new.splitlines(),
        f"trusted/{name}",
        f"now/{name}" if after is not None else "/dev/null",
        lineterm="",
    )
    return "".join(f"{line}\n" for line in lines) or f"{name}: only line ends changed\n"


def _read_bytes(path: Path) -> bytes | None:
    return read_content(path).data


def _encode(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")

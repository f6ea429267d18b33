"""The hooks that were in force when a record was made, loaded again from the texts that were kept."""

from __future__ import annotations

import hashlib
from pathlib import Path

from hookline.config.reader import salvage_text
from hookline.engine.book import Book, Layer
from hookline.errors import HooklineError
from hookline.hooks.hook import GLOBAL_SCOPE, Hook
from hookline.hooks.hook_files import HookFile, HookFiles
from hookline.lazy_dataclasses import replace
from hookline.project.holding_hooks import holding_hook
from hookline.project.parsed_file import ParsedFile, parse_document
from hookline.project.repeated_hooks import HooksOfFile, drop_repeated_hooks
from hookline.project.restrictions import restrict_hook
from hookline.project.sources import Source, SourceLayer
from hookline.project.trust_store import new_guards
from hookline.record.record_reader import Record
from hookline.record.segment import RecordDirectory


def read_hook_files(directory: RecordDirectory, digest: str) -> HookFiles:
    """Raises HooklineError if the texts are not kept, or were changed since."""
    try:
        data = (directory.hooks / f"{digest}.json").read_bytes()
        if hashlib.sha256(data).hexdigest() == digest:
            return HookFiles.parse(data)
    except (OSError, ValueError, TypeError, KeyError):
        raise HooklineError("the texts of the hooks that were in force then are not kept any more") from None
    raise HooklineError("the texts of the hooks that were in force then were changed: run `hookline verify`")


class HookPaths:
    """The paths of the files of recorded hooks: records name a project's file as messages do, `hookline.yaml`."""

    def __init__(self, directory: RecordDirectory) -> None:
        self._directory = directory
        self._by_hash: dict[str, dict[str, str]] = {}

    def find(self, record: Record, file: str) -> str:
        """The path, or `file` as it is if the texts of then are not kept any more."""
        digest = str(record.get("hooks", ""))
        if digest not in self._by_hash:
            try:
                files = read_hook_files(self._directory, digest)
            except HooklineError:
                files = HookFiles()
            self._by_hash[digest] = paths_by_name(files)
        return self._by_hash[digest].get(file, file)


def paths_by_name(files: HookFiles) -> dict[str, str]:
    return {file.shown_as: file.path for file in files.files}


def load_hook_files(files: HookFiles) -> Book:
    """A book of these hooks. Nothing is imported: hooks of Python folders are missing."""
    by_layer: dict[str, list[Hook]] = {}
    accepted: dict[str, ParsedFile] = {}
    of_files: list[HooksOfFile] = []
    for file in files.files:
        parsed = _parse(file)
        hooks = parsed.hooks
        if file.standing == "accepted":
            accepted[file.path] = parsed
        elif file.standing == "restricted":
            hooks = tuple(map(restrict_hook, hooks))
        elif file.standing == "added":
            hooks = tuple(new_guards(parsed, accepted[file.path]))
        if file.scope != GLOBAL_SCOPE:
            hooks = tuple(replace(hook, scope=file.scope) for hook in hooks)
        of_files.append(HooksOfFile(file.shown_as, hooks, bool(file.packs)))
    for file, hooks in zip(files.files, drop_repeated_hooks(of_files), strict=True):
        by_layer.setdefault(file.layer, []).extend(hooks)
    for hold in files.holds:
        by_layer.setdefault(hold.layer, []).append(holding_hook(hold))
    names = [str(layer) for layer in SourceLayer if layer in by_layer]  # the others come later, in their own order
    layers = [Layer(name, by_layer[name]) for name in dict.fromkeys((*names, *by_layer))]
    return Book(layers, files=files)


def _parse(file: HookFile) -> ParsedFile:
    layer = SourceLayer(file.layer) if file.layer in list(SourceLayer) else SourceLayer.NAMED
    source = Source(Path(file.path), file.shown_as, file.dialect, layer, run_by=file.run_by)
    document, problems = salvage_text(file.text, file.shown_as)
    return (
        ParsedFile(source, problems=problems)
        if document is None
        else parse_document(document, source, must_exist=False, pack_texts=file.packs)
    )

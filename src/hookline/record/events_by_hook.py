"""How many recorded events each hook was tested on: those that it is on, while it was in force."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from typing import Final

from hookline.errors import HooklineError
from hookline.hooks.hook import Hook
from hookline.hooks.hook_files import HookFile, HookFiles
from hookline.record.hooks_then import load_hook_files, paths_by_name, read_hook_files
from hookline.record.record_reader import line_time
from hookline.record.segment import RecordDirectory

_EVENT: Final = re.compile(rb'"kind":"decision","event":"([^"\\]+)"')
_HOOKS: Final = re.compile(rb'.*"hooks":"([0-9a-f]{64})"')  # the last one: facts come before it

HookKey = tuple[str, str]
"""The path of a hook's file, and its id."""


class EventsByHook:
    """Counts lines of records, without parsing them."""

    def __init__(self, directory: RecordDirectory, since: str = "") -> None:
        self.lines_read = 0
        self._directory = directory
        self._since = since.encode()
        self._counts: dict[str, Counter[str]] = {}  # by the hash of the hooks in force: decisions by event
        self._hooks_of_files: dict[tuple[object, ...], list[Hook]] = {}

    def add(self, line: bytes) -> None:
        self.lines_read += 1
        event, hooks = _EVENT.search(line), _HOOKS.match(line)
        is_counted = b'"again":true' not in line and line_time(line) >= self._since
        if event is not None and hooks is not None and is_counted:
            self._counts.setdefault(hooks[1].decode(), Counter())[event[1].decode()] += 1

    def by_hook(self) -> Counter[HookKey]:
        """Without hooks whose texts are not kept, such as those in Python."""
        found: Counter[HookKey] = Counter()
        for digest, counts in self._counts.items():
            try:
                files = read_hook_files(self._directory, digest)
            except HooklineError:
                continue
            paths = paths_by_name(files)
            on = {(paths.get(hook.origin.file, hook.origin.file), hook.id, hook.event) for hook in self._hooks(files)}
            for path, id, event in on:
                found[path, id] += counts[event]
        return found

    def _hooks(self, files: HookFiles) -> Iterable[Hook]:
        if any(file.standing == "added" for file in files.files):  # not all of its hooks are in force
            return load_hook_files(files).hooks
        return (hook for file in files.files for hook in self._hooks_of(file) if hook.enabled)

    def _hooks_of(self, file: HookFile) -> list[Hook]:
        """Read once: most files stay the same while others change."""
        key = (file.path, file.shown_as, file.dialect, file.layer, file.text, file.run_by, *file.packs.items())
        if key not in self._hooks_of_files:
            self._hooks_of_files[key] = list(load_hook_files(HookFiles((file,))).hooks)
        return self._hooks_of_files[key]

"""What `install` and `uninstall` do to an agent's files: first as a plan that can be shown, then for good."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from hookline.errors import HooklineError
from hookline.hosts.agent import CodingAgent
from hookline.hosts.install.command import Calling, Missing, calling
from hookline.hosts.install.diff import diff
from hookline.hosts.install.edit import Splice, added, read, spliced
from hookline.hosts.install.files import executable, make_directories, mode_of, remove, remove_empty, text_of, write
from hookline.hosts.install.machine import Machine, Scope
from hookline.hosts.install.records import Record, forget, keep, record_of, records
from hookline.hosts.install.restore import ours_in, restored
from hookline.hosts.install.setups import SETUPS
from hookline.hosts.install.wanted import Entries, OwnFile, Wanted

BACKUP: Final = ".before-hookline"


@dataclass(frozen=True)
class Change:
    """One file: what it is now, what it is to be, and what is to be remembered of it."""

    path: Path
    before: str | None
    after: str | None  # None: no file
    record: Record | None  # of what is in it then
    past: Record | None = None  # of what is in it now
    mode: int | None = None  # its rights then; None: as they are

    @property
    def needed(self) -> bool:
        return self.before != self.after

    def diff(self, machine: Machine) -> str:
        return diff(self.before, self.after, machine.shown(self.path))


def wanted(agent: CodingAgent, machine: Machine, scope: Scope, missing: Missing = Missing.CLOSED) -> tuple[Wanted, ...]:
    return SETUPS[agent.name].wants(machine, scope, calling(agent.name, machine, scope, missing), agent.events)


def installing(
    agent: CodingAgent, machine: Machine, scope: Scope, missing: Missing = Missing.CLOSED
) -> tuple[Change, ...]:
    """Raises HooklineError, or ConfigError with every problem, for a file that cannot be edited: then for none."""
    return tuple(_installing(each, agent.name, machine, scope) for each in wanted(agent, machine, scope, missing))


def _installing(want: Wanted, agent: str, machine: Machine, scope: Scope) -> Change:
    _refuse_escape(want.path, machine, scope)
    before, past = text_of(want.path), record_of(agent, want.path, machine)
    record = Record(agent, scope, machine.project, want.path, None, ())
    if isinstance(want, OwnFile):
        if before not in (None, want.text) and (past is None or before != past.installed):
            raise HooklineError(f"{machine.shown(want.path)} is not ours, or was changed; move it away first")
        record = replace(record, splices=(Splice(0, want.text),))
        return Change(want.path, before, want.text, record, past, executable() if want.executable else None)
    call = calling(agent, machine, scope)
    if before is not None and _complete(before, want, call, machine):
        return Change(want.path, before, before, past)
    return _merging(want, before, past, record, call, machine)


def _merging(
    want: Entries, before: str | None, past: Record | None, record: Record, call: Calling, machine: Machine
) -> Change:
    file = machine.shown(want.path)
    original = None if before is None else restored(before, file, call, past)
    splices = added(original or "", file, want.keys, want.additions)
    record = replace(record, original=original, splices=splices)
    mode = past.mode if past is not None else None
    return Change(want.path, before, spliced(original or "", splices), record, past, mode)


def _complete(text: str, want: Entries, call: Calling, machine: Machine) -> bool:
    """True if our entries stand there as they should, each once, and no other of ours."""
    document = read(text, machine.shown(want.path))
    found = [(path[:-1], document.at(path)) for path in ours_in(document, call)]
    needed = [(addition.path, addition.entry) for addition in want.additions]
    return len(found) == len(needed) and all(each in found for each in needed)


def uninstalling(agent: CodingAgent, machine: Machine, scope: Scope) -> tuple[Change, ...]:
    """The files that have something of ours, or of which we remember something."""
    wants = [want for missing in Missing for want in wanted(agent, machine, scope, missing)]
    own = {want.path: frozenset(_texts(wants, want.path)) for want in wants if isinstance(want, OwnFile)}
    past = [each.path for each in records(machine) if each.concerns(agent.name, machine, scope)]
    paths = dict.fromkeys((*(want.path for want in wants), *past))
    for path in paths:
        _refuse_escape(path, machine, scope)
    call = calling(agent.name, machine, scope)
    found = (_uninstalling(path, own.get(path), call, machine) for path in paths)
    return tuple(change for change in found if change.needed or change.past is not None)


def _texts(wants: Sequence[Wanted], path: Path) -> Iterator[str]:
    return (want.text for want in wants if isinstance(want, OwnFile) and want.path == path)


def _uninstalling(path: Path, own: frozenset[str] | None, call: Calling, machine: Machine) -> Change:
    before, past = text_of(path), record_of(call.agent, path, machine)
    if before is None:
        return Change(path, None, None, None, past)
    if own is None:
        mode = past.mode if past is not None else None
        return Change(path, before, restored(before, machine.shown(path), call, past), None, past, mode)
    ours = before in own or (past is not None and before == past.installed)
    if past is not None and not ours:
        raise HooklineError(f"{machine.shown(path)} was changed since we wrote it; remove it yourself")
    return Change(path, before, None if ours else before, None, past)


def apply(changes: Sequence[Change], machine: Machine) -> None:
    """Raises HooklineError if a file is not as it was when this was planned."""
    for change in changes:
        if text_of(change.path) != change.before:
            raise HooklineError(f"{machine.shown(change.path)} has just been changed by somebody else; try again")
    for change in changes:
        if change.record is not None:
            _install(change, change.record, machine)
        else:
            _uninstall(change, machine)
    past = [change.past for change in changes if change.past is not None and change.record is None]
    made = {directory for record in past for directory in record.made}
    remove_empty(tuple(sorted(made)))


def _install(change: Change, record: Record, machine: Machine) -> None:
    if not change.needed or change.after is None:
        return
    made = make_directories(change.path.parent) or (change.past.made if change.past else ())
    if record.original is not None:
        write(_backup(change.path), record.original, mode=change.mode or mode_of(change.path))
    write(change.path, change.after, change.mode)
    keep(replace(record, made=made), machine)


def _uninstall(change: Change, machine: Machine) -> None:
    if change.after is None:
        remove(change.path)
    elif change.needed:
        write(change.path, change.after, change.mode)
    if change.past is None:
        return
    backup = _backup(change.path)
    if change.past.original is not None and backup.exists() and text_of(backup) == change.past.original:
        remove(backup)
    forget(change.past.agent, change.path, machine)


def _backup(path: Path) -> Path:
    return path.with_name(path.name + BACKUP)


def _refuse_escape(path: Path, machine: Machine, scope: Scope) -> None:
    """A project must not make us edit a file outside of it by a link."""
    inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(machine.project))
    if scope is Scope.PROJECT and not inside:
        raise HooklineError(f"{machine.shown(path)} leads out of the project; it is not touched")


def installed(agent: CodingAgent, machine: Machine) -> Iterator[tuple[Scope, Path, frozenset[str]]]:
    """Where the agent has entries of ours, and for which of its events."""
    for scope in Scope:
        call = calling(agent.name, machine, scope)
        found: dict[Path, frozenset[str]] = {}
        for want in (want for missing in Missing for want in wanted(agent, machine, scope, missing)):
            found[want.path] = found.get(want.path) or _events_in(want, agent, call, machine)
        yield from ((scope, path, events) for path, events in found.items() if events)


def _events_in(want: Wanted, agent: CodingAgent, call: Calling, machine: Machine) -> frozenset[str]:
    text = text_of(want.path)
    if text is None:
        return frozenset()
    if isinstance(want, Entries):
        document = read(text, machine.shown(want.path))
        return frozenset(str(path[1]) for path in ours_in(document, call))
    if text != want.text:
        return frozenset()
    names = frozenset(each.name for each in agent.events)
    return frozenset({want.path.name}) if want.path.name in names else names


def has_entry(agent: CodingAgent, machine: Machine, scope: Scope = Scope.USER) -> bool:
    """True if the agent calls us by all entries in that file, as this version writes them.

    For whether it calls us at all, a project's file does not count: whoever made the project could have put them
    there, and switched them off.
    """
    try:
        changes = (installing(agent, machine, scope, missing) for missing in Missing)
        return any(not any(change.needed for change in each) for each in changes)
    except HooklineError:
        return False

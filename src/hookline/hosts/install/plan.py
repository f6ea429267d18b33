"""What `install` and `uninstall` change in an agent's files: first planned, so that it can be shown, then applied."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from hookline.config.json_edit import Addition, Splice, addition_splices, apply_splices, parse_object
from hookline.errors import HooklineError
from hookline.hosts.agents import AGENT_NAMES, get_agent
from hookline.hosts.agents.agent import CodingAgent
from hookline.hosts.agents.entries import DesiredFile, EntriesFile, MarkedFile, MissingPolicy, OwnFile, hook_command
from hookline.hosts.agents.machine import InstallScope, Machine
from hookline.hosts.install.marked_text import has_marked, mark_splices, marked_events, parse_settings
from hookline.hosts.install.text_files import (
    executable_mode,
    file_mode,
    make_directories,
    read_file_text,
    remove_empty_directories,
    remove_file,
    write_atomically,
    write_backup,
)
from hookline.hosts.install.undo import (
    InstallRecord,
    delete_record,
    event_path,
    load_record,
    load_records,
    own_entry_paths,
    restore_marked,
    restore_text,
    save_record,
)
from hookline.lazy_dataclasses import dataclass, replace

BACKUP_SUFFIX: Final = ".before-hookline"


@dataclass(frozen=True)
class FileChange:
    """A file before and after, and the record to keep of it."""

    path: Path
    before: str | None
    after: str | None  # None: no file
    record: InstallRecord | None  # of the new content
    past_record: InstallRecord | None = None  # of the current content
    mode: int | None = None  # None: unchanged

    @property
    def is_needed(self) -> bool:
        return self.before != self.after

    def diff(self, machine: Machine) -> str:
        return unified_diff(self.before, self.after, machine.display_path(self.path))


def unified_diff(before: str | None, after: str | None, file: str) -> str:
    """None means that the file does not exist."""
    names = ["/dev/null" if text is None else file for text in (before, after)]
    lines = difflib.unified_diff(
        (before or "").splitlines(keepends=True), (after or "").splitlines(keepends=True), names[0], names[1]
    )
    return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)


def desired_files(
    agent: CodingAgent, machine: Machine, scope: InstallScope, missing: MissingPolicy = MissingPolicy.CLOSED
) -> tuple[DesiredFile, ...]:
    if scope is InstallScope.PROJECT and not agent.has_project_hooks:
        return ()
    return agent.desired_files(machine, scope, hook_command(agent.name, machine, scope, missing))


def plan_install(
    agent: CodingAgent, machine: Machine, scope: InstallScope, missing: MissingPolicy = MissingPolicy.CLOSED
) -> tuple[FileChange, ...]:
    """Raises HooklineError, or ConfigError with every problem, if one of the files cannot be edited."""
    own = [each for policy in MissingPolicy for each in desired_files(agent, machine, scope, policy)]
    if not own:
        raise HooklineError(f"{agent.title} reads no hooks from a project; install them for yourself, with --user")
    return tuple(
        _refuse_fault(agent, machine, _plan_install_file(each, _own_files(own, each.path), agent.name, machine, scope))
        for each in desired_files(agent, machine, scope, missing)
    )


def _refuse_fault(agent: CodingAgent, machine: Machine, change: FileChange) -> FileChange:
    """Refuses a file in which the agent would not run hookline: an entry there is a false promise."""
    fault = find_fault(agent, machine, change.path, change.after)
    if fault:
        raise HooklineError(fault)
    return change


def find_fault(agent: CodingAgent, machine: Machine, path: Path, text: str | None) -> str:
    """Why the agent ignores a JSON or TOML file with this text. "" if it does not, or the file has another format."""
    if text is None or path.suffix not in (".json", ".toml"):
        return ""
    file = machine.display_path(path)
    link = _find_link(path, machine.project) if agent.ignores_links else None
    if link is not None:
        return f"{file}: {agent.title} ignores this file, because {machine.display_path(link)} is a link"
    fault = agent.find_fault(
        text, parse_settings(text, file, path.suffix) if path.suffix == ".toml" else parse_object(text, file).value
    )
    return f"{file}: {fault}" if fault else ""


def _find_link(path: Path, top: Path) -> Path | None:
    """The first part of the path below `top` that is a link."""
    parts = (each for each in reversed((path, *path.parents)) if each != top and each.is_relative_to(top))
    return next((each for each in parts if each.is_symlink()), None)


def _plan_install_file(
    want: DesiredFile, own: Sequence[OwnFile], agent: str, machine: Machine, scope: InstallScope
) -> FileChange:
    _refuse_escape(want.path, machine, scope)
    before, past = read_file_text(want.path), load_record(agent, want.path, machine)
    record = InstallRecord(agent, scope, machine.project, want.path, None, ())
    if isinstance(want, OwnFile):
        if before is not None and not _is_own_text(before, own, past):
            raise HooklineError(
                f"{machine.display_path(want.path)} is not hookline's, or was changed; move it away first"
            )
        record = replace(record, splices=(Splice(0, want.text),))
        return FileChange(want.path, before, want.text, record, past, executable_mode() if want.executable else None)
    if isinstance(want, MarkedFile):
        return _plan_marked(want, before, past, record, machine)
    if before is not None and _is_complete(before, want, agent, machine):
        return FileChange(want.path, before, before, past)
    return _plan_merge(want, before, past, record, machine)


def _plan_marked(
    want: MarkedFile, before: str | None, past: InstallRecord | None, record: InstallRecord, machine: Machine
) -> FileChange:
    if before is not None and has_marked(before, want):
        return FileChange(want.path, before, before, past)
    original = None if before is None else restore_marked(before, past)
    splices = mark_splices(original or "", machine.display_path(want.path), want)
    record = replace(record, original=original, splices=splices)
    return FileChange(want.path, before, apply_splices(original or "", splices), record, past)


def _plan_merge(
    want: EntriesFile, before: str | None, past: InstallRecord | None, record: InstallRecord, machine: Machine
) -> FileChange:
    file = machine.display_path(want.path)
    original = None if before is None else restore_text(before, file, record.agent, past)
    additions = [Addition((*want.parent, event), entry) for event, entry in want.entries]
    splices = addition_splices(original or "", file, want.keys, additions)
    record = replace(record, original=original, splices=splices)
    mode = past.mode if past is not None else None
    return FileChange(want.path, before, apply_splices(original or "", splices), record, past, mode)


def _is_complete(text: str, want: EntriesFile, agent: str, machine: Machine) -> bool:
    """True if the file has each of hookline's entries once, exactly as wanted, and no others of hookline."""
    document = parse_object(text, machine.display_path(want.path))
    found = [(path[:-1], document.value_at(path)) for path in own_entry_paths(document, agent)]
    needed = [((*want.parent, event), entry) for event, entry in want.entries]
    return len(found) == len(needed) and all(each in found for each in needed)


def plan_uninstall(agent: CodingAgent, machine: Machine, scope: InstallScope) -> tuple[FileChange, ...]:
    """The files that contain something of hookline, or of which there is a record."""
    wants = [want for missing in MissingPolicy for want in desired_files(agent, machine, scope, missing)]
    own = {want.path: _own_files(wants, want.path) for want in wants if isinstance(want, OwnFile)}
    past = [each.path for each in load_records(machine) if each.belongs_to(agent.name, machine, scope)]
    paths = dict.fromkeys((*(want.path for want in wants), *past))
    for path in paths:
        _refuse_escape(path, machine, scope)
    marked = {want.path for want in wants if isinstance(want, MarkedFile)}
    found = (
        _plan_uninstall_marked(path, agent.name, machine)
        if path in marked
        else _plan_uninstall_file(path, own.get(path), agent.name, machine)
        for path in paths
    )
    return tuple(change for change in found if change.is_needed or change.past_record is not None)


def _own_files(wants: Sequence[DesiredFile], path: Path) -> list[OwnFile]:
    return [want for want in wants if isinstance(want, OwnFile) and want.path == path]


def _is_own_text(text: str, wants: Sequence[OwnFile], past: InstallRecord | None) -> bool:
    """Without a record, as in a cloned project, the text of an older version is recognised too."""
    if past is not None and text != past.installed_text:
        return any(text == want.text for want in wants)
    return past is not None or any(want.is_any_version(text) for want in wants)


def _plan_uninstall_file(path: Path, own: Sequence[OwnFile] | None, agent: str, machine: Machine) -> FileChange:
    before, past = read_file_text(path), load_record(agent, path, machine)
    if before is None:
        return FileChange(path, None, None, None, past)
    if own is None:
        mode = past.mode if past is not None else None
        return FileChange(path, before, restore_text(before, machine.display_path(path), agent, past), None, past, mode)
    ours = _is_own_text(before, own, past)
    if past is not None and not ours:
        raise HooklineError(f"{machine.display_path(path)} was changed since hookline wrote it; remove it yourself")
    return FileChange(path, before, None if ours else before, None, past)


def _plan_uninstall_marked(path: Path, agent: str, machine: Machine) -> FileChange:
    before, past = read_file_text(path), load_record(agent, path, machine)
    return FileChange(path, before, None if before is None else restore_marked(before, past), None, past)


def apply_changes(changes: Sequence[FileChange], machine: Machine) -> None:
    """Raises HooklineError if a file has changed since it was planned."""
    for change in changes:
        if read_file_text(change.path) != change.before:
            raise HooklineError(f"{machine.display_path(change.path)} has changed in the meantime; try again")
    for change in changes:
        if change.record is not None:
            _apply_install(change, change.record, machine)
        else:
            _apply_uninstall(change, machine)
    past = [change.past_record for change in changes if change.past_record is not None and change.record is None]
    created = {directory for record in past for directory in record.created_directories}
    remove_empty_directories(tuple(sorted(created)))


def _apply_install(change: FileChange, record: InstallRecord, machine: Machine) -> None:
    if not change.is_needed or change.after is None:
        return
    made = make_directories(change.path.parent) or (
        change.past_record.created_directories if change.past_record else ()
    )
    created = tuple(sorted({*made, *_shared_directories(change.path, machine)}))
    if record.original is not None:
        write_backup(_backup_path(change.path), record.original, change.mode or file_mode(change.path))
    write_atomically(change.path, change.after, change.mode)
    save_record(replace(record, created_directories=created), machine)


def _shared_directories(path: Path, machine: Machine) -> set[Path]:
    """Those above the file that hookline made for another agent: the last to be uninstalled removes them."""
    made = {directory for record in load_records(machine) for directory in record.created_directories}
    return {directory for directory in made if path.is_relative_to(directory)}


def _apply_uninstall(change: FileChange, machine: Machine) -> None:
    if change.after is None:
        remove_file(change.path)
    elif change.is_needed:
        write_atomically(change.path, change.after, change.mode)
    if change.past_record is None:
        return
    backup = _backup_path(change.path)
    if (
        change.past_record.original is not None
        and backup.exists()
        and read_file_text(backup) == change.past_record.original
    ):
        remove_file(backup)
    delete_record(change.past_record.agent, change.path, machine)


def _backup_path(path: Path) -> Path:
    return path.with_name(path.name + BACKUP_SUFFIX)


def _refuse_escape(path: Path, machine: Machine, scope: InstallScope) -> None:
    """Refuses a link in the project that leads to a file outside of it."""
    inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(machine.project))
    if scope is InstallScope.PROJECT and not inside:
        raise HooklineError(f"{machine.display_path(path)} leads out of the project; hookline does not change it")


def installed_entries(agent: CodingAgent, machine: Machine) -> Iterator[tuple[InstallScope, Path, frozenset[str]]]:
    """The files with hookline's entries for the agent, and the events of those entries."""
    for scope in InstallScope:
        found: dict[Path, frozenset[str]] = {}
        for want in (want for missing in MissingPolicy for want in desired_files(agent, machine, scope, missing)):
            found[want.path] = found.get(want.path) or _installed_events(want, agent, machine)
        yield from ((scope, path, events) for path, events in found.items() if events)


def installed_places(machine: Machine) -> Iterator[tuple[CodingAgent, Machine, InstallScope]]:
    """Every agent, project and scope with hookline's entries: here, and wherever a record says that there are some."""
    recorded = [record.project for record in load_records(machine) if record.scope is InstallScope.PROJECT]
    for project in dict.fromkeys((machine.project, *recorded)):
        at = replace(machine, project=project)
        for agent in map(get_agent, AGENT_NAMES):
            for scope in InstallScope:
                if (scope is InstallScope.PROJECT or project == machine.project) and plan_uninstall(agent, at, scope):
                    yield agent, at, scope


def _installed_events(want: DesiredFile, agent: CodingAgent, machine: Machine) -> frozenset[str]:
    text = read_file_text(want.path)
    if text is None:
        return frozenset()
    if isinstance(want, EntriesFile):
        document = parse_object(text, machine.display_path(want.path))
        return frozenset(str(event_path(path)[-1]) for path in own_entry_paths(document, agent.name))
    if isinstance(want, MarkedFile):
        parse_settings(text, machine.display_path(want.path), want.path.suffix)
        return marked_events(text)
    if text != want.text:
        return frozenset()
    return frozenset(want.events or (each.name for each in agent.events))


def has_current_entries(agent: CodingAgent, machine: Machine, scope: InstallScope = InstallScope.USER) -> bool:
    """True if that file has all entries, exactly as this version writes them.

    To know whether the agent calls hookline at all, ask for the user's file: the author of a project can put entries
    into the project's file and disable them.
    """
    try:
        changes = (plan_install(agent, machine, scope, missing) for missing in MissingPolicy)
        return any(not any(change.is_needed for change in each) for each in changes)
    except HooklineError:
        return False

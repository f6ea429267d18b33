"""Runs an action only while the files that it runs are those that the user accepted."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Final, NoReturn, Protocol

from hookline.hooks.actions.hold import holding_answer
from hookline.hooks.actions.wrapper import ActionWrapper
from hookline.hooks.event import Event
from hookline.hooks.host import Host, bytecode_directory
from hookline.hooks.outcome import ActionError, FailureKind, Outcome
from hookline.hooks.protocols import Action
from hookline.lazy_dataclasses import dataclass, field
from hookline.lazy_imports import asyncio

_SETTLE_SECONDS: Final = 0.03
_SETTLE_TRIES: Final = 10


@dataclass(frozen=True, slots=True)
class FileState:
    """Identifies files and their content."""

    stamps: tuple[object, ...]
    is_settled: bool = field(default=True, compare=False)  # False: one changed so recently that its times prove nothing


class FileCheck(Protocol):
    @property
    def bytecode(self) -> Path | None:
        """A private directory for compiled Python modules, if the files have any."""

    def read(self, working_directories: Iterable[str] = ()) -> FileState:
        """Raises FileChangedError if a file is not as the user accepted it.

        working_directories: those in which the action may run, and so find its files.
        """


class FileChangedError(Exception):
    """Its text names the file and says what happened to it."""


@dataclass(frozen=True, slots=True)
class VerifiedAction(ActionWrapper):
    """The files are read just before the action runs, and again after it.

    If one has changed, what the action said does not count. A hook that could deny or ask then holds the event: a person
    is asked, and it is denied if the event cannot be asked about. Any other hook answers its on_error.
    """

    action: Action
    files: FileCheck
    holds: bool  # its hook could deny or ask

    @property
    def instant(self) -> bool:
        return self.action.instant

    async def run(self, event: Event, host: Host) -> Outcome:
        before = await self._read_files(event)
        directory = self.files.bytecode
        token = bytecode_directory.set(None if directory is None else str(directory))
        try:
            outcome = await self.action.run(event, host)
        except ActionError:
            await self._refuse_change_since(before, event)
            raise
        finally:
            bytecode_directory.reset(token)
        await self._refuse_change_since(before, event)
        return outcome

    async def _refuse_change_since(self, before: FileState, event: Event) -> None:
        try:
            is_unchanged = await self._read_files(event, settle=False) == before
        except ActionError:
            self._discard_bytecode()
            raise
        if not is_unchanged:
            self._discard_bytecode()
            self._hold(event, "a file that it runs was changed while it ran")

    def _discard_bytecode(self) -> None:
        """What was compiled meanwhile may be the changed file, under the name and times of the accepted one."""
        if self.files.bytecode is not None:
            import shutil

            shutil.rmtree(self.files.bytecode, ignore_errors=True)

    async def _read_files(self, event: Event, *, settle: bool = True) -> FileState:
        places = [each for fact in ("cwd", "workspace") if isinstance(each := event.facts.get(fact), str) and each]
        try:
            state = self.files.read(places)
            for _ in range(_SETTLE_TRIES if settle and not self.action.instant else 0):
                if state.is_settled:
                    break
                await asyncio.sleep(_SETTLE_SECONDS)
                state = self.files.read(places)
        except FileChangedError as changed:
            self._hold(event, str(changed))
        return state

    def _hold(self, event: Event, what: str) -> NoReturn:
        reason = f"{what[0].upper()}{what[1:]}. Review it with `hookline trust`."
        answer = holding_answer(event.name, reason) if self.holds else None
        text = f"did not count: {what}; review it with `hookline trust`"
        raise ActionError(FailureKind.NOT_TRUSTED, text, answer, is_urgent=True)

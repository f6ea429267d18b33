"""Run a program with the event, and read its result."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from hookline.hooks.actions.description import describe_input
from hookline.hooks.actions.hold import holding_error
from hookline.hooks.actions.json_result import block_outcome
from hookline.hooks.actions.notify import current_hook_id
from hookline.hooks.actions.program_result import NOT_FOUND_EXIT_CODES, ResultParser, not_found_error
from hookline.hooks.event import MISSING, Event, FactPath
from hookline.hooks.host import Command, Host, current_hook
from hookline.hooks.outcome import NOT_APPLIED, ActionError, FailureKind, Outcome
from hookline.hooks.protocols import May
from hookline.hooks.templates import DataTemplate, ShellTemplate, Template, as_text
from hookline.hooks.wording import NATIVE_WORDING
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_logger

_log = lazy_logger("hookline")
_TIMEOUT_MARGIN: Final = timedelta(seconds=2)


@dataclass(frozen=True, slots=True)
class CommandTemplate:
    """A command with placeholders; `render` fills them in for one event."""

    shell: ShellTemplate | None = None
    argv: tuple[Template | ShellTemplate, ...] = ()
    stdin: DataTemplate | None = None  # rendered as compact JSON; None: no input
    env: tuple[
        tuple[str, Template | None], ...
    ] = ()  # None, or a single placeholder whose fact is missing: removed, even if inherited
    inherit_env: bool | tuple[str, ...] = True
    cwd: Template | None = None

    def render(self, event: Event, timeout: timedelta) -> Command:
        env = {name: MISSING if text is None else text.value_or_missing(event) for name, text in self.env}
        return Command(
            text=self.shell.render(event) if self.shell else "",
            argv=tuple(part.render(event).replace("\0", "") for part in self.argv),
            stdin=_encode_line(self.stdin.render_json(event)) if self.stdin else b"",
            env={name: as_text(value) for name, value in env.items() if value is not MISSING},
            without_env=tuple(name for name, value in env.items() if value is MISSING),
            inherit_env=self.inherit_env,
            cwd=_working_directory(event, self.cwd.render(event) if self.cwd else ""),
            timeout=timeout,
        )

    def reads(self) -> tuple[FactPath, ...]:
        templates = [*self.argv, *(text for _, text in self.env), self.cwd]
        paths = [path for text in templates if text is not None for path in text.reads()]
        paths += self.shell.reads() if self.shell else ()
        paths += self.stdin.reads() if self.stdin else ()
        return tuple(paths)

    def describe(self) -> str:
        words = self.shell.source if self.shell else shlex.join(part.source for part in self.argv)
        env = "".join(f"{name}={shlex.quote(text.source)} " for name, text in self.env if text)
        return f"{env}{words}" + (f"  (in {self.cwd.source})" if self.cwd else "")


@dataclass(frozen=True, slots=True)
class RunProgram:
    program: CommandTemplate
    result_parser: ResultParser
    timeout: timedelta
    only_if: CommandTemplate | None = None  # the program runs only if this exits with 0
    only_if_timeout: timedelta = timedelta(seconds=1)
    hold_if_broken: bool = False  # a program that cannot be found or started holds the event
    timeout_blocks: bool = False  # a program that does not end in time blocks the event, whatever the hook's on_error
    instant = False
    constant = None
    label = "the action run"

    @property
    def total_timeout(self) -> timedelta:
        """The total time: `only_if` does not use the program's own timeout, and `timeout_blocks` has to see it end."""
        total = self.timeout + self.only_if_timeout if self.only_if is not None else self.timeout
        return total + _TIMEOUT_MARGIN if self.timeout_blocks else total

    @property
    def may(self) -> May:
        return self.result_parser.may

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return (*self.program.reads(), *(self.only_if.reads() if self.only_if else ()))

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "run", self.program.describe()
        yield from describe_input("stdin", self.program.stdin)
        if self.only_if is not None:
            yield "only_if", self.only_if.describe()
            if self.only_if.stdin != self.program.stdin:
                yield from describe_input("stdin of only_if", self.only_if.stdin)

    async def run(self, event: Event, host: Host) -> Outcome:
        if self.only_if is not None and not await self._should_run(self.only_if, event, host):
            return NOT_APPLIED
        try:
            finished = await host.run_program(self.program.render(event, self.timeout))
            if self.hold_if_broken and finished.exit_code in NOT_FOUND_EXIT_CODES:
                raise not_found_error(finished)
        except ActionError as failed:
            if self.timeout_blocks and failed.failure.kind is FailureKind.TIMEOUT:
                raise ActionError(FailureKind.TIMEOUT, str(failed), block_outcome(str(failed), event)) from None
            if self.hold_if_broken:
                raise holding_error(failed.failure, event.name) from None
            raise
        return self.result_parser.parse(finished, event)

    async def _should_run(self, only_if: CommandTemplate, event: Event, host: Host) -> bool:
        asked = current_hook.get()
        who = current_hook_id(), (NATIVE_WORDING if asked is None or asked.wording is None else asked.wording).only_if
        try:
            finished = await host.run_program(only_if.render(event, self.only_if_timeout))
        except ActionError as failed:
            _log.warning("[%s] %s %s; the hook is skipped", *who, failed)
            return False
        if finished.exit_code in NOT_FOUND_EXIT_CODES:
            reason = finished.stderr.strip() or f"exit code {finished.exit_code}"
            _log.warning("[%s] %s could not start (%s); the hook is skipped", *who, reason)
        return finished.exit_code == 0


def _working_directory(event: Event, chosen: str) -> str | None:
    """The session's directory, or the chosen one below it: hookline itself may run in any other."""
    cwd = event.facts.get("cwd")
    session = cwd if isinstance(cwd, str) else ""
    return os.path.join(session, chosen) if session and chosen else session or chosen or None


def _encode_line(text: str) -> bytes:
    """A lone surrogate becomes \\udXXX, so that the JSON stays valid. `read` and `while read` need the final newline."""
    return text.encode("utf-8", "backslashreplace") + b"\n"

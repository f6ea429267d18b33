"""The language servers of a workspace, started when they are first needed, and the two tools that ask them."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from hookline.config.problem import printable
from hookline.errors import HooklineError
from hookline.hooks.actions.diagnose import CHANGED, DIAGNOSTICS
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import Kind
from hookline.patterns.globs import path_glob
from hookline.patterns.pattern import BadPattern, Pattern
from hookline.runtime.app import LanguageServer
from hookline.runtime.lsp.client import Client
from hookline.runtime.lsp.findings import finding
from hookline.runtime.tools.environment import filled, for_servers, unset
from hookline.runtime.tools.workspace import Refused, Workspace

if TYPE_CHECKING:
    from hookline.runtime.tools.tool import Place

PATIENCE: Final = timedelta(seconds=15)
_LARGEST: Final = 2_000_000  # bytes of a file
_MOST_STARTS: Final = 3  # in a row, without an answer
_MOST_REMEMBERED: Final = 50  # files whose content somebody told us


@dataclass(frozen=True, slots=True)
class Told:
    """What a file holds, by somebody's word, and how it stood on disk then."""

    text: str
    stamp: tuple[int, int, int] | None


class Served:
    """One server through its lives. One that fails is started again by the next use, a few times."""

    def __init__(self, server: LanguageServer, workspace: Path, env: Mapping[str, str]) -> None:
        self.name = server.name
        self._server = server
        self._workspace = workspace
        self._env = env
        self._globs = _globs(server)
        self._client: Client | None = None
        self._starting = asyncio.Lock()
        self._starts = 0
        self._late = 0

    def knows(self, path: str) -> bool:
        """A glob without a slash means files of that name anywhere."""
        name = path.rpartition("/")[2]
        return any(glob.search(path if whole else name) for whole, glob in self._globs)

    async def told(self, path: Path, text: str, patience: timedelta, *, look: bool) -> list[dict[str, Any]]:
        """What it finds in the text, if it is asked to `look`. Raises HooklineError."""
        seconds = patience.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                client = await self._living()
                await client.change(path, text)
                found = await client.diagnostics(path) if look else []
        except TimeoutError:
            self._late += 1
            if self._late > 1:  # it may be slow once; now it is stuck
                await self.close()
            raise self._error(f"it did not answer within {seconds:g} s") from None
        except HooklineError as error:
            raise self._error(str(error)) from None
        if look:
            self._starts = self._late = 0
        return [made for each in found if (made := finding(each, self.name)) is not None]

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def _living(self) -> Client:
        async with self._starting:
            if self._client is None or not self._client.alive:
                if self._starts >= _MOST_STARTS:
                    raise HooklineError(f"it is not started again after {_MOST_STARTS} times")
                self._starts += 1
                await self.close()
                self._client = await Client.started(self._server, self._workspace, self._environment())
            return self._client

    def _environment(self) -> dict[str, str]:
        own = self._server.env
        if missing := unset(own.values(), self._env):
            raise HooklineError(f"the variable {missing} is not set")
        return {**for_servers(self._env), **filled(own, self._env)}

    def _error(self, why: str) -> HooklineError:
        return HooklineError(f"{self.name}: {printable(why)}")


class LanguageServers:
    """Without specs, `ruff server` looks at Python files. Whatever nobody knows about has nothing to report."""

    def __init__(
        self,
        specs: tuple[LanguageServer, ...],
        workspace: Path,
        env: Mapping[str, str],
        patience: timedelta = PATIENCE,
    ) -> None:
        self._workspace = Workspace(workspace)
        self._served = [Served(each, self._workspace.root, env) for each in specs or (_ruff(env),)]
        self._patience = patience
        self._told: dict[Path, Told] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in self._served))

    def tools(self) -> tuple[LanguageTool, ...]:
        return (
            LanguageTool(CHANGED, _CHANGED, _WITH_CONTENT, self.notify_change),
            LanguageTool(DIAGNOSTICS, _FOUND, _PATH, lambda path, content: self.diagnostics(path)),
        )

    async def notify_change(self, path: str, content: str | None = None) -> dict[str, Any]:
        """Raises HooklineError. Without a content, what stands on disk counts."""
        real, shown = self._real(path)
        self._told.pop(real, None)
        if content is None:
            content = self._on_disk(path)
        elif len(content) > _LARGEST:
            raise HooklineError(f"{shown} is too large for a language server")
        self._told[real] = Told(content, _stamp(real))
        while len(self._told) > _MOST_REMEMBERED:
            del self._told[next(iter(self._told))]
        asked = await self._each(real, shown, content, look=False)
        return {"path": shown, "servers": [served.name for served, _ in asked]}

    async def diagnostics(self, path: str) -> dict[str, Any]:
        """Raises HooklineError. What somebody told counts until the file changes on disk."""
        real, shown = self._real(path)
        told = self._told.get(real)
        text = told.text if told is not None and told.stamp == _stamp(real) else self._on_disk(path)
        asked = await self._each(real, shown, text, look=True)
        found = [each for _, some in asked for each in some]
        found.sort(key=lambda each: (each["line"], each["column"]))
        return {"path": shown, "diagnostics": found, "servers": [served.name for served, _ in asked]}

    async def _each(
        self, real: Path, shown: str, text: str, *, look: bool
    ) -> Sequence[tuple[Served, list[dict[str, Any]]]]:
        """Raises the first error only if no server has an answer."""
        knowing = [served for served in self._served if served.knows(shown)]
        calls = (served.told(real, text, self._patience, look=look) for served in knowing)
        answers = await asyncio.gather(*calls, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, HooklineError):
                raise answer
        good = [
            (served, answer)
            for served, answer in zip(knowing, answers, strict=True)
            if not isinstance(answer, BaseException)
        ]
        failed = next((answer for answer in answers if isinstance(answer, BaseException)), None)
        if failed is not None and not good:
            raise failed
        return good

    def _real(self, path: str) -> tuple[Path, str]:
        """Where the file is or would be, links resolved, and how messages show it."""
        given = self._workspace.relative(path)
        if not given or "\0" in given or not _is_text(given):
            raise HooklineError(f"{printable(path)[:200]!r} is no path of a file")
        root = str(self._workspace.root)
        real = os.path.realpath(os.path.join(root, given))
        if os.path.commonpath((root, real)) != root or real == root:
            raise HooklineError(f"{printable(path)[:200]} is outside of the workspace")
        return Path(real), os.path.relpath(real, root)

    def _on_disk(self, path: str) -> str:
        with self._workspace.at(path) as spot, spot.open() as file:
            data = file.read(_LARGEST + 1)
        if len(data) > _LARGEST:
            raise Refused(f"{spot.path} is too large for a language server")
        return data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class LanguageTool:
    name: str
    description: str
    schema: dict[str, Any]
    ask: Callable[[str, str | None], Awaitable[dict[str, Any]]] = field(repr=False)
    kind: Kind = Kind.OTHER

    async def perform(self, input: dict[str, Any], place: Place) -> ToolResult:
        path, content = input.get("path"), input.get("content")
        if not isinstance(path, str):
            return ToolResult(None, False, f"{self.name} needs the path of a file")
        if content is not None and not isinstance(content, str):
            return ToolResult(None, False, f"{self.name}: the content is not a text")
        try:
            return ToolResult(await self.ask(path, content))
        except HooklineError as error:
            return ToolResult(None, False, f"{self.name}: {error}")


_CHANGED: Final = "Tell the language servers that a file has changed. Without a content, it is read from disk."
_FOUND: Final = "What the language servers have to say about a file: errors and warnings with line, column and code."
_PATH: Final = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
_WITH_CONTENT: Final = {**_PATH, "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}


def _ruff(env: Mapping[str, str]) -> LanguageServer:
    """The one that was installed with us, else the first on the path; if there is none, starting it says so."""
    beside = Path(sys.executable).parent / "ruff"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("ruff", path=env.get("PATH"))
    return LanguageServer("ruff", (found or "ruff", "server"), ("*.py", "*.pyi"), "python")


def _globs(server: LanguageServer) -> tuple[tuple[bool, Pattern], ...]:
    """Each with whether it is about the whole path."""
    try:
        return tuple(("/" in glob, path_glob(glob)) for glob in server.files)
    except BadPattern as error:
        raise HooklineError(f"the files of the language server {server.name}: {error}") from None


def _is_text(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino

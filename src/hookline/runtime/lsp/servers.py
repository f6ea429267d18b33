"""The language servers of a workspace, started on first use, and the two tools that use them."""

from __future__ import annotations

import asyncio
import os
import shutil
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from hookline.errors import HooklineError
from hookline.formatting import printable
from hookline.hooks.actions.diagnose import DIAGNOSTICS_TOOL, NOTIFY_CHANGE_TOOL
from hookline.hooks.host import ToolResult
from hookline.hooks.tools import ToolKind
from hookline.hosts.mcp.json_rpc import get_object
from hookline.lazy_dataclasses import dataclass, field
from hookline.patterns.matchers import path_glob
from hookline.patterns.pattern import BadPattern, Pattern
from hookline.runtime.apps.app import LanguageServer
from hookline.runtime.lsp.language_client import LanguageClient
from hookline.runtime.tools.program_environment import expand_variables, find_unset_variable, server_environment
from hookline.runtime.tools.workspace import ToolError, Workspace

if TYPE_CHECKING:
    from hookline.runtime.tools.tool_definition import ToolContext


_SEVERITIES: Final = {1: "error", 2: "warning", 3: "information", 4: "hint"}
_MAX_DIAGNOSTIC_LENGTH: Final = 500  # characters of a message


def parse_diagnostic(diagnostic: dict[str, Any], server: str) -> dict[str, Any] | None:
    """None if there is no message."""
    message = diagnostic.get("message")
    if not isinstance(message, str) or not message.strip():
        return None
    start = get_object(diagnostic, "range", "start")
    severity, code, source = diagnostic.get("severity"), diagnostic.get("code"), diagnostic.get("source")
    found: dict[str, Any] = {
        "line": _to_one_based(start.get("line")),
        "column": _to_one_based(start.get("character")),
        "severity": _SEVERITIES.get(severity, "error") if isinstance(severity, int) else "error",
        "message": "; ".join(line.strip() for line in message.splitlines() if line.strip())[:_MAX_DIAGNOSTIC_LENGTH],
        "source": source if isinstance(source, str) else server,
    }
    return found | ({"code": code} if isinstance(code, (str, int)) else {})


def _to_one_based(number: Any) -> int:
    return number + 1 if isinstance(number, int) and not isinstance(number, bool) and number >= 0 else 1


RESPONSE_TIMEOUT: Final = timedelta(seconds=15)
_MAX_FILE_BYTES: Final = 2_000_000  # bytes of a file
_MAX_STARTS: Final = 3  # starts in a row without an answer
_MAX_REPORTED_TEXTS: Final = 50  # files with reported content


@dataclass(frozen=True, slots=True)
class ReportedText:
    """The content that a tool reported, and the state of the file on disk at that time."""

    text: str
    stamp: tuple[int, int, int] | None


class LanguageServerConnection:
    """One server across restarts. After a failure the next use starts it again, a few times."""

    def __init__(self, server: LanguageServer, workspace: Path, env: Mapping[str, str]) -> None:
        self.name = server.name
        self._server = server
        self._workspace = workspace
        self._env = env
        self._globs = _parse_globs(server)
        self._client: LanguageClient | None = None
        self._starting = asyncio.Lock()
        self._starts = 0
        self._timeouts = 0

    def handles(self, path: str) -> bool:
        """A glob without a slash matches the file name in any directory."""
        name = path.rpartition("/")[2]
        return any(glob.search(path if whole else name) for whole, glob in self._globs)

    async def check_text(
        self, path: Path, text: str, timeout: timedelta, *, wait_for_diagnostics: bool
    ) -> list[dict[str, Any]]:
        """Sends the text; returns its diagnostics if `wait_for_diagnostics` is set. Raises HooklineError."""
        seconds = timeout.total_seconds()
        try:
            async with asyncio.timeout(seconds):
                client = await self._ensure_client()
                await client.update_document(path, text)
                found = await client.diagnostics(path) if wait_for_diagnostics else []
        except TimeoutError:
            self._timeouts += 1
            if self._timeouts > 1:  # the second timeout in a row: the server hangs
                await self.close()
            raise self._server_error(f"it did not answer within {seconds:g} s") from None
        except HooklineError as error:
            raise self._server_error(str(error)) from None
        if wait_for_diagnostics:
            self._starts = self._timeouts = 0
        return [parsed for each in found if (parsed := parse_diagnostic(each, self.name)) is not None]

    async def close(self) -> None:
        if self._client is not None:
            await self._client.close()

    async def _ensure_client(self) -> LanguageClient:
        async with self._starting:
            if self._client is None or not self._client.is_alive:
                if self._starts >= _MAX_STARTS:
                    raise HooklineError(f"it failed {_MAX_STARTS} times and is not started again")
                self._starts += 1
                await self.close()
                self._client = await LanguageClient.start(self._server, self._workspace, self._build_environment())
            return self._client

    def _build_environment(self) -> dict[str, str]:
        own = self._server.env
        if missing := find_unset_variable(own.values(), self._env):
            raise HooklineError(f"the variable {missing} is not set")
        return {**server_environment(self._env), **expand_variables(own, self._env)}

    def _server_error(self, why: str) -> HooklineError:
        return HooklineError(f"{self.name}: {printable(why)}")


class LanguageServers:
    """Without configured servers, `ruff server` checks Python files. Other files have no diagnostics."""

    def __init__(
        self,
        specs: tuple[LanguageServer, ...],
        workspace: Path,
        env: Mapping[str, str],
        timeout: timedelta = RESPONSE_TIMEOUT,
    ) -> None:
        self._workspace = Workspace(workspace)
        self._servers = [
            LanguageServerConnection(each, self._workspace.root, env) for each in specs or (_ruff_server(env),)
        ]
        self._timeout = timeout
        self._reported_texts: dict[Path, ReportedText] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        await asyncio.gather(*(each.close() for each in self._servers))

    def tools(self) -> tuple[LanguageTool, ...]:
        return (
            LanguageTool(NOTIFY_CHANGE_TOOL, _CHANGED_DESCRIPTION, _CONTENT_SCHEMA, self.notify_change),
            LanguageTool(
                DIAGNOSTICS_TOOL, _DIAGNOSTICS_DESCRIPTION, _PATH_SCHEMA, lambda path, content: self.diagnostics(path)
            ),
        )

    async def notify_change(self, path: str, content: str | None = None) -> dict[str, Any]:
        """Without content, reads the file from disk. Raises HooklineError."""
        real, shown = self._resolve_path(path)
        self._reported_texts.pop(real, None)
        if content is None:
            content = self._read_from_disk(path)
        elif len(content) > _MAX_FILE_BYTES:
            raise HooklineError(f"{shown} is too large for a language server")
        self._reported_texts[real] = ReportedText(content, _file_stamp(real))
        while len(self._reported_texts) > _MAX_REPORTED_TEXTS:
            del self._reported_texts[next(iter(self._reported_texts))]
        answers = await self._ask_servers(real, shown, content, wait_for_diagnostics=False)
        return {"path": shown, "servers": [server.name for server, _ in answers]}

    async def diagnostics(self, path: str) -> dict[str, Any]:
        """Reported content is used until the file changes on disk. Raises HooklineError."""
        real, shown = self._resolve_path(path)
        known = self._reported_texts.get(real)
        text = known.text if known is not None and known.stamp == _file_stamp(real) else self._read_from_disk(path)
        answers = await self._ask_servers(real, shown, text, wait_for_diagnostics=True)
        found = [each for _, diagnostics in answers for each in diagnostics]
        found.sort(key=lambda each: (each["line"], each["column"]))
        return {"path": shown, "diagnostics": found, "servers": [server.name for server, _ in answers]}

    async def _ask_servers(
        self, real: Path, shown: str, text: str, *, wait_for_diagnostics: bool
    ) -> Sequence[tuple[LanguageServerConnection, list[dict[str, Any]]]]:
        """Raises the first error only if no server answers."""
        servers = [server for server in self._servers if server.handles(shown)]
        calls = (
            server.check_text(real, text, self._timeout, wait_for_diagnostics=wait_for_diagnostics)
            for server in servers
        )
        answers = await asyncio.gather(*calls, return_exceptions=True)
        for answer in answers:
            if isinstance(answer, BaseException) and not isinstance(answer, HooklineError):
                raise answer
        good = [
            (server, answer)
            for server, answer in zip(servers, answers, strict=True)
            if not isinstance(answer, BaseException)
        ]
        failed = next((answer for answer in answers if isinstance(answer, BaseException)), None)
        if failed is not None and not good:
            raise failed
        return good

    def _resolve_path(self, path: str) -> tuple[Path, str]:
        """The file's path with links resolved, and its path for messages."""
        given = self._workspace.relative_path(path)
        if not given or "\0" in given or not _is_encodable(given):
            raise HooklineError(f"{printable(path)[:200]!r} is not the path of a file")
        root = str(self._workspace.root)
        real = os.path.realpath(os.path.join(root, given))
        if os.path.commonpath((root, real)) != root or real == root:
            raise HooklineError(f"{printable(path)[:200]} is outside the workspace")
        return Path(real), os.path.relpath(real, root)

    def _read_from_disk(self, path: str) -> str:
        with self._workspace.resolve(path) as target, target.open() as file:
            data = file.read(_MAX_FILE_BYTES + 1)
        if len(data) > _MAX_FILE_BYTES:
            raise ToolError(f"{target.path} is too large for a language server")
        return data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class LanguageTool:
    name: str
    description: str
    schema: dict[str, Any]
    ask: Callable[[str, str | None], Awaitable[dict[str, Any]]] = field(repr=False)
    kind: ToolKind = ToolKind.OTHER

    async def perform(self, input: dict[str, Any], context: ToolContext) -> ToolResult:
        path, content = input.get("path"), input.get("content")
        if not isinstance(path, str):
            return ToolResult(None, False, f"{self.name} needs the path of a file")
        if content is not None and not isinstance(content, str):
            return ToolResult(None, False, f"{self.name}: the content is not text")
        try:
            return ToolResult(await self.ask(path, content))
        except HooklineError as error:
            return ToolResult(None, False, f"{self.name}: {error}")


_CHANGED_DESCRIPTION: Final = (
    "Notifies the language servers that a file has changed. Without content, the file is read from disk."
)
_DIAGNOSTICS_DESCRIPTION: Final = (
    "Returns the errors and warnings of the language servers for a file, with line, column and code."
)
_PATH_SCHEMA: Final = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
_CONTENT_SCHEMA: Final = {**_PATH_SCHEMA, "properties": {"path": {"type": "string"}, "content": {"type": "string"}}}


def _ruff_server(env: Mapping[str, str]) -> LanguageServer:
    """Uses the ruff installed with hookline, then the one on the PATH. Without either, the start fails."""
    beside = Path(sys.executable).parent / "ruff"
    found = str(beside) if os.access(beside, os.X_OK) else shutil.which("ruff", path=env.get("PATH"))
    return LanguageServer("ruff", (found or "ruff", "server"), ("*.py", "*.pyi"), "python")


def _parse_globs(server: LanguageServer) -> tuple[tuple[bool, Pattern], ...]:
    """Each glob, and whether it applies to the whole path."""
    try:
        return tuple(("/" in glob, path_glob(glob)) for glob in server.files)
    except BadPattern as error:
        raise HooklineError(f"the files of the language server {server.name}: {error}") from None


def _is_encodable(path: str) -> bool:
    try:
        path.encode()
    except UnicodeEncodeError:
        return False
    return True


def _file_stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path, follow_symlinks=False)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino

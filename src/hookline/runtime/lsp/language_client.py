"""One run of a language server: JSON-RPC over its pipes, open documents, and diagnostics."""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from hookline.errors import HooklineError
from hookline.formatting import printable
from hookline.hosts.mcp.json_rpc import get_object
from hookline.lazy_dataclasses import dataclass, field
from hookline.runners.server_process import PipeClosedError, ServerProcess
from hookline.runtime.apps.app import LanguageServer

MAX_MESSAGE_BYTES: Final = 16 * 1024 * 1024  # bytes of one message
_MAX_HEADER_BYTES: Final = 4096
_CHUNK: Final = 256 * 1024


class FramingError(Exception):
    """Invalid data from the server; the start of the next message is unknown."""


def encode_message(message: dict[str, Any]) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}, separators=(",", ":")).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def read_message(reader: asyncio.StreamReader) -> dict[str, Any] | None:
    """None at the end. Raises FramingError."""
    length = await _read_length(reader)
    if length is None:
        return None
    try:
        value = json.loads(await _read_exactly(reader, length))
    except (ValueError, RecursionError, asyncio.IncompleteReadError):
        raise FramingError("invalid JSON in a message") from None
    if not isinstance(value, dict):
        raise FramingError("a message is not an object")
    return value


async def _read_length(reader: asyncio.StreamReader) -> int | None:
    length, size = None, 0
    while True:
        try:
            line = await reader.readuntil(b"\n")
        except asyncio.IncompleteReadError as error:
            if error.partial or size:
                raise FramingError("it ended in the middle of a message") from None
            return None
        except asyncio.LimitOverrunError:
            raise FramingError("a message header has no end") from None
        size += len(line)
        if size > _MAX_HEADER_BYTES:
            raise FramingError("a message header is too long")
        if not line.strip():
            break
        name, _, value = line.partition(b":")
        if name.strip().lower() == b"content-length":
            length = _parse_length(value.strip())
    if length is None:
        raise FramingError("a message header has no valid Content-Length")
    return length


def _parse_length(text: bytes) -> int:
    if not text.isdigit() or len(text) > 12:
        raise FramingError("a message header has no valid Content-Length")
    if int(text) > MAX_MESSAGE_BYTES:
        raise FramingError(f"a message is longer than {MAX_MESSAGE_BYTES // 1024 // 1024} MiB")
    return int(text)


async def _read_exactly(reader: asyncio.StreamReader, length: int) -> bytes:
    """Reads in pieces, so that a wrong length costs no memory."""
    pieces: list[bytes] = []
    while length:
        piece = await reader.read(min(length, _CHUNK))
        if not piece:
            raise asyncio.IncompleteReadError(b"", length)
        pieces.append(piece)
        length -= len(piece)
    return b"".join(pieces)


_MAX_OPEN_DOCUMENTS: Final = 100  # documents
_MAX_DIAGNOSTICS: Final = 500  # diagnostics of one document
_QUIET_SECONDS: Final = 0.2  # seconds to wait for a newer report: some servers report more than once
_SHUTDOWN_SECONDS: Final = 2.0  # seconds for shutdown and exit
_RETRYABLE_CODES: Final = (-32801, -32802)  # ContentModified, ServerCancelled
_PULL_TRIES: Final = 3
_METHOD_NOT_FOUND: Final = -32601
_NULL_RESULT_METHODS: Final = frozenset(
    ("client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create")
    + ("window/showMessageRequest", "workspace/diagnostic/refresh", "workspace/semanticTokens/refresh")
)


class ResponseError(HooklineError):
    """The server answered with an error."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(printable(text)[:300])
        self.code = code


@dataclass(slots=True)
class OpenDocument:
    version: int
    digest: bytes
    diagnostics: list[dict[str, Any]] = field(default_factory=list)
    fresh: asyncio.Event = field(default_factory=asyncio.Event)  # the report is for the current version


class LanguageClient:
    def __init__(self, server: LanguageServer, workspace: Path, program: ServerProcess) -> None:
        self._server = server
        self._workspace = workspace
        self._program = program
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._documents: dict[Path, OpenDocument] = {}
        self._sending = asyncio.Lock()
        self._number = 0
        self._capabilities: Mapping[str, Any] = {}
        self._end_reason = ""
        self._ended = asyncio.Event()
        self._tasks = [
            asyncio.ensure_future(self._receive_messages()),
            asyncio.ensure_future(program.log_errors(server.name)),
        ]

    @classmethod
    async def start(cls, server: LanguageServer, workspace: Path, env: Mapping[str, str]) -> LanguageClient:
        """Starts the server and does the handshake. Raises HooklineError; cancelling it leaves nothing running."""
        program = await ServerProcess.start("the program", server.command, env, workspace, subprocess.PIPE)
        client = cls(server, workspace, program)
        try:
            await client._initialize()
        except BaseException:
            await client.close()
            raise
        return client

    @property
    def is_alive(self) -> bool:
        return not self._ended.is_set()

    async def update_document(self, path: Path, text: str) -> None:
        """Sends the document's current text. Raises HooklineError."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        async with self._sending:
            known = self._documents.get(path)
            if known is not None and known.digest == digest:
                return
            self._documents[path] = OpenDocument(known.version + 1 if known is not None else 1, digest)
            await (self._send_open(path, text) if known is None else self._send_change(path, text))
            await self._send_save(path, text)

    async def diagnostics(self, path: Path) -> list[dict[str, Any]]:
        """Diagnostics of an open document, as the protocol defines them. Waits without a timeout."""
        document = self._documents[path]
        if "diagnosticProvider" in self._capabilities:
            document.diagnostics = _diagnostic_items(await self._pull_diagnostics(path))
        else:
            await self._wait_for_report(document)
        return document.diagnostics

    async def close(self) -> None:
        if self.is_alive:
            with suppress(HooklineError, TimeoutError):
                async with asyncio.timeout(_SHUTDOWN_SECONDS):
                    await self._request("shutdown")
                    await self._notify("exit")
                    await self._program.wait_for_exit(_SHUTDOWN_SECONDS)
        self._mark_lost("it was closed")
        await asyncio.shield(asyncio.ensure_future(self._stop()))

    async def _stop(self) -> None:
        await self._program.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _initialize(self) -> None:
        root = self._workspace.as_uri()
        answer = await self._request(
            "initialize",
            {
                "processId": os.getpid(),
                "clientInfo": {"name": "hookline"},
                "rootUri": root,
                "rootPath": str(self._workspace),
                "workspaceFolders": self._workspace_folders(),
                "capabilities": {
                    "general": {"positionEncodings": ["utf-16"]},
                    "workspace": {"configuration": True, "workspaceFolders": True},
                    "textDocument": {
                        "synchronization": {"didSave": True},
                        "publishDiagnostics": {"versionSupport": True},
                        "diagnostic": {},
                    },
                },
            },
        )
        self._capabilities = get_object(answer, "capabilities")
        await self._notify("initialized", {})

    def _workspace_folders(self) -> list[dict[str, str]]:
        return [{"uri": self._workspace.as_uri(), "name": self._workspace.name or "workspace"}]

    async def _send_open(self, path: Path, text: str) -> None:
        language, version = self._server.language or self._server.name, self._documents[path].version
        document = {"uri": path.as_uri(), "languageId": language, "version": version, "text": text}
        await self._notify("textDocument/didOpen", {"textDocument": document})
        while len(self._documents) > _MAX_OPEN_DOCUMENTS:
            oldest = next(iter(self._documents))
            del self._documents[oldest]
            await self._notify("textDocument/didClose", {"textDocument": {"uri": oldest.as_uri()}})

    async def _send_change(self, path: Path, text: str) -> None:
        if self._accepts_changes():
            document = {"uri": path.as_uri(), "version": self._documents[path].version}
            await self._notify("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})
        else:
            await self._notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
            await self._send_open(path, text)

    def _accepts_changes(self) -> bool:
        sync = self._capabilities.get("textDocumentSync")
        return bool(sync.get("change") if isinstance(sync, dict) else sync)

    async def _send_save(self, path: Path, text: str) -> None:
        """Some servers check only saved files."""
        how = get_object(self._capabilities, "textDocumentSync").get("save")
        if how:
            with_text = {"text": text} if get_object({"how": how}, "how").get("includeText") else {}
            await self._notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}, **with_text})

    async def _pull_diagnostics(self, path: Path) -> Any:
        for tries_left in reversed(range(_PULL_TRIES)):
            try:
                answer = await self._request("textDocument/diagnostic", {"textDocument": {"uri": path.as_uri()}})
                return get_object({"answer": answer}, "answer").get("items")
            except ResponseError as error:
                if error.code not in _RETRYABLE_CODES or not tries_left:
                    raise
        raise AssertionError("the last try returns or raises")

    async def _wait_for_report(self, document: OpenDocument) -> None:
        ended = asyncio.ensure_future(self._ended.wait())
        fresh = asyncio.ensure_future(document.fresh.wait())
        try:
            await asyncio.wait((ended, fresh), return_when=asyncio.FIRST_COMPLETED)
            if not fresh.done():
                raise HooklineError(self._end_reason)
        finally:
            ended.cancel()
            fresh.cancel()
        before = None
        while before is not document.diagnostics and self.is_alive:
            before = document.diagnostics
            await asyncio.sleep(_QUIET_SECONDS)

    async def _request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        self._number += 1
        number = self._number
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._send({"id": number, "method": method, **({} if params is None else {"params": params})})
            return await answer
        finally:
            self._waiting.pop(number, None)
            if answer.cancelled() and self.is_alive and method != "shutdown":
                self._cancel_request(number)

    def _cancel_request(self, number: int) -> None:
        task = asyncio.ensure_future(self._notify("$/cancelRequest", {"id": number}))
        self._tasks.append(task)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        await self._send({"method": method, **({} if params is None else {"params": params})})

    async def _send(self, message: dict[str, Any]) -> None:
        if self._ended.is_set():
            raise HooklineError(self._end_reason)
        try:
            await self._program.write(encode_message(message))
        except PipeClosedError:
            raise HooklineError(await self._program.describe_exit()) from None

    async def _receive_messages(self) -> None:
        try:
            while (message := await read_message(self._program.output)) is not None:
                await self._handle_message(message)
            self._mark_lost(await self._program.describe_exit())
        except FramingError as error:
            self._mark_lost(f"it violates the language server protocol: {error}")
        except HooklineError as error:  # the server waits for our answer but does not read it
            self._mark_lost(str(error))

    def _mark_lost(self, reason: str) -> None:
        self._end_reason = self._end_reason or reason
        self._ended.set()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(HooklineError(self._end_reason))
                waiting.exception()

    async def _handle_message(self, message: dict[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str) and number is not None:
            await self._send({"id": number, **self._answer_request(method, message.get("params"))})
        elif method == "textDocument/publishDiagnostics":
            self._store_diagnostics(get_object(message, "params"))
        elif isinstance(number, int) and (waiting := self._waiting.get(number)) is not None and not waiting.done():
            error = get_object(message, "error")
            if "error" in message:
                code = error.get("code")
                refusal = ResponseError(code if isinstance(code, int) else 0, str(error.get("message") or "it failed"))
                waiting.set_exception(refusal)
            else:
                waiting.set_result(message.get("result"))

    def _answer_request(self, method: str, params: Any) -> dict[str, Any]:
        if method == "workspace/configuration":
            items = get_object({"params": params}, "params").get("items")
            return {"result": [None] * len(items) if isinstance(items, list) else []}
        if method == "workspace/workspaceFolders":
            return {"result": self._workspace_folders()}
        if method == "workspace/applyEdit":
            return {"result": {"applied": False}}
        if method in _NULL_RESULT_METHODS:
            return {"result": None}
        return {"error": {"code": _METHOD_NOT_FOUND, "message": f"unsupported method {method[:100]}"}}

    def _store_diagnostics(self, params: Mapping[str, Any]) -> None:
        uri, version = params.get("uri"), params.get("version")
        document = self._documents.get(_path_from_uri(uri)) if isinstance(uri, str) else None
        if document is None or (isinstance(version, int) and version < document.version):
            return
        document.diagnostics = _diagnostic_items(params.get("diagnostics"))
        document.fresh.set()


def _diagnostic_items(found: Any) -> list[dict[str, Any]]:
    return [each for each in found[:_MAX_DIAGNOSTICS] if isinstance(each, dict)] if isinstance(found, list) else []


def _path_from_uri(uri: str) -> Path:
    """Compares paths, because servers spell the same URI differently."""
    try:
        return Path(unquote(urlsplit(uri).path))
    except ValueError:
        return Path()

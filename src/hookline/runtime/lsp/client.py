"""One life of a language server: JSON-RPC over its pipes, the documents it knows, and what it thinks of them."""

from __future__ import annotations

import asyncio
import hashlib
import os
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

from hookline.config.problem import printable
from hookline.errors import HooklineError
from hookline.hosts.mcp.lines import Gone
from hookline.hosts.mcp.message import object_in
from hookline.hosts.mcp.program import Program
from hookline.runtime.app import LanguageServer
from hookline.runtime.lsp.wire import Garbled, framed, next_message

_MOST_OPEN: Final = 100  # documents
_MOST_FOUND: Final = 500  # diagnostics of one document
_QUIET: Final = 0.2  # seconds without a newer report, for servers that report more than once
_TIME_TO_END: Final = 2.0  # seconds for shutdown and exit
_NOT_NOW: Final = (-32801, -32802)  # the content changed meanwhile; the server cancelled
_TRIES: Final = 3
_NO_SUCH_METHOD: Final = -32601
_NOTHING_TO_SAY: Final = frozenset(
    ("client/registerCapability", "client/unregisterCapability", "window/workDoneProgress/create")
    + ("window/showMessageRequest", "workspace/diagnostic/refresh", "workspace/semanticTokens/refresh")
)


class Refusal(HooklineError):
    """The server answered with an error."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(printable(text)[:300])
        self.code = code


@dataclass(slots=True)
class Document:
    version: int
    digest: bytes
    found: list[dict[str, Any]] = field(default_factory=list)
    fresh: asyncio.Event = field(default_factory=asyncio.Event)  # it was reported on as it is now


class Client:
    def __init__(self, server: LanguageServer, workspace: Path, program: Program) -> None:
        self._server = server
        self._workspace = workspace
        self._program = program
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._documents: dict[Path, Document] = {}
        self._sending = asyncio.Lock()
        self._number = 0
        self._able: Mapping[str, Any] = {}
        self._why = ""
        self._ended = asyncio.Event()
        self._tasks = [asyncio.ensure_future(self._hear()), asyncio.ensure_future(program.log_errors(server.name))]

    @classmethod
    async def started(cls, server: LanguageServer, workspace: Path, env: Mapping[str, str]) -> Client:
        """After the handshake. Raises HooklineError; cancelling it leaves nothing behind."""
        program = await Program.started("the program", server.command, env, workspace, subprocess.PIPE)
        client = cls(server, workspace, program)
        try:
            await client._greet()
        except BaseException:
            await client.close()
            raise
        return client

    @property
    def alive(self) -> bool:
        return not self._ended.is_set()

    async def change(self, path: Path, text: str) -> None:
        """Tells it what stands in the document now. Raises HooklineError."""
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).digest()
        async with self._sending:
            known = self._documents.get(path)
            if known is not None and known.digest == digest:
                return
            self._documents[path] = Document(known.version + 1 if known is not None else 1, digest)
            await (self._open(path, text) if known is None else self._alter(path, text))
            await self._saved(path, text)

    async def diagnostics(self, path: Path) -> list[dict[str, Any]]:
        """What it reports on a document that it was told of, as the protocol says it; waits for it as long as it takes."""
        document = self._documents[path]
        if "diagnosticProvider" in self._able:
            document.found = _items(await self._pulled(path))
        else:
            await self._reported(document)
        return document.found

    async def close(self) -> None:
        if self.alive:
            with suppress(HooklineError, TimeoutError):
                async with asyncio.timeout(_TIME_TO_END):
                    await self._request("shutdown")
                    await self._notify("exit")
                    await self._program.gone_within(_TIME_TO_END)
        self._lose("it was closed")
        await asyncio.shield(asyncio.ensure_future(self._buried()))

    async def _buried(self) -> None:
        await self._program.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _greet(self) -> None:
        root = self._workspace.as_uri()
        answer = await self._request(
            "initialize",
            {
                "processId": os.getpid(),
                "clientInfo": {"name": "hookline"},
                "rootUri": root,
                "rootPath": str(self._workspace),
                "workspaceFolders": self._folders(),
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
        self._able = object_in(answer, "capabilities")
        await self._notify("initialized", {})

    def _folders(self) -> list[dict[str, str]]:
        return [{"uri": self._workspace.as_uri(), "name": self._workspace.name or "workspace"}]

    async def _open(self, path: Path, text: str) -> None:
        language, version = self._server.language or self._server.name, self._documents[path].version
        document = {"uri": path.as_uri(), "languageId": language, "version": version, "text": text}
        await self._notify("textDocument/didOpen", {"textDocument": document})
        while len(self._documents) > _MOST_OPEN:
            oldest = next(iter(self._documents))
            del self._documents[oldest]
            await self._notify("textDocument/didClose", {"textDocument": {"uri": oldest.as_uri()}})

    async def _alter(self, path: Path, text: str) -> None:
        if self._hears_changes():
            named = {"uri": path.as_uri(), "version": self._documents[path].version}
            await self._notify("textDocument/didChange", {"textDocument": named, "contentChanges": [{"text": text}]})
        else:
            await self._notify("textDocument/didClose", {"textDocument": {"uri": path.as_uri()}})
            await self._open(path, text)

    def _hears_changes(self) -> bool:
        how = self._able.get("textDocumentSync")
        return bool(how.get("change") if isinstance(how, dict) else how)

    async def _saved(self, path: Path, text: str) -> None:
        """Some only look at what was saved."""
        how = object_in(self._able, "textDocumentSync").get("save")
        if how:
            with_text = {"text": text} if object_in({"how": how}, "how").get("includeText") else {}
            await self._notify("textDocument/didSave", {"textDocument": {"uri": path.as_uri()}, **with_text})

    async def _pulled(self, path: Path) -> Any:
        for tries_left in reversed(range(_TRIES)):
            try:
                answer = await self._request("textDocument/diagnostic", {"textDocument": {"uri": path.as_uri()}})
                return object_in({"answer": answer}, "answer").get("items")
            except Refusal as error:
                if error.code not in _NOT_NOW or not tries_left:
                    raise
        raise AssertionError("the last try returns or raises")

    async def _reported(self, document: Document) -> None:
        ended = asyncio.ensure_future(self._ended.wait())
        fresh = asyncio.ensure_future(document.fresh.wait())
        try:
            await asyncio.wait((ended, fresh), return_when=asyncio.FIRST_COMPLETED)
            if not fresh.done():
                raise HooklineError(self._why)
        finally:
            ended.cancel()
            fresh.cancel()
        before = None
        while before is not document.found and self.alive:
            before = document.found
            await asyncio.sleep(_QUIET)

    async def _request(self, method: str, params: dict[str, Any] | None = None) -> Any:
        self._number += 1
        number = self._number
        answer = self._waiting[number] = asyncio.get_running_loop().create_future()
        try:
            await self._send({"id": number, "method": method, **({} if params is None else {"params": params})})
            return await answer
        finally:
            self._waiting.pop(number, None)
            if answer.cancelled() and self.alive and method != "shutdown":
                self._cancel(number)

    def _cancel(self, number: int) -> None:
        task = asyncio.ensure_future(self._notify("$/cancelRequest", {"id": number}))
        self._tasks.append(task)
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def _notify(self, method: str, params: dict[str, Any] | None = None) -> None:
        await self._send({"method": method, **({} if params is None else {"params": params})})

    async def _send(self, message: dict[str, Any]) -> None:
        if self._ended.is_set():
            raise HooklineError(self._why)
        try:
            await self._program.write(framed(message))
        except Gone:
            raise HooklineError(await self._program.how_it_ended()) from None

    async def _hear(self) -> None:
        try:
            while (message := await next_message(self._program.output)) is not None:
                await self._heard(message)
            self._lose(await self._program.how_it_ended())
        except Garbled as error:
            self._lose(f"it does not speak the language server protocol: {error}")
        except HooklineError as error:  # it reads no more, and wants an answer
            self._lose(str(error))

    def _lose(self, why: str) -> None:
        self._why = self._why or why
        self._ended.set()
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(HooklineError(self._why))
                waiting.exception()

    async def _heard(self, message: dict[str, Any]) -> None:
        method, number = message.get("method"), message.get("id")
        if isinstance(method, str) and number is not None:
            await self._send({"id": number, **self._answer(method, message.get("params"))})
        elif method == "textDocument/publishDiagnostics":
            self._take(object_in(message, "params"))
        elif isinstance(number, int) and (waiting := self._waiting.get(number)) is not None and not waiting.done():
            error = object_in(message, "error")
            if "error" in message:
                code = error.get("code")
                refusal = Refusal(code if isinstance(code, int) else 0, str(error.get("message") or "it failed"))
                waiting.set_exception(refusal)
            else:
                waiting.set_result(message.get("result"))

    def _answer(self, method: str, params: Any) -> dict[str, Any]:
        if method == "workspace/configuration":
            items = object_in({"params": params}, "params").get("items")
            return {"result": [None] * len(items) if isinstance(items, list) else []}
        if method == "workspace/workspaceFolders":
            return {"result": self._folders()}
        if method == "workspace/applyEdit":
            return {"result": {"applied": False}}
        if method in _NOTHING_TO_SAY:
            return {"result": None}
        return {"error": {"code": _NO_SUCH_METHOD, "message": f"there is no {method[:100]} here"}}

    def _take(self, params: Mapping[str, Any]) -> None:
        uri, version = params.get("uri"), params.get("version")
        document = self._documents.get(_path_of(uri)) if isinstance(uri, str) else None
        if document is None or (isinstance(version, int) and version < document.version):
            return
        document.found = _items(params.get("diagnostics"))
        document.fresh.set()


def _items(found: Any) -> list[dict[str, Any]]:
    return [each for each in found[:_MOST_FOUND] if isinstance(each, dict)] if isinstance(found, list) else []


def _path_of(uri: str) -> Path:
    """Servers spell the same URI in more than one way."""
    try:
        return Path(unquote(urlsplit(uri).path))
    except ValueError:
        return Path()

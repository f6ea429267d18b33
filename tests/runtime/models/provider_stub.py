"""A model's server on the loopback interface that sends exactly what a test gives it, and sees when it is left."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from hookline.runtime.models.model import Chunk, CompletionRequest, ModelError
from hookline.runtime.models.providers import ModelAddress, parse_address
from hookline.runtime.models.remote_model import RemoteModel

Json = dict[str, Any]
HANG = "hang"  # nothing more comes, until the client leaves
DIE = "die"  # the connection is cut in the middle


@dataclass
class StubResponse:
    """Parts are sent one by one; the last may be HANG or DIE."""

    parts: tuple[bytes | str, ...] = ()
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    kind: str = "text/event-stream"
    silent: bool = False  # not even a status


@dataclass
class ReceivedRequest:
    path: str
    headers: dict[str, str]
    body: Json


class ProviderStub:
    def __init__(self, *answers: StubResponse) -> None:
        self.answers = list(answers)
        self.got: list[ReceivedRequest] = []
        self.left = asyncio.Event()  # a client went before the end
        self.hangs = asyncio.Event()  # it says nothing more
        self.url = ""
        self.tasks: set[asyncio.Task[None]] = set()

    def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.tasks.add(asyncio.create_task(self.serve(reader, writer)))

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while (got := await _request(reader)) is not None:
                self.got.append(got)
                answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
                if not await self._send(answer, reader, writer):
                    break
        except ConnectionError:
            self.left.set()
        finally:
            writer.close()

    async def _send(self, answer: StubResponse, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        if answer.silent:
            return await self._wait(reader)
        head = {"Content-Type": answer.kind, "Transfer-Encoding": "chunked", **answer.headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        writer.write(f"HTTP/1.1 {answer.status} Said\r\n{lines}\r\n".encode())
        for part in answer.parts:
            if part == HANG:
                return await self._wait(reader)
            if part == DIE:
                await writer.drain()
                return False
            assert isinstance(part, bytes)
            writer.write(b"%x\r\n%s\r\n" % (len(part), part))
            await writer.drain()
            await asyncio.sleep(0)
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _wait(self, reader: asyncio.StreamReader) -> bool:
        self.hangs.set()
        if not await reader.read(1):
            self.left.set()
        return False


async def _request(reader: asyncio.StreamReader) -> ReceivedRequest | None:
    first = (await reader.readline()).decode()
    if not first:
        return None
    headers: dict[str, str] = {}
    while line := (await reader.readline()).decode().strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    body = await reader.readexactly(int(headers.get("content-length", 0)))
    return ReceivedRequest(first.split()[1], headers, json.loads(body or b"{}"))


@asynccontextmanager
async def serving(*answers: StubResponse) -> AsyncIterator[ProviderStub]:
    loopback = ProviderStub(*answers)
    server = await asyncio.start_server(loopback.begin, "127.0.0.1", 0)
    loopback.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield loopback
    finally:
        server.close()
        for task in loopback.tasks:
            task.cancel()


@asynccontextmanager
async def remote_model(url: str, provider: str = "openai", silence: float = 20) -> AsyncIterator[RemoteModel]:
    model = RemoteModel(stub_address(url, provider), silence=timedelta(seconds=silence))
    try:
        yield model
    finally:
        await model.close()


KEY = "sk-quite-secret-0123456789"
_PATHS = {"openai": "/v1", "openai-chat": "/v1", "openai-responses": "/v1", "ollama": "/v1"}


def stub_address(url: str, provider: str) -> ModelAddress:
    return parse_address(f"{provider}:a-model@{url}{_PATHS.get(provider, '')}", {"HOOKLINE_KEY_127_0_0_1": KEY})


async def collect_pieces(model: RemoteModel, request: CompletionRequest) -> list[Chunk]:
    return [piece async for piece in model.stream(request)]


async def collect_failure(model: RemoteModel, request: CompletionRequest) -> tuple[list[Chunk], ModelError]:
    pieces: list[Chunk] = []
    try:
        async for piece in model.stream(request):
            pieces.append(piece)
    except ModelError as error:
        return pieces, error
    raise AssertionError(f"nothing failed: {pieces}")


def encode_sse(said: Iterable[Json], done: bool = False) -> tuple[bytes, ...]:
    lines = [_event(each) for each in said]
    return (*lines, b"data: [DONE]\n\n") if done else tuple(lines)


def _event(event: Json) -> bytes:
    named = f"event: {event['type']}\n" if "type" in event else ""
    return f"{named}data: {json.dumps(event)}\n\n".encode()


def chunk(delta: Json, ended: str | None = None, **beside: Any) -> Json:
    choice = {"index": 0, "delta": delta, "finish_reason": ended}
    head = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "a-model"}
    return {**head, "choices": [choice], **beside}


def error_response(status: int, body: Json, **headers: str) -> StubResponse:
    return StubResponse((json.dumps(body).encode(),), status, headers, "application/json")


def make_request(text: str = "Hello", **beside: Any) -> CompletionRequest:
    return CompletionRequest(({"role": "user", "content": text},), **beside)


def run_async(work: Callable[[], Coroutine[Any, Any, None]]) -> None:
    async def bounded() -> None:
        async with asyncio.timeout(60):
            await work()

    asyncio.run(bounded())

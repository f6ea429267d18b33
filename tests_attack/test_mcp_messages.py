"""A client or a server writes names that only a reader who ignores case understands. Neither side gets to see them."""

import asyncio
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from attempts import Attempt

from hookline import load
from hookline.hosts.mcp.json_rpc import Message, parse_messages
from hookline.hosts.mcp.proxy import Proxy, ProxySession, SessionIdentity
from hookline.hosts.mcp.upstream import MessageHandler, UpstreamClosedError
from hookline.record.recorder import recorder_of
from hookline.runners.line_dispatcher import LineHandler

HOOKS = """
hooks:
  - {id: g, on: tool.before, when: {tool: mcp.s.danger}, then: {deny: no}}
  - {id: p, on: tool.before, when: {input: {path: secret}}, then: {deny: no}}
  - {id: r, on: tool.after, when: {result: SECRET}, then: {set: {tool.result: gone}}}
"""


def _spellings(name: str) -> list[str]:
    found = {name.upper(), name.title(), name.capitalize(), name.swapcase(), f"{name} ", f" {name}"}
    found |= {name[:at] + name[at].upper() + name[at + 1 :] for at in range(len(name))}
    found |= {f"{name}\0", f"{name}\0x", f"{name[0]}\u200b{name[1:]}", f"\ufeff{name}"}
    found |= {name.replace("s", "\u017f"), name.replace("k", "\u212a"), "".join(chr(ord(c) + 0xFEE0) for c in name)}
    return sorted(found - {name})


def _lenient(value: Any) -> Any:
    """The message as a reader sees it who ignores case, and for whom the last of two names wins."""
    if isinstance(value, list):
        return [_lenient(each) for each in value]
    if not isinstance(value, dict):
        return value
    fold = {"\u017f": "s", "\u212a": "k"}
    plain = {
        name: "".join(fold.get(c, chr(ord(c) - 0xFEE0) if 0xFF00 < ord(c) < 0xFF5F else c) for c in name)
        for name in value
    }
    plain = {name: text.partition("\0")[0].translate({0x200B: None, 0xFEFF: None}) for name, text in plain.items()}
    return {plain[name].strip().lower(): _lenient(held) for name, held in value.items()}


class _Peers:
    """A client that sends lines, and a server that answers each call with what it is told."""

    fallback_name = "s"

    def __init__(self, lines: list[bytes], answer: bytes = b"") -> None:
        self.lines, self.answer = lines, answer
        self.sent: list[dict[str, Any]] = []
        self.received: list[dict[str, Any]] = []
        self.answers: asyncio.Queue[Message | None] = asyncio.Queue()
        self.answered = asyncio.Event()

    async def __aiter__(self) -> AsyncIterator[bytes]:
        for line in self.lines:
            yield line
            if self.answer:
                await asyncio.wait_for(self.answered.wait(), 5)

    async def finish(self) -> None:
        self.answers.put_nowait(None)

    async def run(self, hooks: Path) -> None:
        book = load(hooks)
        session = ProxySession(
            lambda: book, SessionIdentity("x", "u", hooks.parent), recorder_of(hooks.parent / "state")
        )
        await Proxy(_Client(self), _Server(self), session, "s").run()


class _Client:
    def __init__(self, peers: _Peers) -> None:
        self._peers = peers

    async def dispatch(self, handle: LineHandler) -> None:
        async for line in self._peers:
            await handle(line)

    async def send(self, line: bytes) -> None:
        self._peers.received.append(json.loads(line))
        self._peers.answered.set()


class _Server:
    fallback_name = "s"

    def __init__(self, peers: _Peers) -> None:
        self._peers = peers

    async def dispatch(self, handle: MessageHandler) -> None:
        while (message := await self._peers.answers.get()) is not None:
            await handle(message)
        raise UpstreamClosedError("ended")

    async def finish(self) -> None:
        await self._peers.finish()

    async def send(self, message: Message) -> None:
        self._peers.sent.append(json.loads(message.to_bytes()))
        if self._peers.answer:
            for each in parse_messages(self._peers.answer):
                self._peers.answers.put_nowait(each)


def _reaches_danger(sent: list[dict[str, Any]]) -> bool:
    for message in map(_lenient, sent):
        params = message.get("params") if isinstance(message.get("params"), dict) else {}
        arguments = params.get("arguments") if isinstance(params.get("arguments"), dict) else {}
        method = message.get("method")
        text = "".join(map(str, method)) if isinstance(method, list) else str(method)
        called = "".join(_lenient({text: 1})) == "tools/call"
        tool = "".join(_lenient({str(params.get("name")): 1}))
        if called and (tool == "danger" or "secret" in str(arguments.get("path"))):
            return True
    return False


def _calls() -> list[bytes]:
    danger = {"name": "danger", "arguments": {}}
    found: list[Any] = []
    for name in _spellings("method"):
        found.append({"id": 1, "method": "ping", name: "tools/call", "params": danger})
    found += [{"id": 1, "method": name, "params": danger} for name in _spellings("tools/call")]
    found.append({"id": 1, "method": ["tools/call"], "params": danger})
    for name in _spellings("params"):
        found.append({"id": 1, "method": "tools/call", "params": {"name": "safe"}, name: danger})
        found.append({"id": 1, "method": "tools/call", name: danger})
    for name in _spellings("name"):
        found.append({"id": 1, "method": "tools/call", "params": {"name": "safe", name: "danger"}})
    for name in _spellings("arguments"):
        params = {"name": "safe", "arguments": {"path": "a"}, name: {"path": "secret"}}
        found.append({"id": 1, "method": "tools/call", "params": params})
    for name in _spellings("path"):
        params = {"name": "safe", "arguments": {"path": "a", name: "secret"}}
        found.append({"id": 1, "method": "tools/call", "params": params})
    lines = [json.dumps({"jsonrpc": "2.0", **each}, ensure_ascii=False).encode() for each in found]
    lines += [json.dumps([{"jsonrpc": "2.0", **each}]).encode() for each in found]
    twice = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"%s","name":"%s"}}'
    return [*lines, (twice % ("safe", "danger")).encode()]


def test_calls_that_another_reader_would_understand_differently(tmp_path: Path, attempt: Attempt) -> None:
    hooks = tmp_path / "hookline.yaml"
    hooks.write_text(HOOKS)
    for line in _calls():
        peers = _Peers([line])
        asyncio.run(peers.run(hooks))
        attempt("MCP calls in other spellings", _reaches_danger(peers.sent), line.decode())


def test_a_tool_that_the_server_lists_is_not_called_by_another_spelling(tmp_path: Path, attempt: Attempt) -> None:
    hooks = tmp_path / "hookline.yaml"
    hooks.write_text(HOOKS)
    listing = b'{"jsonrpc":"2.0","id":0,"method":"tools/list"}'
    listed = b'{"jsonrpc":"2.0","id":0,"result":{"tools":[{"name":"safe"},{"name":"danger"}]}}'
    for name in ("danger", *_spellings("danger")):
        call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": name, "arguments": {}}}
        peers = _Peers([listing, json.dumps(call).encode()], listed)
        asyncio.run(peers.run(hooks))
        attempt("MCP tools in other spellings", _reaches_danger(peers.sent), name)


def test_a_key_that_is_there_twice_reaches_the_server_once(tmp_path: Path, attempt: Attempt) -> None:
    hooks = tmp_path / "hookline.yaml"
    hooks.write_text(HOOKS)
    line = b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"danger","name":"safe"}}'
    peers = _Peers([line])
    asyncio.run(peers.run(hooks))
    attempt("MCP keys twice", [each["params"]["name"] for each in peers.sent] != ["safe"], str(peers.sent))


_PLAIN, _HIDDEN = {"type": "text", "text": "fine"}, {"content": [{"type": "text", "text": "SECRET"}]}
_UNUSUAL_ANSWERS: list[dict[str, Any]] = [
    {"result": "SECRET"},
    {"result": ["SECRET"]},
    {"result": {"toolResult": "SECRET"}},
    {"result": {"content": [_PLAIN], "extra": "SECRET"}},
    {"result": {"content": [_PLAIN], "task": {"status": "SECRET"}}},
    {"result": {"content": [_PLAIN], "isError": "SECRET"}},
    {"result": {"content": [_PLAIN], "resultType": "SECRET"}},
    {"result": {"content": "SECRET"}},
    {"result": {"content": {"text": "SECRET"}}},
    {"result": {"content": ["SECRET"]}},
    {"result": {"content": [["SECRET"]]}},
    {"result": {"content": [{"type": "text", "text": ["SECRET"]}]}},
    {"result": {"content": [{**_PLAIN, "Text": "SECRET"}]}},
    {"result": {"content": [{**_PLAIN, "annotations": {"title": "SECRET"}}]}},
    {"result": {"content": [{**_PLAIN, "annotations": {"audience": ["SECRET"]}}]}},
    {"result": {"content": [{**_PLAIN, "annotations": {"lastModified": "SECRET"}}]}},
    {"result": {"content": [{"type": "resource", "resource": {"uri": "a", "text": "SECRET"}}]}},
    {"result": {"content": [_PLAIN], "structuredContent": {"x": "SECRET"}}},
    {"result": {"content": [_PLAIN]}, "extra": "SECRET"},
    {"error": "SECRET"},
    {"error": ["SECRET"]},
    {"error": {"code": 1, "message": "x", "data": "SECRET"}},
    {"error": {"code": 1, "message": "x", "more": {"deep": "SECRET"}}},
    {"error": {"code": "SECRET", "message": "x"}},
    {"error": {"code": 1, "message": {"text": "SECRET"}}},
    {"error": None, "result": _HIDDEN},
    {"method": "x", "result": _HIDDEN},
    {"method": None, "result": _HIDDEN},
    {"method": "notifications/message", "params": {}, "result": _HIDDEN},
]
"""Nothing that MCP describes, but a client may show it."""


def test_results_that_another_reader_would_understand_differently(tmp_path: Path, attempt: Attempt) -> None:
    hooks = tmp_path / "hookline.yaml"
    hooks.write_text(HOOKS)
    call = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "safe"}}).encode()
    secret, plain = [{"type": "text", "text": "SECRET"}], [{"type": "text", "text": "fine"}]
    answers = [{"id": 1, "result": {"content": plain}, name: {"content": secret}} for name in _spellings("result")]
    answers += [{"id": 1, name: {"content": secret}} for name in _spellings("result")]
    answers += [{"id": 1, "result": {"content": plain, name: secret}} for name in _spellings("content")]
    answers += [{"id": 1, "error": {"code": 1, "message": "x", name: "SECRET"}} for name in _spellings("message")]
    answers += [{"id": 1, "result": {"content": plain}, name: {"message": "SECRET"}} for name in _spellings("error")]
    answers += [{"id": 1, **answer} for answer in _UNUSUAL_ANSWERS]
    for answer in answers:
        peers = _Peers([call], json.dumps({"jsonrpc": "2.0", **answer}).encode())
        asyncio.run(peers.run(hooks))
        attempt("MCP results in other spellings", "SECRET" in json.dumps(peers.received), json.dumps(answer))
        attempt("MCP calls without an answer", not peers.received, json.dumps(answer))

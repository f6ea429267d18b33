"""A hub, from start to end."""

from __future__ import annotations

import asyncio
import gc
import logging
import signal
import socket
import ssl
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

import uvicorn

from hookline.errors import HooklineError
from hookline.hooks.session_facts import login_name
from hookline.hosts.hub.hub_file import AskAt, JoinedHub
from hookline.hosts.hub.running_hubs import announce_hub, local_hubs
from hookline.hub.access.roles import Role
from hookline.hub.config.hub_config import HubConfig
from hookline.hub.context.running_hub import Hub
from hookline.hub.hub_app import create_app
from hookline.hub.store.open_store import store_id
from hookline.lazy_dataclasses import replace

_STOP_SECONDS: Final = 3
_SWITCH_SECONDS: Final = 0.001  # after which a thread that parses records lets others run; Python's default is 0.005
_COLLECT_AFTER: Final = 10_000  # new objects; a batch of records has more than Python's default of 700, and no cycles
_log = logging.getLogger("hookline.hub")


async def run_hub(config: HubConfig, on_ready: Callable[[Hub, str], Awaitable[None]]) -> None:
    """Serves until it is interrupted. `on_ready` gets the link that signs the owner in. Raises HooklineError."""
    config.check()
    _check_tls_files(config)
    sys.setswitchinterval(_SWITCH_SECONDS)
    gc.set_threshold(_COLLECT_AFTER)
    listener = listen(config.host, config.port)
    config = replace(config, port=listener.getsockname()[1])
    try:
        async with Hub.open(config) as hub:
            server = _Server(_uvicorn_config(hub), hub.approvals.end_waits)
            serving = asyncio.ensure_future(server.serve(sockets=[listener]))
            up = asyncio.ensure_future(server.is_up.wait())
            await asyncio.wait([serving, up], return_when="FIRST_COMPLETED")
            up.cancel()
            try:
                with announce_hub(config.state, hub.id, await _describe_hub(hub)):
                    if not serving.done():
                        await on_ready(hub, await _owner_link(hub))
                    await asyncio.shield(serving)
            finally:
                server.should_exit = True
                await serving
    finally:
        listener.close()


def _check_tls_files(config: HubConfig) -> None:
    if config.tls is None:
        return
    cert, key = config.tls.cert, config.tls.key
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(cert, key)
    except OSError as error:
        missing = next((path for path in (cert, key) if not path.is_file()), None)
        reason = f"there is no file {missing}" if missing is not None else f"{cert} and {key} cannot be used: {error}"
        raise config.wrong_value("tls", f"tls: {reason}") from error


async def _owner_link(hub: Hub) -> str:
    owner = await hub.access.first_owner(login_name() or "owner")
    code = await hub.access.create_code(owner)
    return f"{hub.config.url}/#enter={code}"


async def _describe_hub(hub: Hub) -> JoinedHub:
    """For hosts of this user on this machine. The key of an earlier start stays: hosts may wait for an answer to a question
    that they asked with it.
    """
    config, key = hub.config, ""
    for each in local_hubs(config.state):
        if (await hub.access.identify(each.key)).role is Role.REPORTER:
            key = each.key
    if not key:
        key, _ = await hub.access.add_key(_local_key_name(hub), Role.REPORTER, replace=True)
    ask, store = AskAt(config.approvals_ask), store_id(config)
    return JoinedHub(config.local_url, key, config.name, ask, started=hub.started, store=store)


def _local_key_name(hub: Hub) -> str:
    """Another hub on the database, which may have the same name in its settings, has a key of its own."""
    return f"{hub.machine}: hosts of {login_name() or 'this user'} ({hub.config.state})"


def listen(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # With the protocol named, asyncio turns Nagle's algorithm off: it would hold small answers back for 40 ms.
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(512)
    except (OSError, OverflowError) as error:
        listener.close()
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise HooklineError(f"the hub cannot listen on {host}:{port}: {reason}") from error
    listener.setblocking(False)
    return listener


def _uvicorn_config(hub: Hub) -> uvicorn.Config:
    """asyncio's own loop: uvloop makes programs slow to start. h11 and sans-I/O websockets: no C parser reads from outside."""
    config = hub.config
    tls = {} if config.tls is None else {"ssl_certfile": str(config.tls.cert), "ssl_keyfile": str(config.tls.key)}
    return uvicorn.Config(
        create_app(hub),
        loop="asyncio",
        http="h11",
        ws="websockets-sansio",
        ws_per_message_deflate=False,
        ws_max_size=1 << 20,
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=bool(config.public_url),
        timeout_graceful_shutdown=_STOP_SECONDS,
        **tls,  # type: ignore[arg-type]
    )


class _Server(uvicorn.Server):
    """Ends without raising the signal again: the command decides the exit code."""

    def __init__(self, config: uvicorn.Config, on_stop: Callable[[], None]) -> None:
        super().__init__(config)
        self._on_stop = on_stop
        self.is_up = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.is_up.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._on_stop()
        await super().shutdown(sockets)

    async def serve(self, sockets: list[socket.socket] | None = None) -> None:
        loop = asyncio.get_running_loop()
        with suppress(NotImplementedError, RuntimeError, ValueError):  # not the main thread
            for each in (signal.SIGINT, signal.SIGTERM):
                loop.add_signal_handler(each, self.handle_exit, each, None)
        await self._serve(sockets)

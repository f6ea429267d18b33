"""Sends this user's record to a hub on another machine: everything, in order, also what was written while it was away.

One process at a time does it, whichever holds the lock. How far each writer's records were taken is kept in a file, so
nothing is lost or sent twice after a restart; and the hub counts a line that it has already as taken.
"""

from __future__ import annotations

import asyncio
import fcntl
import gzip
import importlib
import json
import logging
import math
import os
import re
import time
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from hookline.errors import HooklineError
from hookline.hosts.hub.hub_file import JoinedHub, read_joined_hub
from hookline.hosts.hub.taken_rules import take_rules
from hookline.project.private_file import write_private_file
from hookline.record.hash_chain import Head
from hookline.record.record_feed import RecordFeed
from hookline.record.segment import RecordDirectory, record_directory, running_writers

LOCK_NAME: Final = "push.lock"
HEADS_NAME: Final = "pushed.json"
MAX_LINES: Final = 500
_LOOK_SECONDS: Final = 0.2
_RULES_SECONDS: Final = 5.0
_HOSTS_SECONDS: Final = 2.0  # between two checks of which processes run
_REPORT_SECONDS: Final = 20.0  # between two reports of the same running processes
_MAX_NAMED: Final = 2_000  # processes in one report
_MAX_BACKOFF: Final = 30.0  # seconds
_TIMEOUT: Final = 30.0
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")

log = logging.getLogger("hookline")


class PushError(HooklineError):
    """The hub did not take it; it is tried again later."""


class RecordPusher:
    def __init__(self, state: Path, hub: JoinedHub) -> None:
        self._hub = hub
        self._heads_file = state / HEADS_NAME
        self._directory: RecordDirectory = record_directory(state)
        self._feed = RecordFeed(self._directory, self._read_heads())
        self._running: frozenset[str] = frozenset()  # as the hub was told
        self._checked_at = self._reported_at = -math.inf

    async def push(self, client: Any) -> int:
        """Sends at most MAX_LINES records and returns how many. Raises PushError; then they are sent again."""
        before = dict(self._feed.heads)
        fed = await asyncio.to_thread(self._feed.take, MAX_LINES)
        if not fed:
            return 0
        try:
            missing = await self._post(client, [each.line for each in fed])
            if missing:
                await self._post(client, [line for digest in missing if (line := self._text_line(digest))])
        except PushError:
            self._feed = RecordFeed(self._directory, before)
            raise
        self._write_heads()
        return len(fed)

    async def report_running(self, client: Any) -> None:
        """Tells the hub which of the processes whose records it has are running. Raises PushError."""
        now = time.monotonic()
        if now - self._checked_at < _HOSTS_SECONDS:
            return
        self._checked_at = now
        found = await asyncio.to_thread(running_writers, self._directory)
        running = frozenset(sorted(found & self._feed.heads.keys())[:_MAX_NAMED])
        if running == self._running and (not running or now - self._reported_at < _REPORT_SECONDS):
            return
        report = {"running": sorted(running), "ended": sorted(self._running - running)}
        await self._post(client, [json.dumps(report, separators=(",", ":")).encode()])
        self._running, self._reported_at = running, now

    async def _post(self, client: Any, lines: list[bytes]) -> list[str]:
        """Returns the hashes of hooks whose texts the hub does not have."""
        http = importlib.import_module("httpx2")
        body = gzip.compress(b"\n".join(lines) + b"\n", 1)
        headers = {"Content-Type": "application/x-ndjson", "Content-Encoding": "gzip"}
        try:
            response = await client.post("/report", content=body, headers=headers, timeout=_TIMEOUT)
        except http.HTTPError as error:
            raise PushError(f"the hub cannot be reached: {type(error).__name__}") from None
        if response.status_code != 200:
            raise PushError(f"the hub answered with status {response.status_code}")
        missing = response.json().get("missing")
        return [each for each in missing if isinstance(each, str)] if isinstance(missing, list) else []

    def _text_line(self, digest: str) -> bytes:
        """Empty if it is not kept. The hub names the hash, so it must not be a path."""
        if not _DIGEST.fullmatch(digest):
            return b""
        try:
            text = (self._directory.hooks / f"{digest}.json").read_text(encoding="utf-8")
        except (OSError, ValueError):
            return b""
        return json.dumps({"hooks": digest, "text": text}, separators=(",", ":")).encode()

    def _read_heads(self) -> dict[str, Head]:
        """Of another hub, nothing counts: it gets everything that is kept."""
        try:
            stored = json.loads(self._heads_file.read_bytes())
            if stored["url"] != self._hub.url:
                return {}
            return {writer: Head(int(number), str(hash)) for writer, (number, hash) in stored["heads"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def _write_heads(self) -> None:
        heads = {writer: [head.number, head.hash] for writer, head in self._feed.heads.items()}
        try:
            write_private_file(self._heads_file, json.dumps({"url": self._hub.url, "heads": heads}).encode())
        except OSError as error:  # they are sent again after a restart, which the hub knows
            log.warning("cannot remember what the hub has taken: %s", error.strerror)


async def push_records(state: Path, once: bool = False) -> int:
    """Sends records while this user has joined a hub elsewhere, until it is cancelled. `once`: what is there now.

    Returns how many were sent. Raises PushError with `once`.
    """
    sent = 0
    pause = _LOOK_SECONDS
    while True:
        hub = read_joined_hub(state)
        if hub is not None:
            try:
                sent += await _push_all(state, hub, until_empty=once)
                pause = _LOOK_SECONDS
            except PushError as error:
                if once:
                    raise
                log.warning("%s", error)
                pause = min(pause * 2, _MAX_BACKOFF)
        if once:
            return sent
        await asyncio.sleep(pause)


async def _push_all(state: Path, hub: JoinedHub, until_empty: bool) -> int:
    """While it has the lock and the hub stays the same."""
    descriptor = _take_lock(state)
    if descriptor is None:
        return 0
    http = importlib.import_module("httpx2")
    sent = 0
    try:
        pusher = await asyncio.to_thread(RecordPusher, state, hub)
        headers = {"Authorization": f"Bearer {hub.key}"}
        async with http.AsyncClient(
            base_url=hub.api, headers=headers, follow_redirects=False, trust_env=False
        ) as client:
            rules_at = 0.0
            while read_joined_hub(state) == hub:
                if hub.takes_rules and time.monotonic() >= rules_at:
                    rules_at = time.monotonic() + _RULES_SECONDS
                    await _take_rules(state, hub)
                count = await pusher.push(client)
                sent += count
                if not until_empty:
                    await pusher.report_running(client)
                if count == 0:
                    if until_empty:
                        break
                    await asyncio.sleep(_LOOK_SECONDS)
        return sent
    finally:
        os.close(descriptor)


async def _take_rules(state: Path, hub: JoinedHub) -> None:
    """Those that were taken before stay if the hub is away."""
    try:
        await take_rules(state, hub)
    except HooklineError as error:
        log.warning("%s", error)


def _take_lock(state: Path) -> int | None:
    """None if another process sends them."""
    try:
        state.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(state / LOCK_NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError:
        return None
    with suppress(OSError):
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return descriptor
    os.close(descriptor)
    return None

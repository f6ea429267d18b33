"""Tells all hubs on one database what happens at one of them, through Redis.

An event for a room gets its number in Redis, in the same step that publishes it: every hub sees the events of a room in the
order of their numbers, so a client may go on at another hub. Without Redis each hub reaches its own clients.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
import uuid
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from hookline.errors import HooklineError, extra_required
from hookline.hub.store.outage_log import OutageLog

if TYPE_CHECKING:
    from redis.asyncio import Redis
    from redis.asyncio.client import PubSub

Message = dict[str, Any]
_PUBLISH: Final = """
if ARGV[3] ~= '' and not redis.call('SET', KEYS[1] .. ':once:' .. ARGV[3], '1', 'NX', 'EX', 86400) then return 0 end
local last = math.max(tonumber(redis.call('GET', KEYS[1]) or '0'), tonumber(ARGV[1])) + 1
redis.call('SET', KEYS[1], string.format('%.0f', last), 'EX', 604800)
redis.call('PUBLISH', KEYS[2], string.format('%.0f', last) .. ' ' .. ARGV[2])
return last
"""
_ANSWER_TIMEOUT: Final = timedelta(seconds=1)
_PING_TIMEOUT: Final = timedelta(seconds=3)
_RETRY_PAUSE: Final = timedelta(seconds=0.5)
_MAX_SEEN: Final = 1000

_log = logging.getLogger("hookline.hub")


class FanOut:
    """`receive` gets what any hub sent, `on_gap` is called when something may have been missed."""

    def __init__(self, url: str, hub: str, receive: Callable[[Message], Awaitable[None]]) -> None:
        self._hub = hub
        self._receive = receive
        self._channel = ""
        self._redis = _connect(url, _ANSWER_TIMEOUT, tries=2)  # a connection may be from before Redis was away
        self._listening = _connect(url, None, tries=1)
        self._seen: dict[str, None] = {}  # ids of events that clients of this hub have
        self.on_gap: Callable[[], Awaitable[None]] | None = None
        self.is_connected = False
        self.outage = OutageLog("Redis cannot be reached, so other hubs are not told", "Redis is back")
        self.start = 0.0  # when the numbers of new rooms begin, the same for all hubs; 0: not known yet

    def use_channel(self, name: str) -> None:
        """One Redis may serve several databases."""
        self._channel = f"hookline:{name}"

    async def publish_event(self, room: str, after: int, event: Message, once: str = "") -> bool:
        """True if all hubs get it, this one included; False if Redis cannot be reached.

        `once` names an event that every hub finds by itself: the first one that publishes it counts.
        """
        if not self.is_connected:
            return False
        id = uuid.uuid4().hex
        text = json.dumps({"kind": "event", "from": self._hub, "id": id, "room": room, "event": event})
        try:
            keys = (f"{self._channel}:seq:{room}", self._channel)
            await self._redis.eval(_PUBLISH, 2, *keys, str(after), text, once)
        except Exception as error:
            _log.warning("Redis: an event is not sent to other hubs: %s", type(error).__name__)
            self._remember(id)
            return False
        return True

    async def send(self, kind: str, data: Message) -> None:
        """To the other hubs. What cannot be sent is found by them in the database."""
        if not self.is_connected:
            return
        text = json.dumps({"kind": kind, "from": self._hub, "data": data})
        try:
            await self._redis.publish(self._channel, f"0 {text}")
        except Exception as error:
            _log.debug("Redis: %s is not sent to other hubs: %s", kind, type(error).__name__)

    async def run(self) -> None:
        """Until it is cancelled: receives, and connects again whenever Redis was away."""
        was_away = False
        while True:
            try:
                async with self._listening.pubsub() as listener:
                    await listener.subscribe(self._channel)
                    await self._agree_on_start()
                    self.is_connected = True
                    self.outage.report_success()
                    if was_away:
                        await self._tell_gap()
                    await self._listen(listener)
            except asyncio.CancelledError:
                raise
            except Exception as error:
                self.outage.report(HooklineError(type(error).__name__))  # its own words may have the password
                was_away = True
            finally:
                self.is_connected = False
            await asyncio.sleep(_RETRY_PAUSE.total_seconds())

    async def close(self) -> None:
        for each in (self._redis, self._listening):
            await each.aclose()

    async def _listen(self, listener: PubSub) -> None:
        is_answered = True
        while True:
            message = await listener.get_message(timeout=_PING_TIMEOUT.total_seconds())
            if message is None:
                if not is_answered:
                    raise TimeoutError("Redis does not answer")
                is_answered = False
                await listener.ping()
                continue
            is_answered = True
            if message.get("type") == "message":
                await self._take(message["data"])

    async def _take(self, data: bytes) -> None:
        try:
            number, _, text = data.decode().partition(" ")
            message = json.loads(text)
            if message["kind"] == "event":
                message["seq"] = int(number)
        except (ValueError, KeyError, TypeError):
            _log.warning("Redis: a message of another program on the channel is ignored")
            return
        if message["kind"] != "event":
            if message.get("from") == self._hub:
                return
        elif message["id"] in self._seen:  # delivered here without Redis, or sent twice
            return
        else:
            self._remember(message["id"])
        try:
            await self._receive(message)
        except Exception:
            _log.warning("a message of another hub could not be used", exc_info=True)

    async def _agree_on_start(self) -> None:
        key = f"{self._channel}:start"
        await self._redis.set(key, str(time.time()), nx=True)
        self.start = float(await self._redis.get(key) or 0)

    async def _tell_gap(self) -> None:
        if self.on_gap is not None:
            await self.on_gap()

    def _remember(self, id: str) -> None:
        self._seen[id] = None
        while len(self._seen) > _MAX_SEEN:
            del self._seen[next(iter(self._seen))]


def _connect(url: str, timeout: timedelta | None, tries: int) -> Redis:
    """Connects when it is first used. Raises HooklineError; the URL may have a password, so it is not shown."""
    with extra_required("Several hubs on one database need redis", "redis"):
        from redis.asyncio import Redis
        from redis.asyncio.retry import Retry
        from redis.backoff import NoBackoff
    try:
        client: Redis = Redis.from_url(
            url,
            socket_timeout=None if timeout is None else timeout.total_seconds(),
            socket_connect_timeout=_ANSWER_TIMEOUT.total_seconds(),
            retry=Retry(NoBackoff(), tries - 1),
        )
    except ValueError as error:
        raise HooklineError("the Redis URL is invalid; write redis://host:6379 or rediss://host:6379") from error
    return client

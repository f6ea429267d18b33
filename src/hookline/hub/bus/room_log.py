"""What was published to each room lately, so that a client that was away gets what it missed."""

from __future__ import annotations

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from typing import Any, Final

Envelope = dict[str, Any]
RING: Final = 1000  # events of one room
_MAX_ROOMS: Final = 500


class _Room:
    def __init__(self, first: int) -> None:
        self.latest = first
        self.events: deque[Envelope] = deque(maxlen=RING)


class RoomLog:
    """`seq` counts up in each room. It begins with the time, so it also counts up when the hub is started again."""

    def __init__(self, clock: Callable[[], float] = time.time, rooms: int = _MAX_ROOMS) -> None:
        self._clock = clock
        self._most = rooms
        self._rooms: OrderedDict[str, _Room] = OrderedDict()

    def add(self, room: str, event: Envelope, seq: int = 0) -> Envelope:
        """The event as it is sent to the room. `seq` is its number if all hubs have agreed on one."""
        known = self._room(room)
        known.latest = max(known.latest + 1, seq)
        numbered = {**event, "room": room, "seq": known.latest}
        known.events.append(numbered)
        return numbered

    def latest(self, room: str) -> int:
        return self._room(room).latest

    def since(self, room: str, seq: int) -> list[Envelope] | None:
        """What came after `seq`; None if that is not known any more: the client asks the API instead."""
        known = self._room(room)
        if seq >= known.latest:
            return [] if seq == known.latest else None
        oldest = known.events[0]["seq"] if known.events else known.latest + 1
        return [event for event in known.events if event["seq"] > seq] if seq >= oldest - 1 else None

    def forget(self) -> list[str]:
        """The rooms: what was published to them is not known any more."""
        for known in self._rooms.values():
            known.latest += 1
            known.events.clear()
        return list(self._rooms)

    def _room(self, room: str) -> _Room:
        known = self._rooms.get(room)
        if known is None:
            known = self._rooms[room] = _Room(int(self._clock() * 1000))
            while len(self._rooms) > self._most:
                self._rooms.popitem(last=False)
        self._rooms.move_to_end(room)
        return known

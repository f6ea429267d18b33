from __future__ import annotations

from hookline.hub.bus.room_log import RING, RoomLog


def test_each_room_counts_for_itself() -> None:
    log = RoomLog(lambda: 5.0)
    assert [log.add(room, {"type": "x"})["seq"] for room in ("a", "a", "b")] == [5001, 5002, 5001]
    assert log.latest("a") == 5002


def test_what_was_missed_is_known_for_a_while() -> None:
    log = RoomLog(lambda: 0.0)
    for number in range(RING + 5):
        log.add("a", {"n": number})
    latest = log.latest("a")
    assert [event["n"] for event in log.since("a", latest - 2) or ()] == [RING + 3, RING + 4]
    assert log.since("a", latest) == []
    assert len(log.since("a", latest - RING) or ()) == RING
    assert log.since("a", latest - RING - 1) is None


def test_a_number_of_an_earlier_hub_is_not_taken_for_one_of_this() -> None:
    earlier, later = RoomLog(lambda: 100.0), RoomLog(lambda: 200.0)
    seq = earlier.add("a", {})["seq"]
    later.add("a", {})
    assert later.since("a", seq) is None
    assert later.since("a", 10**15) is None


def test_rooms_that_nobody_uses_are_forgotten() -> None:
    log = RoomLog(rooms=3)
    for number in range(10):
        log.add(str(number), {})
    assert len(log._rooms) == 3

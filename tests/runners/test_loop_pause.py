"""A loop that waits for a moment, and never for something slow."""

from __future__ import annotations

from hookline.runners.loop_pause import LoopPause


def test_the_loop_waits_each_time_for_what_is_done_in_time() -> None:
    pause, waits = LoopPause(), []
    for _ in range(3):
        pause.wait(lambda seconds: waits.append(seconds) or True)
    assert len(waits) == 3
    assert all(0 < seconds <= 0.01 for seconds in waits)


def test_the_loop_does_not_wait_again_at_once_for_what_is_slow() -> None:
    pause, waits = LoopPause(), []
    for _ in range(3):
        pause.wait(lambda seconds: bool(waits.append(seconds)))
    assert len(waits) == 1

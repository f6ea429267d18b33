"""Somebody wants what is going on to end."""

from __future__ import annotations

import asyncio
from threading import Thread

from hookline.hooks.host import Abort


def test_the_first_reason_counts() -> None:
    abort = Abort()
    assert (abort.aborted, abort.reason) == (False, None)
    abort.abort("enough")
    abort.abort("really")
    assert (abort.aborted, abort.reason) == (True, "enough")


async def _waited(abort: Abort) -> str | None:
    await asyncio.wait_for(abort.wait(), 10)
    return abort.reason


def test_whoever_waits_is_woken_from_another_thread() -> None:
    async def waiting() -> str | None:
        abort = Abort()
        waiter = asyncio.create_task(_waited(abort))
        await asyncio.sleep(0)
        other = Thread(target=abort.abort, args=("from afar",))
        other.start()
        other.join()
        return await waiter

    assert asyncio.run(waiting()) == "from afar"


def test_who_comes_late_does_not_wait() -> None:
    abort = Abort()
    abort.abort("done")
    assert asyncio.run(_waited(abort)) == "done"


def test_who_gives_up_waiting_is_forgotten_also_with_its_loop() -> None:
    async def impatient(abort: Abort) -> None:
        waiter = asyncio.create_task(abort.wait())
        await asyncio.sleep(0)
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)

    abort = Abort()
    asyncio.run(impatient(abort))
    abort.abort("nobody is left")
    assert abort.reason == "nobody is left"

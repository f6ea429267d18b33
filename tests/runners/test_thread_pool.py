"""Threads that work may keep for itself."""

from __future__ import annotations

import threading
from queue import SimpleQueue

import pytest

from hookline.hooks.outcome import ActionError, FailureKind
from hookline.runners.thread_pool import MAX_STUCK, AbandonableThreads


def test_work_is_done_on_as_many_threads_as_are_needed_at_once() -> None:
    threads = AbandonableThreads("test", 2)
    names = {threads.submit(lambda: threading.current_thread().name).result(5) for _ in range(20)}
    assert names == {"test"}
    meeting = threading.Barrier(2)
    together = [threads.submit(lambda: meeting.wait(5)) for _ in range(2)]
    assert sorted(each.result(5) for each in together) == [0, 1]


def test_no_more_than_the_most_work_at_once() -> None:
    threads, let_go, begun = AbandonableThreads("test", 2), threading.Event(), threading.Semaphore(0)

    def work() -> None:
        begun.release()
        let_go.wait(5)

    all = [threads.submit(work) for _ in range(5)]
    assert begun.acquire(timeout=5)
    assert begun.acquire(timeout=5)
    assert not begun.acquire(timeout=0.05)
    let_go.set()
    for each in all:
        each.result(5)


def test_what_work_raises_is_its_result() -> None:
    with pytest.raises(ZeroDivisionError):
        AbandonableThreads("test", 1).submit(lambda: 1 // 0).result(5)


def test_work_that_was_given_up_makes_room_for_other_work() -> None:
    threads, let_go, begun = AbandonableThreads("test", 1), threading.Event(), threading.Event()
    stuck = threads.submit(lambda: (begun.set(), let_go.wait(5)))
    assert begun.wait(5)
    waiting = threads.submit(lambda: "done")
    threads.abandon(stuck)
    assert waiting.result(5) == "done"
    let_go.set()


def test_work_that_has_not_begun_can_be_given_up() -> None:
    threads, let_go, done = AbandonableThreads("test", 1), threading.Event(), []
    first = threads.submit(lambda: let_go.wait(5))
    second = threads.submit(lambda: done.append(2))
    threads.abandon(second)
    let_go.set()
    first.result(5)
    threads.submit(lambda: done.append(3)).result(5)
    assert done == [3]


def test_too_much_work_that_does_not_end_is_refused() -> None:
    threads, let_go = AbandonableThreads("test", 1), threading.Event()
    for _ in range(MAX_STUCK):
        begun = threading.Event()
        work = threads.submit(lambda begun=begun: (begun.set(), let_go.wait(5)))
        assert begun.wait(5)
        threads.abandon(work)
    with pytest.raises(ActionError) as caught:
        threads.submit(lambda: None)
    assert caught.value.failure.kind is FailureKind.CANNOT_START
    let_go.set()


def test_a_task_has_ended_for_its_thread_when_the_caller_hears_of_it() -> None:
    pool, seen = AbandonableThreads("test", 1), SimpleQueue[tuple[bool, bool]]()
    future = pool.submit(lambda: None, lambda: seen.put((pool.is_idle, future.done())))
    assert seen.get(timeout=5) == (True, True)


def test_a_thread_that_cannot_be_started_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pool = AbandonableThreads("test", 1)
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "start", refuse)
        with pytest.raises(RuntimeError):
            pool.submit(lambda: 1)
    assert pool.is_idle
    assert pool.submit(lambda: 2).result(5) == 2


def test_a_thread_prepares_for_its_next_task_while_it_is_idle() -> None:
    prepared, enough = [], threading.Event()

    def prepare() -> bool:
        prepared.append(threading.current_thread())
        if len(prepared) == 3:
            enough.set()
        return len(prepared) < 3

    threads = AbandonableThreads("test", 1, prepare)
    worker = threads.submit(threading.current_thread).result(5)
    assert enough.wait(5)
    assert threads.submit(threading.current_thread).result(5) is worker
    assert prepared[:3] == [worker] * 3


def test_a_thread_that_has_work_prepares_nothing() -> None:
    prepared: list[int] = []
    threads = AbandonableThreads("test", 1, lambda: bool(prepared.append(1)))
    tasks = [threads.submit(lambda: len(prepared)) for _ in range(50)]
    assert {each.result(5) for each in tasks} == {0}


def test_with_patience_short_tasks_share_one_thread() -> None:
    threads = AbandonableThreads("test", 4, patience=60)
    tasks = [threads.submit(threading.current_thread) for _ in range(50)]
    threads.add_thread_if_stuck()
    assert len({each.result(5) for each in tasks}) == 1


def test_with_patience_a_stuck_task_does_not_hold_up_others() -> None:
    threads, let_go, begun = AbandonableThreads("test", 2, patience=0), threading.Event(), threading.Event()
    stuck = threads.submit(lambda: (begun.set(), let_go.wait(5)))
    assert begun.wait(5)
    waiting = threads.submit(lambda: "done")
    assert not waiting.running()
    threads.add_thread_if_stuck()
    assert waiting.result(5) == "done"
    let_go.set()
    stuck.result(5)


def test_threads_that_were_added_end_once_one_is_enough() -> None:
    threads, meeting = AbandonableThreads("test patience", 3, patience=0), threading.Barrier(3)
    together = []
    for _ in range(3):
        together.append(threads.submit(lambda: (meeting.wait(5), threading.current_thread())[1]))
        while not (together[-1].running() or together[-1].done()):
            threads.add_thread_if_stuck()
    workers = {each.result(5) for each in together}
    assert len(workers) == 3
    for _ in range(20):
        threads.submit(lambda: None).result(5)
    left = [each for each in workers if not each.join(0.2) and each.is_alive()]
    assert len(left) == 1


def test_waiting_until_all_is_done() -> None:
    threads, let_go = AbandonableThreads("test", 1), threading.Event()
    assert threads.wait_until_done(0)
    work = threads.submit(lambda: let_go.wait(5))
    assert not threads.wait_until_done(0.01)
    let_go.set()
    assert threads.wait_until_done(5)
    work.result(5)

"""Programs that behave badly in every way, and what is left of them."""

from __future__ import annotations

import asyncio
import gc
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Coroutine
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from hookline.hooks.host import Command, CurrentHook, ProgramResult, current_hook
from hookline.hooks.outcome import ActionError, FailureKind
from hookline.runners.process import ProcessLimit, run_program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks at processes through /proc")

SOON = timedelta(seconds=0.6)
LONG = timedelta(seconds=30)


def ran(command: Command) -> ProgramResult:
    return asyncio.run(run_program(command, slots=ProcessLimit()))


def failed(command: Command) -> ActionError:
    with pytest.raises(ActionError) as caught:
        ran(command)
    return caught.value


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def gone(pid: int) -> bool:
    """A killed process needs a moment; it is looked for until it is gone."""
    until = time.monotonic() + 10
    while alive(pid) and time.monotonic() < until:
        time.sleep(0.01)
    return not alive(pid)


async def written(file: Path) -> None:
    for _ in range(1000):
        if file.exists() and file.read_text():
            return
        await asyncio.sleep(0.01)


def children() -> list[str]:
    return Path(f"/proc/self/task/{threading.main_thread().native_id}/children").read_text().split()


def belongings() -> set[str]:
    """Open files, threads and children; what somebody else lets go meanwhile is nobody's loss."""
    gc.collect()
    files = {f"file {fd}" for fd in os.listdir("/proc/self/fd") if os.path.lexists(f"/proc/self/fd/{fd}")}
    threads = {f"thread {thread.ident}" for thread in threading.enumerate()}
    return files | threads | {f"child {pid}" for pid in children()}


def leaving_nothing(work: Coroutine[Any, Any, Any]) -> Any:
    gc.freeze()  # what other tests left need not be looked through each time
    before = belongings()
    try:
        return asyncio.run(work)
    finally:
        after = belongings()
        assert not after - before


def test_output_and_exit_code_are_its_answer() -> None:
    finished = ran(Command("echo out; echo err >&2; exit 3"))
    assert (finished.exit_code, finished.stdout, finished.stderr, finished.dropped) == (3, "out\n", "err\n", 0)
    assert finished.seconds > 0


def test_an_argv_is_run_without_a_shell() -> None:
    assert ran(Command(argv=("printf", "%s", "$(echo a); 'b'"))).stdout == "$(echo a); 'b'"


def test_shell_text_is_run_by_bash() -> None:
    assert ran(Command("[[ ab == a* ]] && echo ${BASH_VERSION:+bash}")).stdout == "bash\n"


def test_what_the_shell_cannot_find_is_an_exit_code() -> None:
    assert ran(Command("/no/such/program")).exit_code == 127
    assert ran(Command("/etc")).exit_code == 126


@pytest.mark.parametrize(
    ("command", "text"),
    [
        (Command(argv=("/no/such/program",)), "/no/such/program"),
        (Command(argv=("no-such-program",)), "no-such-program"),
        (Command(argv=("/etc",)), "/etc"),
        (Command("true", cwd="/no/such/folder"), "/no/such/folder"),
        (Command("true", cwd="/etc/passwd"), "/etc/passwd"),
        (Command("echo a\0b"), "NUL"),
        (Command(argv=("echo", "a\0b")), "NUL"),
        (Command("true", cwd="/no/such\0/folder"), "in /no/such/folder"),
        (Command(argv=("/x/password=hunter2",)), "/x/password=***"),
        (Command(argv=("echo", *["x" * 100_000] * 100)), "too long"),
        (Command(argv=("echo", "x" * 200_000)), "give it on stdin"),
    ],
)
def test_what_cannot_start_says_why(command: Command, text: str) -> None:
    async def work() -> None:
        with pytest.raises(ActionError) as caught:
            await run_program(command, slots=ProcessLimit())
        assert caught.value.failure.kind is FailureKind.CANNOT_START
        assert text in caught.value.failure.text

    leaving_nothing(work())


def test_a_signal_is_a_failure_of_its_own() -> None:
    failure = failed(Command("kill -SEGV $$")).failure
    assert (failure.kind, failure.text) == (FailureKind.SIGNAL, "was killed by SIGSEGV")
    assert ran(Command("bash -c 'kill -TERM $$'; exit $?")).exit_code == 128 + signal.SIGTERM


def test_stdin_arrives_whole() -> None:
    data = bytes(range(256)) * 40_000
    assert ran(Command("wc -c; cat /dev/null", stdin=data)).stdout.strip() == str(len(data))
    assert ran(Command("cat /dev/stdin", stdin=b"a pipe")).stdout == "a pipe"
    assert ran(Command("cat")).stdout == ""


@pytest.mark.parametrize("text", ["exit 0", "exec 0<&-; sleep 0.05", "head -c 10 >/dev/null", "sleep 0.05"])
def test_stdin_that_nobody_reads_is_no_error(text: str) -> None:
    assert ran(Command(text, stdin=b"x" * 10_000_000)).exit_code == 0


def test_a_lot_of_both_input_and_output_does_not_lock_up() -> None:
    data = b"0123456789\n" * 500_000
    finished = ran(Command("tee /dev/stderr", stdin=data, timeout=LONG))
    assert (len(finished.stdout), len(finished.stderr)) == (1 << 20, 1 << 20)
    assert finished.dropped == 2 * (len(data) - (1 << 20))


def test_output_past_a_mebibyte_is_drained_and_counted() -> None:
    finished = ran(Command("head -c 20000000 /dev/zero | tr '\\0' x", timeout=LONG))
    assert finished.stdout == "x" * (1 << 20)
    assert finished.dropped == 20_000_000 - (1 << 20)


def test_endless_output_ends_at_the_deadline() -> None:
    assert failed(Command("yes", timeout=SOON)).failure.kind is FailureKind.TIMEOUT


def test_bytes_that_are_not_utf8_are_replaced() -> None:
    assert ran(Command("printf 'a\\377b\\0c'")).stdout == "a\ufffdb\0c"


def test_a_long_command_does_not_travel_as_an_argument() -> None:
    text = "printf %s '" + "ü☃" * 40_000 + "' | wc -c; cat"
    finished = ran(Command(text, stdin=b"still here", timeout=LONG))
    assert finished.stdout.split() == [str(5 * 40_000), "still", "here"]


@pytest.mark.timing
def test_what_is_left_in_the_background_is_killed(tmp_path: Path) -> None:
    finished = ran(Command("sleep 100 & echo $!; exit 4", timeout=LONG))
    assert finished.exit_code == 4
    assert finished.seconds < 10
    assert gone(int(finished.stdout))
    quiet = ran(Command("sleep 100 >/dev/null 2>&1 & echo $!", timeout=LONG))
    assert gone(int(quiet.stdout))


def test_output_that_comes_just_after_the_end_is_kept() -> None:
    assert ran(Command("(sleep 0.02; echo late) & echo early")).stdout == "early\nlate\n"


@pytest.mark.timing
def test_a_child_that_left_the_session_is_not_waited_for() -> None:
    finished = ran(Command("setsid sleep 20 & echo $!; sleep 0.05", timeout=LONG))
    assert finished.seconds < 10
    for pid in finished.stdout.split():
        if alive(int(pid)):
            os.kill(int(pid), signal.SIGKILL)


@pytest.mark.parametrize(
    "text",
    [
        "echo $$ > pid; trap '' TERM INT HUP; while :; do sleep 1; done",
        "sleep 100 & echo $! > pid; wait",
        "(sleep 100 & echo $! > pid; wait) | cat",
        "exec 1>&- 2>&-; echo $$ > pid; sleep 100",
        "echo $$ > pid; kill -STOP $$",
        "echo $$ > pid; exec cat /dev/zero",
    ],
)
def test_at_the_deadline_the_whole_group_is_killed(text: str, tmp_path: Path) -> None:
    async def work() -> None:
        with pytest.raises(ActionError) as caught:
            await run_program(Command(text, cwd=str(tmp_path), timeout=SOON), slots=ProcessLimit())
        assert caught.value.failure.kind is FailureKind.TIMEOUT
        assert "600 ms" in caught.value.failure.text

    leaving_nothing(work())
    assert gone(int((tmp_path / "pid").read_text()))


def test_cancelling_kills_the_group(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def work() -> None:
        task = asyncio.create_task(
            run_program(Command(f"sleep 100 & echo $! > {pid}; wait", timeout=LONG), slots=ProcessLimit())
        )
        await written(pid)
        task.cancel()
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    leaving_nothing(work())
    assert gone(int(pid.read_text()))


def test_a_loop_that_ends_takes_its_programs_along(tmp_path: Path) -> None:
    pid = tmp_path / "pid"

    async def work() -> None:
        task = asyncio.create_task(
            run_program(Command(f"echo $$ > {pid}; sleep 100", timeout=LONG), slots=ProcessLimit())
        )
        await written(pid)
        assert not task.done()

    leaving_nothing(work())
    assert gone(int(pid.read_text()))


def test_a_coroutine_that_is_thrown_away_takes_its_program_along(tmp_path: Path) -> None:
    pid = tmp_path / "pid"
    before = belongings()
    loop = asyncio.new_event_loop()
    work = run_program(Command(f"echo $$ > {pid}; sleep 100", timeout=LONG), slots=ProcessLimit())
    task = loop.create_task(work)
    loop.run_until_complete(written(pid))
    loop._ready.clear()  # type: ignore[attr-defined]
    work.close()
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    loop.close()
    del task
    assert gone(int(pid.read_text()))
    assert not belongings() - before


@pytest.mark.timing
def test_fifty_hung_programs_all_end_at_their_deadline() -> None:
    async def work() -> list[Any]:
        slots = ProcessLimit(50)
        command = Command("trap '' TERM; sleep 100 & wait; sleep 100", timeout=timedelta(seconds=0.5))
        return await asyncio.gather(*(run_program(command, slots=slots) for _ in range(50)), return_exceptions=True)

    began = time.monotonic()
    results = leaving_nothing(work())
    assert time.monotonic() - began < 20
    assert {result.failure.kind for result in results} == {FailureKind.TIMEOUT}


def test_two_hundred_runs_leave_nothing() -> None:
    slots = ProcessLimit()

    async def one(number: int) -> object:
        match number % 4:
            case 0:
                return await run_program(Command("echo a", stdin=b"x"), slots=slots)
            case 1:
                return await run_program(Command("sleep 9 & echo b", timeout=timedelta(seconds=0.05)), slots=slots)
            case 2:
                return await run_program(Command(argv=("/no/such",)), slots=slots)
        task = asyncio.create_task(run_program(Command("sleep 9"), slots=slots))
        await asyncio.sleep(0.005 * (number % 7))
        task.cancel()
        return await task

    async def work() -> None:
        for start in range(0, 200, 20):
            await asyncio.gather(*map(one, range(start, start + 20)), return_exceptions=True)

    leaving_nothing(work())


def test_waiting_for_a_slot_counts_against_the_deadline() -> None:
    async def work() -> None:
        slots = ProcessLimit(1)
        first = asyncio.create_task(run_program(Command("sleep 5", timeout=LONG), slots=slots))
        await asyncio.sleep(0.05)
        with pytest.raises(ActionError) as caught:
            await run_program(Command("true", timeout=timedelta(seconds=0.1)), slots=slots)
        assert caught.value.failure.kind is FailureKind.TIMEOUT
        assert "turn" in caught.value.failure.text
        first.cancel()
        await asyncio.gather(first, return_exceptions=True)
        assert (await run_program(Command("echo free"), slots=slots)).stdout == "free\n"

    leaving_nothing(work())


def test_never_more_programs_at_once_than_slots(tmp_path: Path) -> None:
    async def work() -> list[ProgramResult]:
        slots = ProcessLimit(2)
        text = "touch $$.on; ls | grep -c on; sleep 0.03; rm $$.on"
        return await asyncio.gather(*(run_program(Command(text, cwd=str(tmp_path)), slots=slots) for _ in range(8)))

    assert max(int(each.stdout) for each in asyncio.run(work())) <= 2


def test_slots_serve_several_loops_at_once() -> None:
    slots = ProcessLimit(1)
    results: list[str] = []

    def work() -> None:
        async def twice() -> None:
            for each in await asyncio.gather(*(run_program(Command("echo ok"), slots=slots) for _ in range(3))):
                results.append(each.stdout)

        asyncio.run(twice())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == ["ok\n"] * 12


def test_an_exit_code_that_somebody_else_took_is_not_a_success() -> None:
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        failure = failed(Command("exit 1")).failure
    finally:
        signal.signal(signal.SIGCHLD, before)
    assert failure.kind is FailureKind.SIGNAL
    assert "lost" in failure.text


def test_without_a_pidfd_the_end_is_noticed_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delattr(os, "pidfd_open")
    assert ran(Command("echo a; exit 2")).exit_code == 2
    assert (
        failed(Command("echo $$ > pid; sleep 100", cwd=str(tmp_path), timeout=SOON)).failure.kind is FailureKind.TIMEOUT
    )
    assert gone(int((tmp_path / "pid").read_text()))
    assert gone(int(ran(Command("sleep 100 & echo $!")).stdout))


def test_where_there_is_no_bash_sh_runs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    from hookline.runners import process

    monkeypatch.setattr(os, "access", lambda *_: False)
    monkeypatch.setattr("shutil.which", lambda _: None)
    process._find_shell.cache_clear()
    try:
        assert ran(Command("echo ${BASH_VERSION:-sh}")).stdout == "sh\n"
    finally:
        process._find_shell.cache_clear()


def test_a_program_is_told_who_asks_it() -> None:
    async def work(again: bool) -> str:
        current_hook.set(CurrentHook("my-hook", again))
        return (
            await run_program(Command("echo $HOOKLINE_HOOK ${HOOKLINE_ASKED_AGAIN-first}"), slots=ProcessLimit())
        ).stdout

    assert asyncio.run(work(False)) == "my-hook first\n"
    assert asyncio.run(work(True)) == "my-hook 1\n"
    assert ran(Command("echo ${HOOKLINE_HOOK-nobody}")).stdout == "nobody\n"


def test_the_log_shows_what_was_run_without_its_secrets(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG, logger="hookline"):
        ran(Command("echo token=abcdef123456; cat", stdin=b'{"password": "hunter2"}'))
    text = caplog.text
    assert "abcdef123456" not in text
    assert "hunter2" not in text
    assert "exit code 0" in text


def test_the_log_shows_what_hooks_print_and_not_what_the_agent_s_tools_print(caplog: pytest.LogCaptureFixture) -> None:
    async def work(who: CurrentHook | None) -> None:
        current_hook.set(who)
        await run_program(Command("printf ca''rd; printf pu''rse >&2"), slots=ProcessLimit())

    with caplog.at_level(logging.DEBUG, logger="hookline"):
        asyncio.run(work(None))  # hooks may still redact its result
        assert "card" not in caplog.text
        assert "purse" not in caplog.text
        asyncio.run(work(CurrentHook("my-hook", False)))
    assert "[my-hook] stdout card" in caplog.text
    assert "[my-hook] stderr purse" in caplog.text

"""A forked hook against a spawned one: whatever can be seen must be the same."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from fork_parity_scripts import SCRIPTS
from hookline.hooks.host import Command
from hookline.hooks.outcome import ActionError
from hookline.runners.process import ProcessLimit, run_program
from hookline.runners.warm import pool
from hookline.runners.warm.pool import InterpreterPool, interpreter_pool

pytestmark = [
    pytest.mark.skipif(not pool.IS_AVAILABLE, reason="forks only where it can be promised to be the same"),
    pytest.mark.slow,
]

LONG = timedelta(seconds=60)
PYTHON = sys.executable
HERE = ("PATH", "HOME", "LANG")
STDIN = '{"a": "\xe4"}\r\nsecond\nlast'.encode()


@pytest.fixture(scope="module")
def loop() -> Iterator[asyncio.Runner]:
    with asyncio.Runner() as runner:
        yield runner
        runner.run(ended())


async def ended() -> None:
    interpreter_pool().close()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "sibling.py").write_text(
        "class N:\n    def __del__(self, p=print): p('noisy gone')\n    def __repr__(self): return 'N'\n"
        "noisy = N()\ndef fails():\n    raise LookupError('sibling')\n"
    )
    (tmp_path / "broken.py").write_text("def f(:\n")
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden/json.py").write_text("")
    (tmp_path / "hidden/gettext.py").write_text("ngettext = _ = None\n")
    return tmp_path


def command(place: Path, text: str = f"{PYTHON} hook.py", **more: Any) -> Command:
    return Command(text, cwd=str(place), inherit_env=HERE, timeout=LONG, **more)


async def spawned(command: Command) -> tuple[Any, ...]:
    return await answer(command, None)


async def answer(command: Command, warm: InterpreterPool | None) -> tuple[Any, ...]:
    try:
        finished = await run_program(command, slots=ProcessLimit(), warm=warm)
    except ActionError as failed:
        return (failed.failure.kind, failed.failure.text)
    return (
        finished.exit_code,
        without_addresses(finished.stdout),
        without_addresses(finished.stderr),
        finished.dropped,
    )


def without_addresses(text: str) -> str:
    return re.sub(r"0x[0-9a-f]{6,}", "0x…", text)


async def warmed_up(command: Command) -> InterpreterPool:
    """Runs it until it is forked."""
    held = interpreter_pool()
    before = held.forked
    for _ in range(500):
        await answer(command, held)
        if held.forked > before:
            return held
        await asyncio.sleep(0.01)
    raise AssertionError("it is always spawned")


async def forked(command: Command) -> tuple[Any, ...]:
    held = interpreter_pool()
    before = held.forked
    told = await answer(command, held)
    assert held.forked == before + 1, "it was spawned"
    return told


SPAWNED_ALWAYS = {
    *("a syntax error", "a syntax warning", "an indentation error", "a NUL", "another encoding", "not utf-8"),
    *("a warning with a level", "the stack", "too deep", "a long file"),
}


@pytest.mark.parametrize(
    ("name", "stdin"),
    [(name, STDIN) for name in SCRIPTS]
    + [(name, b"") for name in SCRIPTS if name.startswith(("st", "a json", "open"))],
)
def test_a_forked_hook_does_what_a_spawned_one_does(name: str, stdin: bytes, loop: asyncio.Runner, place: Path) -> None:
    async def work() -> None:
        (place / "idle.py").write_text("pass")
        held = await warmed_up(command(place, f"{PYTHON} idle.py"))
        (place / "hook.py").write_bytes(SCRIPTS[name].encode("utf-8", "surrogateescape"))
        call = command(place, f"{PYTHON} hook.py one 'two three'", stdin=stdin, env={"MINE": "x"})
        told = [await spawned(call), left(place)]
        before = held.forked
        assert [await answer(call, held), left(place)] == told
        assert held.forked - before == (name not in SPAWNED_ALWAYS)

    loop.run(work())


def left(place: Path) -> str:
    file = place / "left.txt"
    text = file.read_text() if file.exists() else "nothing"
    file.unlink(missing_ok=True)
    return text


@pytest.mark.parametrize(
    "script",
    [
        "import json, sys\nprint(hasattr(json, 'mark'), 'decimal' in sys.modules)\njson.mark = 1\nimport decimal",
        "import os\nprint(os.environ.get('LEAK'), os.getcwd())\nos.environ['LEAK'] = '1'\nos.chdir('/')",
        "import sys\nprint(sys.path, sys.argv)\nsys.path.append('leak')\nsys.argv.append('leak')",
        "import builtins\nprint(hasattr(builtins, 'leak'), globals().get('leak'))\nbuiltins.leak = leak = 1",
        "import signal\nprint(signal.getsignal(signal.SIGTERM))\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)",
        "import sys\nprint(sys.getswitchinterval())\nsys.setswitchinterval(1)",
        "import sys\nprint(type(sys.stdin).__name__)\nsys.stdin.close()\nsys.stdin = None",
    ],
)
def test_no_call_leaves_anything_to_the_next(script: str, loop: asyncio.Runner, place: Path) -> None:
    (place / "hook.py").write_text(script)

    async def work() -> set[Any]:
        await warmed_up(command(place))
        return {await spawned(command(place)), await forked(command(place)), await forked(command(place))}

    assert len(loop.run(work())) == 1


def test_each_call_has_its_own_chance(loop: asyncio.Runner, place: Path) -> None:
    (place / "hook.py").write_text(
        "import random, uuid, tempfile, os\nprint(random.random(), uuid.uuid4(), os.urandom(4))"
    )

    async def work() -> set[Any]:
        await warmed_up(command(place))
        return {await forked(command(place)) for _ in range(10)}

    assert len(loop.run(work())) == 10


def test_a_file_that_changes_is_read_anew(loop: asyncio.Runner, place: Path) -> None:
    async def work() -> list[str]:
        answers = []
        for number in range(5):
            (place / "hook.py").write_text(f"print({number})")
            if not number:
                await warmed_up(command(place))
            answers.append((await forked(command(place)))[1])
        return answers

    assert loop.run(work()) == ["0\n", "1\n", "2\n", "3\n", "4\n"]


SHOWS = "import os, sys\nprint(sys.argv, sys.orig_argv, __file__, sys.path[0], sys.executable, os.getcwd(), sorted(os.environ.items()))"


@pytest.mark.parametrize(
    "text",
    [
        f"{PYTHON} ./hook.py",
        f"{PYTHON} below/../hook.py 'a b' c=d --flag -x",
        f"{PYTHON} '{{}}/hook.py'",
        f"  {PYTHON}\t\"hook.py\" '$HOME `x` \"*' it's 'quoted  ",
        f"'{PYTHON}' link.py",
        "python3 hook.py",
        "python hook.py ''",
        "./hook.py a",
        "{}/hook.py",
        "below/link.py",
        "./absolute.py",
        "bin/python hook.py",
    ],
)
@pytest.mark.parametrize("cwd", ["", "symlink", "PWD"])
def test_however_it_is_called(text: str, cwd: str, loop: asyncio.Runner, called: Path) -> None:
    place = called
    real = place / "real"
    there = {"": str(real), "symlink": str(place / "linked"), "PWD": str(place / "linked")}[cwd]
    env = {"PATH": f"{place}/bin:/usr/bin:/bin", "SHLVL": "3"} | (
        {"PWD": there, "OLDPWD": "/usr"} if cwd == "PWD" else {}
    )
    call = Command(text.replace("{}", there), cwd=there, inherit_env=False, env=env, timeout=LONG)

    async def work() -> None:
        await warmed_up(call)
        assert await forked(call) == await spawned(call)

    loop.run(work())


@pytest.fixture(scope="module")
def called(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One file by many names, and Pythons on a path of their own."""
    place = tmp_path_factory.mktemp("called")
    for directory in ("bin", "real/below", "real/bin"):
        (place / directory).mkdir(parents=True)
    for name in ("bin/python", "bin/python3", "real/bin/python"):
        (place / name).symlink_to(PYTHON)
    (place / "linked").symlink_to("real")
    for name, line in (("hook.py", "/usr/bin/env python3"), ("absolute.py", PYTHON)):
        (place / "real" / name).write_text(f"#!{line}\n{SHOWS}\n")
        (place / "real" / name).chmod(0o755)
    (place / "real/link.py").symlink_to("hook.py")
    (place / "real/below/link.py").symlink_to("../hook.py")
    return place


def test_an_argv_needs_no_shell(loop: asyncio.Runner, place: Path) -> None:
    (place / "hook.py").write_text(SHOWS)
    call = replace(command(place, ""), argv=(PYTHON, "hook.py", "$HOME", "a b", "\xe4"))

    async def work() -> None:
        await warmed_up(call)
        assert await forked(call) == await spawned(call)

    loop.run(work())


FALLS_BACK: dict[str, Command] = {
    "a module": Command(f"{PYTHON} -m json.tool"),
    "code": Command(f"{PYTHON} -c pass"),
    "a flag": Command(f"{PYTHON} -I hook.py"),
    "no file": Command(PYTHON, stdin=b"print(1)"),
    "a file that is not there": Command(f"{PYTHON} nosuch.py"),
    "a directory": Command(f"{PYTHON} folder"),
    "a fifo": Command(f"{PYTHON} fifo"),
    "a compiled file": Command(f"{PYTHON} hook.pyc"),
    "an unreadable file": Command("./unreadable.py"),
    "a variable": Command(f"{PYTHON} $FILE", env={"FILE": "hook.py"}),
    "a glob": Command(f"{PYTHON} hook.p?"),
    "a home": Command(f"{PYTHON} hook.py ~"),
    "braces": Command(f"{PYTHON} hook.py {{a,b}}"),
    "a pipe": Command(f"{PYTHON} hook.py | cat"),
    "two commands": Command(f"{PYTHON} hook.py; echo b"),
    "two lines": Command(f"{PYTHON} hook.py\necho b"),
    "in the background": Command(f"{PYTHON} hook.py & wait"),
    "a redirection": Command(f"{PYTHON} hook.py 2>&1"),
    "a comment": Command(f"{PYTHON} hook.py # a"),
    "a backslash": Command(f"{PYTHON} hook\\.py"),
    "a substitution": Command(f'{PYTHON} hook.py "$(echo b)"'),
    "an assignment": Command(f"A=b {PYTHON} hook.py"),
    "a group": Command(f"({PYTHON} hook.py)"),
    "not": Command(f"! {PYTHON} hook.py"),
    "unfinished quotes": Command(f"{PYTHON} hook.py 'a"),
    "PYTHONPATH": Command(f"{PYTHON} hook.py", env={"PYTHONPATH": "folder"}),
    "PYTHONHOME": Command(f"{PYTHON} hook.py", env={"PYTHONHOME": "/nosuch"}),
    "PYTHONWARNINGS": Command(f"{PYTHON} hook.py", env={"PYTHONWARNINGS": "error"}),
    "PYTHONSAFEPATH": Command(f"{PYTHON} hook.py", env={"PYTHONSAFEPATH": "1"}),
    "BASH_ENV": Command(f"{PYTHON} hook.py", env={"BASH_ENV": "rc"}),
    "SHELLOPTS": Command(f"{PYTHON} hook.py", env={"SHELLOPTS": "xtrace"}),
    "a wrapper": Command("./python hook.py"),
    "a wrapper on the path": Command("python3 hook.py", env={"PATH": "bin:/usr/bin:/bin"}),
    "not on the path": Command("python3 hook.py", env={"PATH": "/nosuch"}),
    "options in the first line": Command("./options.py"),
    "not executable": Command("./hook.py"),
    "a shell script": Command("./script.sh"),
    "another locale than utf-8": Command(f"{PYTHON} hook.py", env={"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0"}),
    "a large environment": Command(f"{PYTHON} hook.py", env={"BIG": "x" * 120_000}),
}


@pytest.mark.parametrize("why", FALLS_BACK)
def test_what_cannot_be_promised_is_spawned(why: str, loop: asyncio.Runner, place: Path) -> None:
    (place / "hook.py").write_text("import sys; print('ran', sys.argv, sys.flags.safe_path)")
    (place / "folder").mkdir()
    (place / "folder/__main__.py").write_text("print('folder')")
    os.mkfifo(place / "fifo")
    (place / "rc").write_text("echo rc")
    for name, text in (("python", "#!/bin/sh\necho wrapped\n"), ("script.sh", "#!/bin/sh\necho sh\n")):
        (place / name).write_text(text)
        (place / name).chmod(0o755)
    (place / "options.py").write_text(f"#!{PYTHON} -I\nprint('ran')\n")
    (place / "options.py").chmod(0o755)
    (place / "unreadable.py").write_text("#!/usr/bin/env python3\nprint('ran')\n")
    (place / "unreadable.py").chmod(0o111)
    call = replace(
        FALLS_BACK[why], cwd=str(place), inherit_env=HERE, timeout=timedelta(seconds=0.3 if why == "a fifo" else 60)
    )

    async def work() -> None:
        held = interpreter_pool()
        before = held.forked
        expected = await spawned(call)
        for _ in range(3):
            assert await answer(call, held) == expected
            await asyncio.sleep(0)
        assert held.forked == before

    loop.run(work())


def test_a_start_that_says_something_is_part_of_each_call(loop: asyncio.Runner, place: Path) -> None:
    call = own_python(place, "import sys; sys.stderr.write('site\\n')")
    (place / "hook.py").write_text("print('hook')")

    async def work() -> None:
        held = interpreter_pool()
        before = held.forked
        expected = await spawned(call)
        assert "site" in expected[2]
        for _ in range(20):
            assert await answer(call, held) == expected
            await asyncio.sleep(0.01)
        assert held.forked == before

    loop.run(work())


def test_a_start_that_changes_is_noticed(loop: asyncio.Runner, place: Path) -> None:
    call = own_python(place, "import builtins; builtins.site = 1")
    custom = next(place.glob("venv/lib/*/site-packages")) / "start.pth"
    (place / "hook.py").write_text("import os; print(site, os.environ.get('SITE'))")

    async def work() -> None:
        await warmed_up(call)
        assert (await forked(call))[1] == "1 None\n"
        custom.write_text("import builtins, os; builtins.site = 22; os.environ['SITE'] = 'here'")
        assert (await answer(call, interpreter_pool()))[1] == "22 here\n"
        await warmed_up(call)
        assert (await forked(call))[1] == "22 here\n"

    loop.run(work())


def own_python(place: Path, custom: str) -> Command:
    """A virtual environment with a start of its own."""
    library = place / f"venv/lib/python3.{sys.version_info.minor}/site-packages"
    library.mkdir(parents=True)
    (place / "venv/bin").mkdir()
    (place / "venv/bin/python").symlink_to(os.path.realpath(PYTHON))
    (place / "venv/pyvenv.cfg").write_text(f"home = {os.path.dirname(os.path.realpath(PYTHON))}\n")
    (library / "start.pth").write_text(custom)  # some systems have a sitecustomize of their own, which hides ours
    return command(place, "venv/bin/python hook.py")


def test_a_locale_and_a_time_zone_have_their_own_interpreter(loop: asyncio.Runner, place: Path) -> None:
    (place / "hook.py").write_text(
        "import time, sys, os\nprint(time.tzname, sys.stdout.encoding, os.environ.get('LC_CTYPE'))"
    )

    async def work() -> None:
        for env in ({"TZ": "Asia/Tokyo"}, {"TZ": "UTC", "LC_ALL": "C"}, {"PYTHONIOENCODING": "latin-1"}):
            call = command(place, env=env)
            await warmed_up(call)
            assert await forked(call) == await spawned(call)

    loop.run(work())


def test_what_a_new_process_would_inherit_is_inherited(loop: asyncio.Runner, place: Path) -> None:
    (place / "hook.py").write_text("import os\nprint(os.umask(0), os.getpriority(os.PRIO_PROCESS, 0))")

    async def work() -> None:
        await warmed_up(command(place))
        before = os.umask(0o027)
        try:
            assert await answer(command(place), interpreter_pool()) == await spawned(command(place))
        finally:
            os.umask(before)

    loop.run(work())

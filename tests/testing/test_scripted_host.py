"""The host that tests script: its clock, model and programs."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from hookline.errors import UnavailableError
from hookline.hooks.host import Command
from hookline.testing import FakeClock, ScriptedHost


def test_a_clock_goes_only_as_far_as_it_is_turned():
    clock = FakeClock()
    before, wall = clock.now(), clock.wall()
    clock.advance(timedelta(minutes=1))
    assert (clock.now() - before, clock.wall() - wall) == (60, 60)


def test_the_model_says_what_was_scripted_and_then_nothing():
    async def test() -> list[str]:
        host = ScriptedHost(answers=["one", "two"])
        said = [await host.complete("a"), await host.complete("b")]
        with pytest.raises(UnavailableError):
            await host.complete("c")
        return said + host.prompts

    assert asyncio.run(test()) == ["one", "two", "a", "b"]


@pytest.mark.parametrize(
    ("inherit", "without", "seen"),
    [(True, (), "x"), (False, (), ""), (("NAME",), (), "x"), (("OTHER",), (), ""), (True, ("NAME",), "")],
)
def test_a_program_inherits_the_scripted_environment_as_it_would_ours(inherit, without, seen):
    command = Command('printf "%s" "$NAME"', inherit_env=inherit, without_env=without)
    finished = asyncio.run(ScriptedHost(env={"NAME": "x"}).run_program(command))
    assert finished.stdout == seen

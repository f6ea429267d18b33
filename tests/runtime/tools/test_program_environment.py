from __future__ import annotations

from dataclasses import replace

import pytest

from hookline.hooks.host import Command
from hookline.runtime.tools.program_environment import (
    expand_variables,
    find_unset_variable,
    run_without_model_keys,
    server_environment,
)
from hookline.runtime.tools.tool_definition import ToolContext


def test_a_server_sees_no_secret_and_no_shell_function() -> None:
    env = {"PATH": "/bin", "HOME": "/h", "API_TOKEN": "secret", "SHELL": "() { :; }"}
    assert server_environment(env) == {"PATH": "/bin", "HOME": "/h"}


def test_an_unset_variable_is_named() -> None:
    assert find_unset_variable(["${A} and ${B}"], {"A": "1"}) == "B"
    assert find_unset_variable(["${A}", "$B {C}"], {"A": "1"}) is None


def test_variables_are_filled_once() -> None:
    env = {"TOKEN": "${HOME}", "HOME": "/h"}
    assert expand_variables({"AUTH": "Bearer ${TOKEN}"}, env) == {"AUTH": "Bearer ${HOME}"}


@pytest.mark.anyio
async def test_a_program_sees_the_users_variables_without_the_keys_of_models(place: ToolContext) -> None:
    secrets = {"ANTHROPIC_API_KEY": "k", "OPENAI_API_KEY": "k", "HOOKLINE_KEY_X": "k", "HOOKLINE_TOKEN": "k"}
    context = replace(place, env={"PATH": place.env["PATH"], "MINE": "ö", **secrets})
    result = await run_without_model_keys(context, Command("env"))
    names = {line.partition("=")[0] for line in result.stdout.splitlines()}
    assert "MINE=ö" in result.stdout.splitlines()
    assert not names & secrets.keys()

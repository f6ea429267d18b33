"""The environment variables of the programs that an agent starts."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from hookline.hooks.host import Command, ProgramResult, inherited_environment
from hookline.runners.process import run_program
from hookline.runners.warm.command import encode_for_process
from hookline.runtime.models.providers import PROVIDERS

if TYPE_CHECKING:
    from hookline.runtime.tools.tool_definition import ToolContext

SERVER_VARIABLES: Final = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_MODEL_KEY_VARIABLES: Final = frozenset(
    (
        *(key for provider in PROVIDERS.values() for key in provider.keys),
        "ANTHROPIC_AUTH_TOKEN",
        "OPENROUTER_API_KEY",
        "OLLAMA_API_KEY",
    )
)
_OWN_PREFIXES: Final = ("HOOKLINE_KEY_", "HOOKLINE_TOKEN")  # prefixes of hookline's own secrets


def server_environment(env: Mapping[str, str]) -> dict[str, str]:
    """The variables for MCP and language servers. None of them can contain a secret."""
    names = (name for name in SERVER_VARIABLES if name in env)
    return {name: env[name] for name in names if not env[name].startswith("()")}  # not a shell function


def _without_model_keys(env: Mapping[str, str]) -> dict[str, str]:
    return {
        name: value
        for name, value in env.items()
        if name not in _MODEL_KEY_VARIABLES and not name.startswith(_OWN_PREFIXES)
    }


def find_unset_variable(texts: Iterable[str], env: Mapping[str, str]) -> str | None:
    """The first variable that is used as `${NAME}` but is not set."""
    return next((name for text in texts for name in _VARIABLE.findall(text) if name not in env), None)


def expand_variables(values: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """Replaces `${NAME}` with the user's environment variable, so that config files need no secrets."""
    return {name: _VARIABLE.sub(lambda found: env[found[1]], text) for name, text in values.items()}


async def run_without_model_keys(context: ToolContext, command: Command, *, supervised: bool = False) -> ProgramResult:
    """Runs a command with the user's environment, byte for byte, without model keys. Raises ActionError."""
    variables = _without_model_keys(context.env)
    token = inherited_environment.set(
        {_encode_variable(name): _encode_variable(value) for name, value in variables.items()}
    )
    try:
        return await run_program(command, slots=context.slots, supervised=supervised)
    finally:
        inherited_environment.reset(token)


def _encode_variable(text: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:  # the text cannot be an environment value
        return encode_for_process(text)

"""What programs see of the user's environment."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Final

from hookline.hooks.host import Command, Finished
from hookline.runners.environment import encoded, inherited
from hookline.runners.process import run
from hookline.runtime.models.providers import PROVIDERS

if TYPE_CHECKING:
    from hookline.runtime.tools.tool import Place

FOR_SERVERS: Final = ("HOME", "LOGNAME", "PATH", "SHELL", "TERM", "USER")
_VARIABLE: Final = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_KEYS_OF_MODELS: Final = frozenset(
    (
        *(key for provider in PROVIDERS.values() for key in provider.keys),
        "ANTHROPIC_AUTH_TOKEN",
        "OPENROUTER_API_KEY",
        "OLLAMA_API_KEY",
    )
)
_OURS: Final = ("HOOKLINE_KEY_", "HOOKLINE_TOKEN")  # how these begin


def for_servers(env: Mapping[str, str]) -> dict[str, str]:
    """What MCP and language servers see: where programs and the home are, and nothing that could be secret."""
    names = (name for name in FOR_SERVERS if name in env)
    return {name: env[name] for name in names if not env[name].startswith("()")}  # a shell's function is no value


def _without_model_keys(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name not in _KEYS_OF_MODELS and not name.startswith(_OURS)}


def unset(texts: Iterable[str], env: Mapping[str, str]) -> str | None:
    """A variable that one of them names as `${NAME}`, and nobody has set."""
    return next((name for text in texts for name in _VARIABLE.findall(text) if name not in env), None)


def filled(values: Mapping[str, str], env: Mapping[str, str]) -> dict[str, str]:
    """`${NAME}` stands for a variable of the user's environment, so that no file need hold a secret."""
    return {name: _VARIABLE.sub(lambda found: env[found[1]], text) for name, text in values.items()}


async def run_for(place: Place, command: Command, *, supervised: bool = False) -> Finished:
    """What the command inherits is the place's environment, byte for byte, less the keys of models. Raises Failed."""
    kept = _without_model_keys(place.env)
    token = inherited.set({_bytes(name): _bytes(value) for name, value in kept.items()})
    try:
        return await run(command, slots=place.slots, supervised=supervised)
    finally:
        inherited.reset(token)


def _bytes(text: str) -> bytes:
    try:
        return os.fsencode(text)
    except UnicodeEncodeError:  # a text that no environment can hold
        return encoded(text)

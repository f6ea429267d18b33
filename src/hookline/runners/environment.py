"""The environment that a program gets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextvars import ContextVar
from typing import Final

from hookline.hooks.host import Command, current_hook

_CUT_MARK: Final = "…[cut]".encode()
_LONGEST_ENTRY: Final = 131_072 - 1  # Linux refuses a longer "NAME=value" with its closing NUL
_MAX_TOTAL: Final = 1 << 20  # an eighth of the usual stack may hold arguments and environment; leave room for both

inherited_environment: Final[ContextVar[Mapping[bytes, bytes] | None]] = ContextVar("inherited", default=None)
"""What programs inherit, where that is not the environment of this process but of the one that it decides for."""


def build_environment(command: Command) -> dict[bytes, bytes]:
    """What the command inherits and brings, and who is asking: HOOKLINE_HOOK, and HOOKLINE_ASKED_AGAIN the second time.

    A command that inherits only some of it gets just those.
    """
    held = _inherited_variables(command)
    held |= _encode_variables({**command.env, **(_current_hook_variables() if command.inherit_env is True else {})})
    return held


def _inherited_variables(command: Command) -> dict[bytes, bytes]:
    ours = inherited_environment.get()
    if ours is None:
        ours = os.environb
    if command.inherit_env is True:
        held = dict(ours)
    elif command.inherit_env is False:
        held = {}
    else:
        names = [os.fsencode(name) for name in command.inherit_env]
        held = {name: ours[name] for name in names if name in ours}
    for name in command.without_env:
        held.pop(os.fsencode(name), None)
    return held


def _current_hook_variables() -> dict[str, str]:
    who = current_hook.get()
    if who is None:
        return {}
    return {"HOOKLINE_HOOK": who.hook} | ({"HOOKLINE_ASKED_AGAIN": "1"} if who.is_recheck else {})


def _encode_variables(values: Mapping[str, str]) -> dict[bytes, bytes]:
    """Values as bytes, without NUL, each and all of them short enough for the system; what is cut says so."""
    plain = {
        name: encode_for_process(value)
        for name, value in values.items()
        if name and "=" not in name and "\0" not in name
    }
    longest = _LONGEST_ENTRY
    if sum(map(len, plain.values())) > _MAX_TOTAL:
        longest = min(longest, _MAX_TOTAL // len(plain))
    named = {encode_for_process(name): value for name, value in plain.items()}
    return {
        name: _cut_value(value, longest - len(name) - 1) for name, value in named.items() if len(name) < longest // 2
    }


def _cut_value(value: bytes, longest: int) -> bytes:
    if len(value) <= longest:
        return value
    kept = value[: longest - len(_CUT_MARK)].decode("utf-8", "ignore").encode()
    return kept + _CUT_MARK


def encode_for_process(text: str) -> bytes:
    """UTF-8 without NUL; a lone surrogate, which has no bytes of its own, becomes a question mark."""
    return text.replace("\0", "").encode("utf-8", "replace")

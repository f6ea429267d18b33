"""The environment variables that a program gets."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Final

from hookline.hooks.host import Command, bytecode_directory, current_hook, inherited_environment
from hookline.runners.warm.command import encode_for_process

_CUT_MARK: Final = "…[cut]".encode()
_LONGEST_ENTRY: Final = 131_072 - 1  # Linux refuses a longer "NAME=value" with its closing NUL
_MAX_TOTAL: Final = 1 << 20  # arguments and environment share an eighth of the usual stack


def build_environment(command: Command) -> dict[bytes, bytes]:
    """The command's environment, plus HOOKLINE_HOOK, and HOOKLINE_ASKED_AGAIN on a re-check.

    A command that inherits only some variables gets just those. If it runs Python files that the user accepted, their
    compiled form is not taken from the project either.
    """
    held = _inherited_variables(command)
    held |= _encode_variables({**command.env, **(_current_hook_variables() if command.inherit_env is True else {})})
    private = bytecode_directory.get()
    if private is not None:
        held[b"PYTHONPYCACHEPREFIX"] = os.fsencode(private)
    return held


def _inherited_variables(command: Command) -> dict[bytes, bytes]:
    ours = inherited_environment.get()
    if ours is None:
        ours = _process_environment()
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


def _process_environment() -> Mapping[bytes, bytes]:
    """os.environb without its checks and conversions, each of which it repeats for every variable that is read."""
    held = getattr(os.environb, "_data", None)
    return held if type(held) is dict else os.environb


def _current_hook_variables() -> dict[str, str]:
    who = current_hook.get()
    if who is None:
        return {}
    return {"HOOKLINE_HOOK": who.hook} | ({"HOOKLINE_ASKED_AGAIN": "1"} if who.is_recheck else {})


def _encode_variables(values: Mapping[str, str]) -> dict[bytes, bytes]:
    """Encodes values without NUL and cuts them to the system's limits, with a mark where it cuts."""
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

"""The entries by which agents call hookline. To whoever reads an agent's file as hooks they are none."""

from __future__ import annotations

import shlex
from typing import Final

_LAUNCHER: Final = "/hookline/bridge"


def launched(command: str) -> str | None:
    """The agent for which a command calls our launcher, wherever that is; None for any other command."""
    if _LAUNCHER not in command:
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    return words[1] if len(words) == 3 and words[0].endswith(_LAUNCHER) else None

"""The entries by which agents call hookline. To whoever reads an agent's file as hooks they are none."""

from __future__ import annotations

import re
import shlex
from typing import Final

_LAUNCHER: Final = "/hookline/bridge"
_ADDRESS: Final = re.compile(r"http://127\.0\.0\.1:\d{1,5}/hookline/([a-z-]{1,64})/\w{1,64}")
"""What older versions wrote as the `url` of an entry, where they wrote no command."""
_GUARD: Final = re.compile(
    r'\[ -x "\$0" \] \|\| (exit 0|\{ echo "[\w .,:;-]*" >&2; exit [12]; \}); '
    r'export HOOKLINE_ENTRY=project; exec "\$0" "\$@"'
)
"""What a project's entry does where hookline is not installed."""


def launched(command: str) -> str | None:
    """The agent for which a command calls our launcher, wherever that is, or an older version wrote an address.

    None for any other text.
    """
    address = _ADDRESS.fullmatch(command)
    if address is not None:
        return address[1]
    if _LAUNCHER not in command:
        return None
    try:
        words = shlex.split(command)
    except ValueError:
        return None
    if words[:2] == ["sh", "-c"] and len(words) == 6 and _GUARD.fullmatch(words[2]):
        words = words[3:]
    return words[1] if len(words) == 3 and words[0].endswith(_LAUNCHER) else None

"""How strictly an agent reads a JSON file. Many ignore a whole file for one flaw in it, hookline's entries included."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from hookline.lazy_dataclasses import dataclass

_STRING_OR_COMMENT: Final = re.compile(r'"(?:[^"\\]|\\.)*"|//[^\n]*|/\*.*?\*/', re.DOTALL)
_BYTE_ORDER_MARK: Final = "\ufeff"


@dataclass(frozen=True, slots=True)
class JsonReader:
    """No agent is known to accept a comma before a closing bracket."""

    comments: bool = False  # whether it accepts them
    byte_order_mark: bool = False

    def find_flaw(self, text: str) -> str:
        """What makes the agent ignore a file that is JSON but for comments, commas and a byte order mark. "" if nothing."""
        bare = text.removeprefix(_BYTE_ORDER_MARK)
        if bare != text and not self.byte_order_mark:
            return "it begins with a byte order mark"
        if _is_json(bare):
            return ""
        plain = _STRING_OR_COMMENT.sub(_keep_string, bare)
        if not _is_json(plain):
            return "it has a comma before a closing bracket"
        return "" if self.comments else "it has comments"


def _keep_string(found: re.Match[str]) -> str:
    return found[0] if found[0].startswith('"') else " "


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


Check = Callable[[Mapping[str, Any]], bool]


def find_malformed_group(hooks: Any, events: Collection[str], is_group: Check, is_handler: Check) -> str:
    """The place of the first group or handler that makes the agent ignore the whole file. "" if there is none.

    `is_group` need not look at the handlers.
    """
    for event, groups in hooks.items() if isinstance(hooks, dict) else ():
        if event not in events:  # the agent skips it
            continue
        for at, group in enumerate(groups) if isinstance(groups, list) else ():
            if not isinstance(group, dict) or not is_group(group):
                return f"{event}[{at}]"
            for number, handler in enumerate(group.get("hooks") or ()):
                if not isinstance(handler, dict) or not is_handler(handler):
                    return f"{event}[{at}].hooks[{number}]"
    return ""


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)

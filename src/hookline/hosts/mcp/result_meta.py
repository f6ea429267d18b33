"""Which `_meta` of a result hooks need not see: it says nothing but what MCP itself defines, and numbers."""

from __future__ import annotations

import re
from typing import Any, Final

SERVER_INFO_KEY: Final = "io.modelcontextprotocol/serverInfo"

_NAME: Final = re.compile(r"[A-Za-z0-9_./-]{1,100}")
_PLAIN_TEXT: Final = re.compile(r"[A-Za-z0-9 _.:+@()-]{0,64}")
_TEXTS: Final = frozenset(("progressToken", "taskId", "traceparent"))
_SERVER_TEXTS: Final = frozenset(("name", "title", "version"))
_LARGEST_NUMBER: Final = 10**9  # longer ones may be those of an account or a card
_MAX_DEPTH: Final = 5


def is_harmless_meta(meta: Any) -> bool:
    """A text that is not MCP's own is something that hooks have to see, and may remove."""
    return isinstance(meta, dict) and _is_harmless(meta, _TEXTS, _MAX_DEPTH)


def _is_harmless(value: Any, texts: frozenset[str], depth: int) -> bool:
    if isinstance(value, dict) and depth:
        return all(_is_harmless_entry(name, each, texts, depth) for name, each in value.items())
    if isinstance(value, list) and depth:
        return all(_is_harmless(each, frozenset(), depth - 1) for each in value)
    return value is None or (isinstance(value, (bool, int, float)) and abs(value) < _LARGEST_NUMBER)


def _is_harmless_entry(name: str, value: Any, texts: frozenset[str], depth: int) -> bool:
    if isinstance(value, str):
        return name in texts and _PLAIN_TEXT.fullmatch(value) is not None
    inner = _SERVER_TEXTS if name == SERVER_INFO_KEY else texts
    return _NAME.fullmatch(name) is not None and _is_harmless(value, inner, depth - 1)

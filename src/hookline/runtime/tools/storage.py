from __future__ import annotations

import json
from typing import Any, Final

from hookline.hooks.tools import Kind
from hookline.runtime.tools.built_in import BuiltIn, takes, text
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused

LONGEST_VALUE: Final = 1 << 20  # characters as JSON
_MOST_KEYS: Final = 10_000
_LONGEST_KEY: Final = 512


async def _storage(input: dict[str, Any], place: Place) -> Any:
    """What an agent keeps is its own: other agents have theirs, and its later sessions find it again."""
    action, store, owner = input["action"], place.store, place.agent
    if action == "list":
        return await store.keys(owner)
    key = _key(input)
    if action == "get":
        return await store.kept(owner, key)
    if action == "delete":
        return "deleted" if await store.forget(owner, key) else f"there was nothing by the key {key!r}"
    if "value" not in input:
        raise Refused("value is missing")
    check_size(input["value"])
    known = await store.keys(owner)
    if len(known) >= _MOST_KEYS and key not in known:
        raise Refused(f"there are {_MOST_KEYS:,} keys already; delete some")
    await store.keep(owner, key, input["value"])
    return "kept"


def check_size(value: Any, longest: int = LONGEST_VALUE) -> None:
    """Raises Refused for what is too large, or no JSON."""
    try:
        size = len(json.dumps(value, ensure_ascii=False, allow_nan=False))
    except (ValueError, TypeError, RecursionError):
        raise Refused("that cannot be kept as JSON") from None
    if size > longest:
        raise Refused(f"that is {size:,} characters as JSON; at most {longest:,} are kept")


def _key(input: dict[str, Any]) -> str:
    key = input.get("key", "")
    if not key:
        raise Refused("key is missing")
    if not key.isprintable():
        raise Refused("the key has characters that no key has")
    return str(key)


storage = BuiltIn(
    "storage",
    "Keeps values by key, for you alone, beyond this session.",
    takes(
        "action",
        action=text("What to do.", enum=["get", "set", "delete", "list"]),
        key=text("The key; not for list.", maxLength=_LONGEST_KEY),
        value={"description": "What to keep, any JSON; for set."},
    ),
    Kind.OTHER,
    _storage,
)

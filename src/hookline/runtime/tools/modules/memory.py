"""`memory.*`: what an agent wants to know again in later sessions."""

from __future__ import annotations

import secrets
import time
from typing import Any, Final

from hookline.hooks.tools import Kind
from hookline.runtime.tools.built_in import BuiltIn, takes, text, whole_number
from hookline.runtime.tools.storage import check_size
from hookline.runtime.tools.tool import Place
from hookline.runtime.tools.workspace import Refused

MOST_KEPT: Final = 500
_LONGEST: Final = 20_000  # characters of one memory
_USUAL: Final = 10


def _owner(place: Place) -> str:
    return f"memory:{place.agent}"


async def _remember(input: dict[str, Any], place: Place) -> dict[str, Any]:
    known = await place.store.keys(_owner(place))
    if len(known) >= MOST_KEPT:
        raise Refused(f"there are {MOST_KEPT} memories already; forget some")
    id = f"{time.time_ns() // 1_000_000:013d}-{secrets.token_hex(3)}"  # sorts by age
    held = {"content": input["content"], "tags": list(input.get("tags", []))}
    check_size(held, 2 * _LONGEST)
    await place.store.keep(_owner(place), id, held)
    return {"id": id}


async def _recall(input: dict[str, Any], place: Place) -> list[dict[str, Any]]:
    """Those with the most of the query's words, the newer before the older."""
    words = {word for word in input.get("query", "").casefold().split() if word}
    limit = int(input.get("limit", _USUAL))
    ids = sorted(await place.store.keys(_owner(place)), reverse=True)
    if not words:
        return [each for each in [await _memory(place, id) for id in ids[:limit]] if each]
    found = [(_hits(each, words), each) for each in [await _memory(place, id) for id in ids] if each]
    best = sorted((pair for pair in found if pair[0]), key=lambda pair: -pair[0])
    return [each for _, each in best[:limit]]


async def _memory(place: Place, id: str) -> dict[str, Any] | None:
    held = await place.store.kept(_owner(place), id)
    return {"id": id, **held} if isinstance(held, dict) else None


def _hits(memory: dict[str, Any], words: set[str]) -> int:
    said = " ".join([str(memory.get("content", "")), *map(str, memory.get("tags", []))]).casefold()
    return sum(word in said for word in words)


async def _forget(input: dict[str, Any], place: Place) -> str:
    if not await place.store.forget(_owner(place), input["id"]):
        raise Refused("there is no memory of this id")
    return "forgotten"


async def _list(input: dict[str, Any], place: Place) -> list[dict[str, Any]]:
    return await _recall({"limit": MOST_KEPT}, place)


ACTIONS = (
    BuiltIn(
        "memory.remember",
        "Keeps something to know again later, in other sessions too.",
        takes(
            "content",
            content=text("What to remember.", minLength=1, maxLength=_LONGEST),
            tags={"type": "array", "items": {"type": "string"}, "maxItems": 20, "description": "Words to find it by."},
        ),
        Kind.OTHER,
        _remember,
    ),
    BuiltIn(
        "memory.recall",
        "Finds what was remembered by the words in it; without a query, the newest.",
        takes(
            query=text("Words to look for.", maxLength=1_000),
            limit=whole_number(f"How many at most; {_USUAL} if not given.", 1, MOST_KEPT),
        ),
        Kind.OTHER,
        _recall,
    ),
    BuiltIn(
        "memory.forget",
        "Forgets one memory.",
        takes("id", id=text("Its id, as remember, recall and list tell it.", maxLength=100)),
        Kind.OTHER,
        _forget,
    ),
    BuiltIn("memory.list", "All that is remembered, the newest first.", takes(), Kind.OTHER, _list),
)

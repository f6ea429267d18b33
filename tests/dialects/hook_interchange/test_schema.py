from __future__ import annotations

from hookline.dialects.hook_interchange.names import HANDLER_KEYS, HOOK_KEYS
from hookline.dialects.hook_interchange.schema import build_schema


def test_it_has_every_key() -> None:
    defined = build_schema()["$defs"]
    hook, handler = defined["hook"]["properties"], defined["handler"]["properties"]
    assert set(hook) == set(HOOK_KEYS)
    assert set(handler) == {key for keys in HANDLER_KEYS.values() for key in keys}

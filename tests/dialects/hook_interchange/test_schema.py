from __future__ import annotations

from hookline.dialects.hook_interchange.names import HANDLER_KEYS, HOOK_KEYS
from hookline.dialects.hook_interchange.schema import build_schema


def test_every_key_is_described_with_an_example() -> None:
    defined = build_schema()["$defs"]
    hook, handler = defined["hook"]["properties"], defined["handler"]["properties"]
    assert set(hook) == set(HOOK_KEYS)
    assert set(handler) == {key for keys in HANDLER_KEYS.values() for key in keys}
    keys = {**hook, **handler}
    assert [key for key, schema in keys.items() if not schema.get("description")] == []
    assert [key for key, schema in keys.items() if "examples" not in schema] == ["handler", "type"]

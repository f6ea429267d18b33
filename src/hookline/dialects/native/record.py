"""`record:` in the user's own file: what is recorded, and for how long."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from hookline.config.node import Node
from hookline.dialects.native.keys import Key, Schema, described_schema, enum_schema, key_table
from hookline.hooks.record_settings import RecordedFacts, RecordSettings, Telemetry
from hookline.lazy_imports import lazy_pattern

_KEEP: Final = lazy_pattern(r"([1-9][0-9]{0,3})(d|h)")
_KEEP_HINT: Final = "Write a number of days or hours, up to 9999: 30d or 12h."
_TELEMETRY_KEYS: Final = ("endpoint", "headers")
_TELEMETRY_SCHEMA: Final[Schema] = {
    "type": "object",
    "properties": {
        "endpoint": {
            "description": "the collector's address",
            "type": "string",
            "pattern": "^https?://",
            "examples": ["http://127.0.0.1:4318"],
        },
        "headers": {
            "description": "HTTP headers of each request",
            "type": "object",
            "additionalProperties": {"type": "string"},
            "examples": [{"X-Team": "platform"}],
        },
    },
    "additionalProperties": False,
}
_TRACES_PATH: Final = "/v1/traces"
RECORD_KEYS: Final = key_table(
    Key(
        "facts",
        schema=enum_schema(tuple(RecordedFacts)),
        default="`masked`",
        help="what is kept of an event's facts: `masked` hides secrets, `full` keeps everything, also what hooks removed, `none` keeps nothing",
    ),
    Key(
        "keep",
        schema={"type": "string", "pattern": "^[1-9][0-9]{0,3}[dh]$"},
        default="`30d`",
        help="for how long, in days (`30d`) or hours (`12h`); never more than 1,000,000 records",
        example="keep: 7d",
    ),
    Key(
        "opentelemetry",
        schema={"oneOf": [{"type": "boolean"}, _TELEMETRY_SCHEMA]},
        default="`false`",
        help="sends each decision to a collector: `true` for the one on this machine, or `{endpoint: URL, headers: {…}}`",
        example="opentelemetry: {endpoint: 'http://127.0.0.1:4318'}",
    ),
)


def record_schema() -> Schema:
    return {
        "oneOf": [
            {"const": False},
            {"const": "off"},
            {
                "type": "object",
                "properties": {name: described_schema(key) for name, key in RECORD_KEYS.items()},
                "additionalProperties": False,
            },
        ]
    }


def parse_record_settings(at: Node) -> RecordSettings | None:
    """None if the file does not say anything about it."""
    place = at.get("record")
    if place is None:
        return None
    if place.value is False or place.value == "off":
        return RecordSettings(enabled=False)
    if place.mapping() is None:
        return None
    place.check_keys(RECORD_KEYS, "record")
    settings = RecordSettings()
    facts, keep, telemetry = place.get("facts"), place.get("keep"), place.get("opentelemetry")
    word = None if facts is None else facts.one_of(tuple(RecordedFacts))
    return RecordSettings(
        True,
        settings.facts if word is None else RecordedFacts(word),
        None if keep is None else parse_keep(keep),
        None if telemetry is None else _read_telemetry(telemetry),
    )


def parse_keep(at: Node) -> timedelta | None:
    """For how long records are kept: `30d` or `12h`."""
    text = at.text(hint=_KEEP_HINT)
    found = None if text is None else _KEEP.fullmatch(text)
    if found is None:
        if text is not None:
            at.add_problem("wrong-type", f"{text!r} is not a time to keep records.", _KEEP_HINT)
        return None
    number = int(found[1])
    return timedelta(days=number) if found[2] == "d" else timedelta(hours=number)


def _read_telemetry(at: Node) -> Telemetry | None:
    if isinstance(at.value, bool):
        return Telemetry() if at.value else None
    if at.mapping() is None:
        return None
    at.check_keys(_TELEMETRY_KEYS, "opentelemetry")
    endpoint, headers = at.get("endpoint"), at.get("headers")
    url = Telemetry().endpoint if endpoint is None else _read_endpoint(endpoint)
    pairs = [(name, each.text()) for name, each in (headers.entries() if headers is not None else ())]
    if url is None:
        return None
    return Telemetry(url, tuple((name, value) for name, value in pairs if value is not None))


def _read_endpoint(at: Node) -> str | None:
    text = at.text()
    if text is None:
        return None
    if not text.startswith(("http://", "https://")):
        at.add_problem("wrong-type", f"{text!r} is not a URL.", "Write http://localhost:4318, for example.")
        return None
    return text if text.endswith(_TRACES_PATH) else f"{text.rstrip('/')}{_TRACES_PATH}"

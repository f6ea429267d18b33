"""One line of a host's record, with what the hub finds it by."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime
from functools import lru_cache
from typing import Any, Final

from pydantic_core import from_json

from hookline.formatting import printable
from hookline.hooks.tools import find_main_field
from hookline.lazy_dataclasses import dataclass
from hookline.record.hash_chain import line_hash
from hookline.record.record_log import outcome_of
from hookline.record.record_reader import Record, is_record, parse_record
from hookline.runtime.storage.columns import escape_text

MAX_LINE: Final = 80_000  # bytes; hosts cut their lines to 64 KB
MAX_NAME: Final = 200  # characters of a name in an index
_MAX_WORDS: Final = 2000
_MAX_WHAT: Final = 240
_ID: Final = re.compile(r"([0-9a-f]{16})-([1-9][0-9]{0,15})")


@dataclass(frozen=True, slots=True)
class RecordLine:
    origin: str
    number: int
    previous: str
    hash: str
    at: float
    record: Record
    text: str

    @property
    def kind(self) -> str:
        return str(self.record.get("kind", ""))


def parse_line(line: bytes) -> RecordLine | None:
    """None if it is not a line that a host writes."""
    if len(line) > MAX_LINE:
        return None
    record = _parse_json(line)
    if record is None or not isinstance(record.get("kind"), str):
        return None
    id = _ID.fullmatch(record["id"])
    previous = record.get("previous")
    if id is None or not isinstance(previous, str) or len(previous) != 64:
        return None
    try:
        at = datetime.fromisoformat(record["at"]).timestamp()
    except (ValueError, OverflowError, OSError):
        return None
    return RecordLine(id[1], int(id[2]), previous, line_hash(line), at, record, line.decode())


def _parse_json(line: bytes) -> Record | None:
    """pydantic's parser takes half as long as Python's, but refuses lone surrogates and deep nesting, which hosts may write."""
    try:
        record = from_json(line)
    except ValueError:
        return parse_record(line)
    return record if line.startswith(b"{") and line.endswith(b"}") and is_record(record) else None


def searched_name(value: object) -> str:
    """A name as it stands in an index: long ones keep their beginning and a hash."""
    if not isinstance(value, str):
        return ""
    if len(value) > MAX_NAME:
        value = f"{value[: MAX_NAME - 17]}#{hashlib.sha256(value.encode('utf-8', 'surrogatepass')).hexdigest()[:16]}"
    return _escape_name(value)


_escape_name: Final = lru_cache(maxsize=8192)(escape_text)
"""Most names are those of the record before."""


def call_name(record: Record) -> str:
    """What the call of a record is found by: its id, or its tool and input where the host has no ids for calls."""
    call = record.get("call")
    if isinstance(call, str) and call:
        return searched_name(call)
    tool = record.get("tool")
    if not isinstance(tool, str):
        return ""
    text = json.dumps([tool, input_of(record)], sort_keys=True)
    return f"input:{hashlib.sha256(text.encode()).hexdigest()[:24]}"


CallName = tuple[str, str]
"""The session and the call, as indexes have them."""


def call_of(record: Record) -> CallName:
    return searched_name(record.get("session")), call_name(record)


def input_of(record: Record) -> Any:
    """The input of a tool, or the prompt; None if there is none."""
    facts = record.get("facts")
    if not isinstance(facts, dict):
        return None
    tool = facts.get("tool")
    if isinstance(tool, dict) and tool.get("input") is not None:
        return tool["input"]
    return {"prompt": facts["prompt"]} if "prompt" in facts else None


def what_text(record: Record) -> str:
    """What a decision is about, on one short line."""
    input = input_of(record)
    if input is None:
        return ""
    if isinstance(input, dict):
        main = find_main_field(input)
        if main is not None:
            return printable(input[main][:_MAX_WHAT])
        texts = [value for value in input.values() if isinstance(value, str)]
        if len(input) == 1 and texts:
            return printable(texts[0][:_MAX_WHAT])
    return printable(json.dumps(input, ensure_ascii=False)[:_MAX_WHAT])


def _search_words(record: Record) -> str:
    """What `q` looks in: names, reason and input, in lower case."""
    parts = [record.get(key) for key in ("tool", "hook", "reason", "host", "agent", "user", "session")]
    input = input_of(record)
    if isinstance(input, dict):
        parts += [
            value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in input.values()
        ]
    elif input is not None:
        parts.append(json.dumps(input, ensure_ascii=False))
    text = " ".join(part[:_MAX_WORDS] for part in parts if isinstance(part, str) and part)
    return escape_text(text[:_MAX_WORDS].lower())


DECISION_COLUMNS: Final = (
    *("origin", "number", "kind", "at", "host", "session", "thread", "agent", "event", "call", "tool", "verdict"),
    *("hook", "outcome", "words", "took", "book", "record", "hash"),
)


def decision_values(line: RecordLine, now: float) -> tuple[Any, ...]:
    """The values of DECISION_COLUMNS, as the database stores them. The clock of its machine may be ahead of `now`."""
    record = line.record
    took = record.get("ms")
    return (
        line.origin,
        line.number,
        searched_name(record.get("kind")),
        min(line.at, now),
        searched_name(record.get("host")),
        searched_name(record.get("session")),
        searched_name(record.get("thread")),
        searched_name(record.get("agent")),
        searched_name(record.get("event")),
        call_name(record),
        searched_name(record.get("tool")),
        "halt" if record.get("halt") is True else searched_name(record.get("verdict")),
        searched_name(record.get("hook")),
        outcome_of(record),
        _search_words(record),
        float(took) if isinstance(took, int | float) and not isinstance(took, bool) else None,
        searched_name(record.get("hooks")),
        line.text,
        line.hash,
    )


_ROW_KEYS: Final = (
    *("id", "at", "host", "session", "thread", "agent", "user", "event", "call", "caller", "tool", "verdict", "reason"),
    *("hook", "file", "line", "dialect", "halt", "again", "ms"),
)


def row_json(record: Record) -> dict[str, Any]:
    """A decision as a row of a table: without its facts."""
    row: dict[str, Any] = {key: record[key] for key in _ROW_KEYS if key in record}
    row["what"] = what_text(record)
    return row

"""Files of flo's hub."""

from __future__ import annotations

import json
from typing import Any

from hookline.config.reader import read_text
from hookline.dialects.dialect import LoadResult
from hookline.dialects.flo import DIALECT


def load(value: Any, file: str = "hub.json") -> LoadResult:
    document, problems = read_text(value if isinstance(value, str) else json.dumps(value), file)
    assert document is not None, problems
    return DIALECT.load(document)


def build_config(*listed: dict[str, Any], event: str = "PreToolUse") -> dict[str, Any]:
    return {"hooks": {event: list(listed)}}


def problem_codes(value: Any) -> list[str]:
    return [problem.code for problem in load(value).problems]

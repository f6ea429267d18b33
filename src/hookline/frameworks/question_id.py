"""Names a question by what a person reads, so that an answer counts for no other call.

An adapter gives the id to the framework with the question, and the framework stores it: a paused run may go on in another
process or on another machine, and its call may have changed until then.
"""

from __future__ import annotations

import json
from typing import Any

from hookline.hosts.python.session import Question
from hookline.lazy_imports import hashlib


def question_id(question: Question) -> str:
    text = json.dumps([question.tool, _stored(question.input)], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _stored(value: Any) -> Any:
    """Some stores give 1.0 back for 1."""
    if isinstance(value, dict):
        return {name: _stored(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_stored(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value

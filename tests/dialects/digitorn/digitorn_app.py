"""App files of digitorn with one hook, and every condition and action that it documents."""

from __future__ import annotations

import json
from typing import Any

from hookline.config.document import Document
from hookline.config.reader import read_text
from hookline.dialects.dialect import LoadResult
from hookline.dialects.digitorn import DIALECT


def read_document(text: str, file: str = "digitorn.yaml") -> Document:
    found, problems = read_text(text, file)
    assert found is not None, problems
    return found


def load(value: Any) -> LoadResult:
    return DIALECT.load(read_document(value if isinstance(value, str) else json.dumps(value)))


def build_hook(**keys: Any) -> dict[str, Any]:
    return {"runtime": {"hooks": [{"id": "h", "action": {"type": "gate"}, **keys}]}}


def all_conditions() -> list[dict[str, Any]]:
    return [
        {"type": "all_of", "conditions": []},
        {"type": "any_of", "conditions": [{"type": "always"}]},
        {"type": "not", "condition": {"type": "unheard_of", "x": 1}},
        {"type": "always"},
        {"type": "never"},
        {"type": "context_pressure", "threshold": 0.75},
        {"type": "turn_count", "threshold": 10},
        {"type": "turn_count", "every": 5},
        {"type": "tool_calls", "threshold": 20},
        {"type": "message_count", "threshold": 50},
        {"type": "tool_name", "match": "Write|Edit"},
        {"type": "tool_name", "match": ["Write", "Edit", "Insert"]},
        {"type": "tool_failed"},
        {"type": "content_contains", "keyword": "x"},
        {"type": "error_type", "match": "rate_limit*"},
        {"type": "expression", "expr": "turn > 5 and pressure > 0.6"},
    ]


def all_actions() -> list[dict[str, Any]]:
    return [
        {
            "type": "compact_context",
            "strategy": "summarize",
            "keep_recent": 10,
            "summary_max_tokens": 1024,
            "summary_prompt": "Summarize",
            "target_pressure": 0.5,
            "cooldown_turns": 3,
        },
        {"type": "inject_message", "strategy": "auto", "content": "c", "role": "user", "position": "before_last"},
        {
            "type": "module_action",
            "module": "memory",
            "action": "remember",
            "action_params": {"a": "{{tool.params.b}}"},
        },
        {
            "type": "module_action_inject",
            "module": "lsp",
            "action": "d",
            "action_params": {},
            "format": "auto",
            "prefix": "",
        },
        {"type": "log", "message": "m", "level": "info"},
        {
            "type": "shell",
            "command": "x {{tool.params.p}}",
            "cwd": "{{workspace}}",
            "timeout": 30,
            "on_error": "ignore",
        },
        {"type": "gate", "reason": "r"},
        {"type": "transform_params", "transformation": {"set": {"a": 1}, "remove": ["b"]}},
        {"type": "transform_result", "transformation": {"append_to_result": "x", "inject_note": "y"}},
        {"type": "chain", "stop_on_failure": False, "actions": [{"type": "log", "message": "m"}]},
        {"type": "notify", "title": "t", "message": "m", "level": "warning", "tag": "g"},
        {"type": "pipe", "to": "a.b", "map": {"x": "{{tool.result}}"}, "extra": {"y": True}, "on_error": "log"},
        {
            "type": "lsp_diagnose",
            "path_field": ["path", "file_path"],
            "content_field": ["content"],
            "publish": True,
            "inject_result": True,
            "read_from_disk": True,
        },
        {"type": "compile_yaml"},
        {"type": "auto_test_deploy"},
        {"type": "prefetch_ground_truth"},
        {"type": "enforce_phase6"},
        {"type": "enforce_compile_fix"},
    ]

"""Reads one action of a native file and writes it back."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from hookline.config.node import Node
from hookline.config.reader import read_text
from hookline.dialects.native.actions import parse_action, total_timeout, write_action
from hookline.dialects.native.dialect import DEFAULT_TIMEOUT
from hookline.dialects.native.keys import HookInfo
from hookline.hooks.protocols import Action
from hookline.hooks.tools import VOCABULARIES


def hook_info(event: str = "tool.before") -> HookInfo:
    return HookInfo(event, VOCABULARIES["native"], DEFAULT_TIMEOUT, "x")


def parse(then: Any, event: str = "tool.before") -> tuple[Action | None, list[str]]:
    """The action, and the codes of its problems."""
    document, _ = read_text(json.dumps(then), "then.json")
    assert document is not None
    at = Node.of(document)
    return parse_action(at, hook_info(event)), [problem.code for problem in at.problems]


def parse_valid(then: Any, event: str = "tool.before") -> Action:
    action, problems = parse(then, event)
    assert problems == []
    assert action is not None
    return action


def rewrite(then: Any, event: str = "tool.before") -> Any:
    action, info = parse_valid(then, event), hook_info(event)
    return write_action(action, replace(info, timeout=total_timeout(action, info.timeout)))

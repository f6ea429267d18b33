"""Hooks that deny the tools which hub.json switches off."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Final

from hookline.engine.book import Layer
from hookline.hub.explain.given_hooks import load_given_hooks
from hookline.runtime.settings import ExtraHooks

_CONDITIONS: Final = {
    "bash": ({"kind": "shell"},),
    "filesystem": (
        {"kind": ["read", "write", "edit", "list", "glob", "grep"]},
        {"tool": ["delete_file", "workspace.info", "workspace.tree", "workspace.changes"]},
    ),
}
_NAME: Final = "disabled tools"


def disabled_tool_hooks(tools: Mapping[str, bool]) -> tuple[ExtraHooks, ...]:
    """Denies count before every allow, so no other hook brings a tool back."""
    off = [name for name, enabled in tools.items() if not enabled]
    if not off:
        return ()
    hooks = [
        {
            "id": f"{name}-is-off-{at}",
            "on": "tool.before",
            "when": condition,
            "then": {"deny": f"{name} is off on this hub."},
        }
        for name in off
        for at, condition in enumerate(_CONDITIONS[name], 1)
    ]
    book = load_given_hooks(json.dumps({"hooks": hooks}), "native", _NAME)
    return (ExtraHooks(Layer(_NAME, book.hooks), book.files.files),)

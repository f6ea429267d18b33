from __future__ import annotations

from typing import Any

import pytest

from dialect_conversion import load_hooks
from hookline.dialects.degradation import degrade
from hookline.hooks.actions.run_program import RunProgram
from hookline.hooks.hook import Hook


def hook_with(degradation: dict[str, str], **handler: Any) -> Hook:
    command = {"type": "command", "command": "true", **handler}
    hook = {"event": "before_tool_execute", "handler": command, "degradation": degradation}
    (found,) = load_hooks("hook_interchange", {"spec": "hooks/0.1", "hooks": [hook]}, "hooks.json")
    return found


def test_the_fewest_capabilities_are_left_out_first() -> None:
    variants = list(degrade(hook_with({}, env={"A": "b"}, cwd=".")))
    counts = [len(lost) for _, lost in variants]
    assert counts == sorted(counts)
    assert {len(lost) for _, lost in variants} == {1, 2, 3}


@pytest.mark.parametrize("capability", ["custom_env", "configurable_cwd"])
def test_block_makes_a_hook_that_blocks_everything(capability: str) -> None:
    hook = hook_with({capability: "block"}, env={"A": "b"}, cwd=".")
    blocked = [variant for variant, lost in degrade(hook) if any(f"{capability}: block" in line for line in lost)]
    assert blocked
    for variant in blocked:
        assert isinstance(variant.then, RunProgram)
        assert "exit 2" in variant.then.program.describe()


def test_exclude_has_no_variant() -> None:
    hook = hook_with({"custom_env": "exclude"}, env={"A": "b"})
    assert all("environment" not in line for _, lost in degrade(hook) for line in lost)

"""The packs decide the unseen commands rightly, but for those that `unseen/known.yaml` names."""

from __future__ import annotations

import pytest

from packs.unseen_commands import PACKS, commands, dangerous, everyday, is_stopped, known


@pytest.mark.slow
@pytest.mark.parametrize("pack", PACKS)
def test_only_known_commands_pass(pack: str) -> None:
    assert {command for command in dangerous(pack) if not is_stopped(pack, command)} == known("passes", pack)


@pytest.mark.slow
@pytest.mark.parametrize("pack", PACKS)
def test_only_known_everyday_commands_are_stopped(pack: str) -> None:
    assert {command for command in everyday(pack) if is_stopped(pack, command)} == known("stopped", pack)


@pytest.mark.parametrize("name", [*PACKS, "everyday"])
def test_each_command_counts_once(name: str) -> None:
    assert len(commands(name)) == len(set(commands(name)))

"""Commands that were written down before anybody looked at what the packs stop, so that the count is honest.

`unseen/<pack>.txt` has what the pack must stop, `unseen/everyday.txt` what it may not. A line is a command; lines that
begin with `|` continue the one above, and a call of another tool is JSON. `unseen/known.yaml` names every command that is
decided wrongly today.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from hookline.hooks.outcome import Verdict
from packs.pack_trials import decide, load_pack

DIRECTORY = Path(__file__).parent / "unseen"
PACKS = sorted(file.stem for file in DIRECTORY.glob("*.txt") if file.stem != "everyday")


@cache
def commands(name: str) -> tuple[str, ...]:
    found: list[str] = []
    for line in (DIRECTORY / f"{name}.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            found[-1] += "\n" + line[2:]
        else:
            found.append(line)
    return tuple(found)


def dangerous(pack: str) -> tuple[str, ...]:
    return commands(pack) if pack in PACKS else ()


def everyday(pack: str) -> tuple[str, ...]:
    return commands("everyday") if pack in PACKS else ()


def known(part: str, pack: str) -> set[str]:
    """`part` is `passes` or `stopped`."""
    groups: list[dict[str, Any]] = _known_file()[part].get(pack) or []
    return {command for group in groups for command in group["commands"]}


@cache
def _known_file() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((DIRECTORY / "known.yaml").read_text(encoding="utf-8"))
    return loaded


def is_stopped(pack: str, command: str) -> bool:
    call = json.loads(command) if command.startswith('{"tool"') else command
    return decide(load_pack(pack), call).verdict >= Verdict.ASK

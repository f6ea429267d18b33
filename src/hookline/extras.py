"""How to add an extra to the installation that runs."""

from __future__ import annotations

import json
import re
import shlex
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname


def install_command(extra: str) -> str:
    """The command that adds the extra with the installer that was used, and keeps the extras that are there.

    A local directory or file is named again, anything else is installed by name.
    """
    origin, is_editable = _find_origin()
    if (Path(sys.prefix) / "uv-receipt.toml").is_file():
        return f"uv tool install {_requirement(origin, *_extras_of_uv(), extra)}"
    if (Path(sys.prefix) / "pipx_metadata.json").is_file():
        return f"pipx install --force {_requirement(origin, *_extras_of_pipx(), extra)}"
    return f"pip install {'-e ' if is_editable else ''}{_requirement(origin, extra)}"


def _requirement(origin: str, *extras: str) -> str:
    return shlex.quote(f"{origin}[{','.join(dict.fromkeys(extras))}]")


def _find_origin() -> tuple[str, bool]:
    """The directory or file that it was installed from, else its name; and whether the directory is used in place."""
    try:
        recorded = json.loads(distribution("hookline").read_text("direct_url.json") or "{}")
        url = urlsplit(recorded["url"])
        if url.scheme == "file":
            return url2pathname(url.path), bool(recorded.get("dir_info", {}).get("editable"))
    except (PackageNotFoundError, OSError, ValueError, KeyError, TypeError):  # no usable record: install by name
        pass
    return "hookline", False


def _extras_of_uv() -> list[str]:
    try:
        receipt = tomllib.loads((Path(sys.prefix) / "uv-receipt.toml").read_text("utf-8"))
        ours = next(each for each in receipt["tool"]["requirements"] if each["name"] == "hookline")
        return list(ours.get("extras", ()))
    except (OSError, ValueError, KeyError, TypeError, StopIteration):
        return []


def _extras_of_pipx() -> list[str]:
    try:
        metadata = json.loads((Path(sys.prefix) / "pipx_metadata.json").read_text("utf-8"))
        found = re.search(r"\[([\w,\s-]+)\]$", metadata["main_package"]["package_or_url"])
    except (OSError, ValueError, KeyError, TypeError):
        return []
    return [each.strip() for each in found[1].split(",")] if found else []

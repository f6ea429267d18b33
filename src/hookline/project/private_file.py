"""The user's directories, and files in the state directory that only their owner may read."""

from __future__ import annotations

import os
from pathlib import Path

from hookline.lazy_imports import tempfile


def state_directory() -> Path:
    """Where hookline keeps its state for the user of this process."""
    given = os.environ.get("XDG_STATE_HOME", "")
    return (Path(given) if os.path.isabs(given) else Path.home() / ".local" / "state") / "hookline"


def config_home() -> Path | None:
    """What replaces `~/.config` for the user of this process, if anything."""
    given = os.environ.get("XDG_CONFIG_HOME", "")
    return Path(given) if os.path.isabs(given) else None


def write_private_file(path: Path, data: bytes) -> None:
    """Replaces the file in one step, and creates its directory. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise

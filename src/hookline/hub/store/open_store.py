"""Opens the database that a hub's settings name."""

from __future__ import annotations

from hookline.errors import HooklineError
from hookline.hub.config.hub_config import HubConfig
from hookline.runtime.storage.store import Store, file_url


async def open_store(config: HubConfig, hub: str = "") -> Store:
    """Raises HooklineError, with file and line if the database is named in the hub's file."""
    try:
        return await Store.open(config.store or file_url(config.state / "sessions.db"), hub)
    except HooklineError as error:
        raise config.wrong_value("store", str(error)) from error

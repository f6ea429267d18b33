"""Opens the database that a hub's settings name."""

from __future__ import annotations

import hashlib

from hookline.errors import HooklineError
from hookline.hub.config.hub_config import HubConfig
from hookline.runtime.storage.store import Store, file_url


async def open_store(config: HubConfig, hub: str = "") -> Store:
    """Raises HooklineError, with file and line if the database is named in the hub's file."""
    try:
        return await Store.open(_store_url(config), hub)
    except HooklineError as error:
        raise config.wrong_value("store", str(error)) from error


def store_id(config: HubConfig) -> str:
    """The same for hubs whose settings name the same database. It is a hash: the URL may have a password."""
    return hashlib.sha256(_store_url(config).encode()).hexdigest()


def _store_url(config: HubConfig) -> str:
    return config.store or file_url(config.state / "sessions.db")

from __future__ import annotations

import asyncio
from pathlib import Path

from hookline.hub.access.roles import Role
from hookline.hub.store.user_table import UserRow
from hub.hub_sandbox import async_test, open_hub


@async_test
async def test_one_owner_always_stays(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        ann, bob = await hub.access.add_user("ann", Role.OWNER), await hub.access.add_user("bob", Role.OWNER)
        table = hub.access.table
        removed = await asyncio.gather(*(table.remove_user(each.id, Role.OWNER) for each in (ann, bob)))
        assert sorted(removed) == [False, True]
        left = (await table.users())[0]
        assert not await table.set_role(left.id, Role.VIEWER, Role.OWNER)
        assert await table.set_role(left.id, Role.OWNER, Role.OWNER)


@async_test
async def test_users_are_found_by_id_name_and_subject(tmp_path: Path) -> None:
    async with open_hub(tmp_path) as hub:
        user = UserRow("1", "ann", "viewer", "https://id.example|ann", 5.0)
        await hub.access.table.add_user(user)
        assert await hub.access.table.user("1") == user
        assert await hub.access.table.user_named("ann") == user
        assert await hub.access.table.user_of_subject("https://id.example|ann") == user
        assert await hub.access.table.user_named("\0") is None

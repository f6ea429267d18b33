from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from hookline.errors import HooklineError
from hookline.hub.access.access import CODE_LIFETIME, SESSION_IDLE, SESSION_LIFETIME, Access, RateLimit
from hookline.hub.access.roles import NOBODY, Role
from hookline.hub.store.user_table import UserTable
from hookline.runtime.storage.store import Store
from hub.hub_sandbox import async_test, new_database


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


async def open_access(directory: Path) -> tuple[Access, Store, Clock]:
    store = await Store.open(new_database(directory))
    clock = Clock()
    return Access(UserTable(store.database), clock), store, clock


@async_test
async def test_a_code_signs_in_once(tmp_path: Path) -> None:
    access, store, _ = await open_access(tmp_path)
    code = await access.create_code(await access.add_user("ann", Role.EDITOR))
    signed_in = await access.enter(code)
    assert signed_in is not None
    assert (signed_in.user.name, signed_in.role) == ("ann", Role.EDITOR)
    assert (await access.identify(signed_in.token)).name == "ann"
    assert await access.enter(code) is None
    await store.close()


@async_test
async def test_of_two_that_use_a_code_at_once_one_gets_in(tmp_path: Path) -> None:
    access, store, _ = await open_access(tmp_path)
    code = await access.create_code(await access.add_user("ann", Role.EDITOR))
    entered = await asyncio.gather(*(access.enter(code) for _ in range(8)))
    assert len([each for each in entered if each is not None]) == 1
    await store.close()


@async_test
async def test_a_code_is_no_token_and_an_old_one_is_nothing(tmp_path: Path) -> None:
    access, store, clock = await open_access(tmp_path)
    code = await access.create_code(await access.add_user("ann", Role.OWNER))
    assert await access.identify(code) is NOBODY
    clock.now += CODE_LIFETIME.total_seconds() + 1
    assert await access.enter(code) is None
    await store.close()


@async_test
async def test_a_link_may_give_less_than_the_user_has_and_never_more(tmp_path: Path) -> None:
    access, store, _ = await open_access(tmp_path)
    owner, viewer = await access.add_user("owner", Role.OWNER), await access.add_user("viewer", Role.VIEWER)
    for user, asked in ((owner, Role.VIEWER), (viewer, Role.OWNER)):
        signed_in = await access.enter(await access.create_code(user, asked))
        assert signed_in is not None
        assert (await access.identify(signed_in.token)).role is Role.VIEWER
    await store.close()


@async_test
async def test_a_token_ends_by_age_by_idleness_and_by_signing_out(tmp_path: Path) -> None:
    access, store, clock = await open_access(tmp_path)
    user = await access.add_user("ann", Role.VIEWER)

    async def new_token() -> str:
        signed_in = await access.enter(await access.create_code(user))
        assert signed_in is not None
        return signed_in.token

    idle, busy, left = await new_token(), await new_token(), await new_token()
    assert await access.sign_out(await access.identify(left))
    assert await access.identify(left) is NOBODY
    for _ in range(5):
        clock.now += SESSION_IDLE.total_seconds() - 10
        assert (await access.identify(busy) is NOBODY) == (clock.now - 1_000_000 > SESSION_LIFETIME.total_seconds())
    assert await access.identify(idle) is NOBODY
    assert await access.remove_expired() == 2
    await store.close()


@async_test
async def test_a_changed_role_counts_at_once_and_a_removed_user_is_nobody(tmp_path: Path) -> None:
    access, store, _ = await open_access(tmp_path)
    await access.add_user("root", Role.OWNER)
    user = await access.add_user("ann", Role.EDITOR)
    signed_in = await access.enter(await access.create_code(user))
    assert signed_in is not None
    assert await access.table.set_role(user.id, Role.VIEWER, Role.OWNER)
    assert (await access.identify(signed_in.token)).role is Role.VIEWER
    assert await access.table.remove_user(user.id, Role.OWNER)
    assert await access.identify(signed_in.token) is NOBODY
    await store.close()


@async_test
async def test_more_rights_count_at_once_except_for_a_link_that_gave_less(tmp_path: Path) -> None:
    access, store, _ = await open_access(tmp_path)
    await access.add_user("root", Role.OWNER)
    user = await access.add_user("ann", Role.VIEWER)
    tokens = []
    for role in (None, Role.APPROVER):
        signed_in = await access.enter(await access.create_code(user, role))
        assert signed_in is not None
        assert signed_in.role is Role.VIEWER
        tokens.append(signed_in.token)
    assert await access.table.set_role(user.id, Role.EDITOR, Role.OWNER)
    assert [(await access.identify(each)).role for each in tokens] == [Role.EDITOR, Role.APPROVER]
    await store.close()


@async_test
async def test_keys_never_expire_and_are_replaced_by_name(tmp_path: Path) -> None:
    access, store, clock = await open_access(tmp_path)
    old, _ = await access.add_key("box", replace=True)
    clock.now += 10 * SESSION_LIFETIME.total_seconds()
    assert (await access.identify(old)).role is Role.REPORTER
    new, _ = await access.add_key("box", replace=True)
    assert await access.identify(old) is NOBODY
    assert (await access.identify(new)).name == "box"
    await store.close()


@async_test
async def test_no_secret_is_in_the_database(tmp_path: Path) -> None:
    access, store, _ = await open_access(tmp_path)
    user = await access.add_user("ann", Role.OWNER)
    code, (key, _) = await access.create_code(user), await access.add_key("box")
    signed_in = await access.enter(await access.create_code(user))
    assert signed_in is not None
    await store.close()
    stored = b"".join(path.read_bytes() for path in tmp_path.iterdir() if path.is_file())
    assert not [each for each in (code, key, signed_in.token) if each.encode() in stored]


@async_test
async def test_the_first_owner_is_created_once(tmp_path: Path) -> None:
    access, store, _ = await open_access(tmp_path)
    first = await access.first_owner("ann")
    assert await access.first_owner("bob") == first
    with pytest.raises(HooklineError, match="there is a user ann already"):
        await access.add_user("ann", Role.VIEWER)
    await store.close()


@pytest.mark.parametrize("token", ["", "x" * 100_000, "\ud800", "hls_wrong"])
def test_nonsense_is_nobody(token: str, tmp_path: Path) -> None:
    @async_test
    async def run() -> None:
        access, store, _ = await open_access(tmp_path)
        assert await access.identify(token) is NOBODY
        await store.close()

    run()


def test_an_address_has_few_tries_a_minute() -> None:
    clock = Clock()
    limit = RateLimit(2, clock, addresses=3)
    assert [limit.take("a") for _ in range(3)] == [True, True, False]
    assert limit.take("b")
    clock.now += 61
    assert limit.take("a")


def test_the_limit_does_not_remember_every_address_for_ever() -> None:
    limit = RateLimit(1, addresses=3)
    for number in range(10):
        limit.take(str(number))
    assert len(limit._tries) == 3

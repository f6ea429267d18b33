from __future__ import annotations

import asyncio
import math
from typing import Any

import pytest

from hookline.errors import HooklineError
from hookline.runtime.storage.tables import Injection
from runtime.storage.row_factories import (
    async_test,
    make_message,
    make_session,
    make_thread,
    message_ids,
    open_store,
    open_store_with_thread,
)

pytestmark = pytest.mark.slow


@async_test
async def test_messages_come_back_as_they_were_oldest_first(url: str) -> None:
    given: list[dict[str, Any]] = [
        make_message("1"),
        {
            "id": "2",
            "role": "assistant",
            "content": None,
            "name": None,
            "tool_calls": '[{"id": "c", "type": "function"}]',
            "created_at": 1_700_000_000_000,
            "parent_id": None,
            "depth": 0,
            "tokens": {"in": 3, "out": [1.5, None, True]},
        },
        {"id": "3", "role": "tool", "content": "", "tool_call_id": "c", "name": "bash"},
        {"id": "4"},
    ]
    async with open_store_with_thread(url) as store:
        for each in given:
            await store.add_message("t", each)
        assert await store.messages("t") == given
    async with open_store(url) as store:
        assert await store.messages("t") == given


@pytest.mark.parametrize(
    "odd",
    [
        {"content": ["a", {"type": "text"}]},
        {"created_at": 1.5},
        {"created_at": 2**70},
        {"created_at": -(2**63)},
        {"depth": True},
        {"role": 3},
        {"extra": {"extra": None}},
        {"sequence": 7, "position": "first", "gone": "no", "thread": "other"},
    ],
    ids=str,
)
@async_test
async def test_values_that_fit_no_column_come_back_too(url: str, odd: dict[str, Any]) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_message("t", {**make_message("1"), **odd})
        assert await store.messages("t") == [{**make_message("1"), **odd}]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\0b",
        "\0",
        "\ud800",
        "\ud83d\ude00",
        "\ud83d and \ude00 and \U0001f600",
        "\x01",
        "\x01\\x00",
        "\\ud800",
        "é\r\n\t\x7f\x85\u2028",
        "\uffff\ufffe",
        "'; DROP TABLE messages; --",
    ],
    ids=ascii,
)
@async_test
async def test_any_text_comes_back_unchanged(url: str, text: str) -> None:
    given = {
        "id": f"m{text}",
        "role": text,
        "content": text,
        "name": text,
        "tool_calls": text,
        text or "k": {"k": [text]},
    }
    async with open_store_with_thread(url) as store:
        await store.add_session(make_session(f"s {text}", hooks={text: text}))
        await store.add_thread(make_thread(f"t {text}", f"s {text}"))
        await store.add_message(f"t {text}", given)
        assert await store.messages(f"t {text}") == [given]
        assert await store.session(f"s {text}") == make_session(f"s {text}", hooks={text: text})
        await store.write_file("t", f"f{text}", text.encode("utf-8", "surrogatepass"), text)
        assert [each["path"] for each in await store.list_files("t")] == [f"f{text}"]
        await store.set_value(text, text, text)
        assert (await store.get_value(text, text), await store.keys(text)) == (text, [text])


@async_test
async def test_five_megabytes_come_back(url: str) -> None:
    given = make_message("1", "é" * 2_500_000 + "\0" + "x" * 2_500_000, big="y" * 5_000_000)
    async with open_store_with_thread(url) as store:
        await store.add_message("t", given)
        assert await store.messages("t") == [given]


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


@async_test
async def test_deep_values_come_back_or_are_refused(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_message("t", make_message("1", deep=nested(400)))
        for levels in (600, 5_000, 100_000):
            with pytest.raises(HooklineError, match="nested more than 500"):
                await store.add_message("t", make_message("2", deep=nested(levels)))
        within: list[Any] = []
        within.append(within)
        with pytest.raises(HooklineError, match="contains itself"):
            await store.add_message("t", make_message("3", deep=within))
        assert [each["deep"] for each in await store.messages("t")] == [nested(400)]


@pytest.mark.parametrize(
    "value", [{1: 2}, {"a": [{None: 1}]}, {1, 2}, b"bytes", object(), 10**5000], ids=lambda v: type(v).__name__
)
@async_test
async def test_what_json_cannot_give_back_is_refused(url: str, value: Any) -> None:
    async with open_store_with_thread(url) as store:
        with pytest.raises(HooklineError, match="cannot be stored as JSON"):
            await store.add_message("t", make_message("1", odd=value))
        assert await store.messages("t") == []


@async_test
async def test_numbers_that_are_none_come_back(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_message("t", make_message("1", a=math.inf, b=math.nan))
        (found,) = await store.messages("t")
        assert found["a"] == math.inf
        assert math.isnan(found["b"])


@pytest.mark.parametrize("id", [None, 3, ""])
@async_test
async def test_a_message_needs_an_id(url: str, id: Any) -> None:
    async with open_store_with_thread(url) as store:
        with pytest.raises(HooklineError, match="needs an id"):
            await store.add_message("t", {"id": id, "role": "user"})


@async_test
async def test_an_id_has_a_largest_length(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_message("t", make_message("x" * 1000))
        with pytest.raises(HooklineError, match="too long"):
            await store.add_message("t", make_message("x" * 1001))
        assert await message_ids(store) == ["x" * 1000]


@async_test
async def test_a_limit_takes_the_last_and_an_offset_leaves_out_the_last(url: str) -> None:
    async with open_store_with_thread(url) as store:
        for number in range(6):
            await store.add_message("t", make_message(str(number)))

        async def taken(limit: int | None, offset: int = 0) -> str:
            return "".join([each["id"] for each in await store.messages("t", limit, offset)])

        assert await taken(None) == "012345"
        assert await taken(2) == "45"
        assert await taken(2, 1) == "34"
        assert await taken(None, 2) == "0123"
        assert await taken(10, 4) == "01"
        assert await taken(0) == ""
        assert await taken(3, 6) == ""
        assert await taken(2**80) == "012345"


@async_test
async def test_the_same_message_again_changes_nothing(url: str) -> None:
    given = make_message("1", extra={"b": [1], "a": None}, name=None)
    async with open_store_with_thread(url) as store:
        await store.add_message("t", given)
        await store.add_message("t", make_message("2"))
        await store.add_message("t", given)
        assert await message_ids(store) == ["1", "2"]


@async_test
async def test_another_message_of_the_same_id_is_refused(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_message("t", make_message("1"))
        with pytest.raises(HooklineError, match="the thread t already has another message '1'"):
            await store.add_message("t", make_message("1", "other"))
        assert await store.messages("t") == [make_message("1")]


@async_test
async def test_two_threads_may_have_messages_of_one_id(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_thread(make_thread("u", "s"))
        await store.add_message("t", make_message("1", "of t"))
        await store.add_message("u", make_message("1", "of u"))
        assert [await store.messages("t"), await store.messages("u")] == [
            [make_message("1", "of t")],
            [make_message("1", "of u")],
        ]


@async_test
async def test_a_message_needs_its_thread(url: str) -> None:
    async with open_store_with_thread(url) as store:
        with pytest.raises(HooklineError, match="session or thread that this belongs to is not stored"):
            await store.add_message("none", make_message("1"))


@async_test
async def test_messages_added_at_once_are_all_there_once(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await asyncio.gather(*(store.add_message("t", make_message(str(number))) for number in range(60)))
        assert sorted(await message_ids(store), key=int) == [str(number) for number in range(60)]


@async_test
async def test_a_message_is_changed(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_message("t", make_message("1", name="a", more=1))
        await store.add_message("t", make_message("2"))
        changed = await store.update_message("t", "1", {"content": None, "name": "b\0", "other": [1]})
        assert changed == {**make_message("1", None), "name": "b\0", "more": 1, "other": [1]}
        assert await store.messages("t") == [changed, make_message("2")]


@async_test
async def test_changes_at_once_are_all_kept(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_message("t", make_message("1"))
        await asyncio.gather(*(store.update_message("t", "1", {f"k{number}": number}) for number in range(30)))
        assert await store.messages("t") == [make_message("1", **{f"k{number}": number for number in range(30)})]


@async_test
async def test_a_change_needs_its_message_and_leaves_its_id(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await store.add_message("t", make_message("1"))
        with pytest.raises(HooklineError, match="no message '2' in the thread t"):
            await store.update_message("t", "2", {"content": "x"})
        with pytest.raises(HooklineError, match="cannot be changed"):
            await store.update_message("t", "1", {"id": "2"})
        assert await store.messages("t") == [make_message("1")]


@async_test
async def test_compaction_puts_one_in_the_place_of_many(url: str) -> None:
    async with open_store_with_thread(url) as store:
        for number in range(6):
            await store.add_message("t", make_message(str(number)))
        await store.compact_messages("t", ["2", "1", "3"], make_message("summary"))
        assert await message_ids(store) == ["0", "summary", "4", "5"]
        await store.add_message("t", make_message("6"))
        await store.compact_messages("t", ["summary", "4"], make_message("second"))
        assert await message_ids(store) == ["0", "second", "5", "6"]
        await store.compact_messages("t", ["0", "second", "5", "6"], make_message("all"))
        await store.add_message("t", make_message("7"))
        assert await message_ids(store) == ["all", "7"]
        with pytest.raises(HooklineError, match="no message '2'"):
            await store.update_message("t", "2", {"content": "x"})


@async_test
async def test_the_first_prompt_is_known_after_a_compaction(url: str) -> None:
    async with open_store_with_thread(url) as store:
        assert await store.first_prompt("t") is None
        await store.add_message("t", make_message("0", role="assistant"))
        await store.add_message("t", make_message("1", "the first"))
        await store.add_message("t", make_message("2", "the second"))
        await store.compact_messages("t", ["0", "1"], make_message("summary", "what was said"))
        assert await store.first_prompt("t") == make_message("1", "the first")


@async_test
async def test_many_messages_are_compacted(url: str) -> None:
    async with open_store_with_thread(url) as store:
        await asyncio.gather(*(store.add_message("t", make_message(str(number))) for number in range(300)))
        gone = (await message_ids(store))[:-1]
        await store.compact_messages("t", gone, make_message("summary"))
        assert (await message_ids(store))[0] == "summary"
        assert len(await message_ids(store)) == 2


@pytest.mark.parametrize(
    ("gone", "stands_in", "why"),
    [
        (["0", "none"], "new", "no message 'none'"),
        ([], "new", "nothing to compact"),
        (["0"], "1", "this id is already in use"),
    ],
)
@async_test
async def test_a_failed_compaction_changes_nothing(url: str, gone: list[str], stands_in: str, why: str) -> None:
    async with open_store_with_thread(url) as store:
        for number in range(3):
            await store.add_message("t", make_message(str(number)))
        with pytest.raises(HooklineError, match=why):
            await store.compact_messages("t", gone, make_message(stands_in))
        assert await store.messages("t") == [make_message("0"), make_message("1"), make_message("2")]


@async_test
async def test_of_compactions_at_once_one_counts(url: str) -> None:
    async with open_store_with_thread(url) as store, open_store(url) as other:
        for number in range(4):
            await store.add_message("t", make_message(str(number)))
        tried = await asyncio.gather(
            *(store.compact_messages("t", ["0", "1"], make_message(f"s{n}")) for n in range(5)),
            *(other.compact_messages("t", ["1", "2"], make_message(f"o{n}")) for n in range(5)),
            *(store.add_message("t", make_message(f"new{n}")) for n in range(5)),
            return_exceptions=True,
        )
        failed = [each for each in tried if each is not None]
        assert len(failed) == 9
        assert all(isinstance(each, HooklineError) for each in failed)
        left = await message_ids(store)
        assert len(left) == 8
        assert left[0][0] in "s0"


@async_test
async def test_injections_come_back_in_order(url: str) -> None:
    given = [
        Injection("a\0", "system", None),
        Injection("b", "user", "1", "assistant", "start"),
        Injection("a\0", "user", "1"),
    ]
    async with open_store_with_thread(url) as store:
        for each in given:
            await store.add_injection("t", each)
        assert await store.injections("t") == given
        assert await store.injections("u") == []

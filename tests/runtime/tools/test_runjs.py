from __future__ import annotations

import pytest

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("code", "content"),
    [
        ("return 1 + 1", 2),
        ("return {a: [1, 'x', null]}", {"a": [1, "x", None]}),
        ("await null; return typeof callTool", "undefined"),
        ("log('a', {b: 1}); console.log('c')", {"value": None, "log": 'a {"b":1}\nc'}),
        ("", None),
        ("return typeof source + typeof require + typeof fetch", "undefined" * 3),
    ],
)
async def test_runs(do, code: str, content) -> None:
    result = await do("runjs", code=code, context="iframe")
    assert (result.ok, result.content) == (True, content)


@pytest.mark.parametrize(
    ("code", "error"),
    [
        ("throw new Error('no')", "Error: no"),
        ("throw 5", "Error: 5"),
        ("log('before'); null.x", "TypeError"),
        ("return (", "SyntaxError"),
        ("document.body.append('x')", "there is no browser here"),
        ("alert('x')", "there is no browser here"),
        pytest.param("for (;;) {}", "the code did not answer within 5 s", marks=pytest.mark.slow),
        ("const a = []; for (;;) a.push(new Array(1e6).fill(1))", "memory"),
        ("return 'x'.repeat(2e6)", "too large"),
        ("return 1n", "BigInt"),
        ("await new Promise(() => {})", "never settles"),
    ],
)
async def test_what_goes_wrong_is_an_error(do, code: str, error: str) -> None:
    result = await do("runjs", code=code)
    assert not result.ok
    assert error in result.error


async def test_what_was_logged_before_an_error_is_told(do) -> None:
    assert (await do("runjs", code="log('first'); throw new Error('then')")).error == "Error: then\nfirst"


async def test_nothing_is_kept_from_one_run_to_the_next(do) -> None:
    await do("runjs", code="globalThis.kept = 1")
    assert (await do("runjs", code="return typeof kept")).content == "undefined"

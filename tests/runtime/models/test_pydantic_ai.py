"""Real HTTP against the loopback interface, through the providers' own libraries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest

from hookline.hosts.doctor.model_apis import Anthropic, Api, Call, Gemini, OpenAIChat, OpenAIResponses
from hookline.runtime.models.fallback import WithFallbacks
from hookline.runtime.models.model import ErrorCode, Offered, Request, Said, Spent, Wants
from hookline.runtime.models.providers import address
from hookline.runtime.models.remote import RemoteModel
from runtime.models.loopback import (
    DIE,
    HANG,
    KEY,
    Answer,
    Json,
    asked,
    chunk,
    events,
    failure_of,
    listening,
    model_at,
    pieces_of,
    refusal,
    run,
)


class Groq(OpenAIChat):
    """Its usage stands apart."""

    def _chunks(self, delta: Json, ended: str) -> Iterator[Json]:
        for each in super()._chunks(delta, ended):
            usage = each.pop("usage", None)
            yield {**each, "x_groq": {"id": "req_1", "usage": usage}} if usage else each


class Responses(OpenAIResponses):
    """Text in pieces, as OpenAI itself sends it."""

    def say(self, text: str) -> Iterator[Json]:
        begun, added, done, ended = super().say(text)
        yield begun
        yield {**added, "item": {**added["item"], "content": [], "status": "in_progress"}}
        part = {"type": "output_text", "text": "", "annotations": []}
        place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        yield {"type": "response.content_part.added", **place, "part": part}
        yield {"type": "response.output_text.delta", **place, "delta": text, "logprobs": []}
        yield done
        yield ended


APIS: dict[str, Api] = {
    "anthropic": Anthropic(),
    "google": Gemini(),
    "groq": Groq(),
    "mistral": OpenAIChat(),
    "ollama": OpenAIChat(),
    "openai-chat": OpenAIChat(),
    "openai-responses": Responses(),
}
BASH = Offered("bash", "Runs a command", {"type": "object", "properties": {"command": {"type": "string"}}})
STATUS = Offered("mcp.git.status", "Shows the state", {"type": "object", "properties": {}})
HISTORY = Request(
    (
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Look."},
        {
            "role": "assistant",
            "content": "Looking.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "mcp.git.status", "arguments": "{}"}},
                {"id": "call_2", "type": "function", "function": {"name": "bash", "arguments": '{"command": "ls"}'}},
            ],
        },
        {"role": "system", "content": "The user is in a hurry."},
        {"role": "tool", "tool_call_id": "call_2", "content": "a.py"},
        {"role": "tool", "tool_call_id": "call_1", "content": "clean"},
        {"role": "user", "content": "And?"},
    ),
    (BASH, STATUS),
)


def said(api: Api, text: str) -> Answer:
    return Answer(events(api.say(text), done=isinstance(api, OpenAIChat)))


def text_of(pieces: list[Any]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, Said))


@pytest.mark.parametrize("provider", APIS)
def test_each_provider_speaks_and_counts(provider: str) -> None:
    async def work() -> None:
        async with listening(said(APIS[provider], "Good day.")) as server, model_at(server.url, provider) as model:
            assert await pieces_of(model, HISTORY) == [Said("Good day."), Spent(10, 5)]
        assert len(server.got) == 1
        assert KEY in json.dumps(server.got[0].headers)
        told = json.dumps(server.got[0].body)
        for text in ("Be brief.", "Look.", "Looking.", "in a hurry", "a.py", "clean", "And?", "Runs a command"):
            assert text in told
        assert "mcp__git__status" in told
        assert "mcp.git.status" not in told

    run(work)


@pytest.mark.parametrize("provider", APIS)
def test_each_provider_calls_tools(provider: str) -> None:
    async def work() -> None:
        api = APIS[provider]
        answer = Answer(
            events(api.call(Call("call_9", "mcp__git__status", {"all": True})), isinstance(api, OpenAIChat))
        )
        async with listening(answer) as server, model_at(server.url, provider) as model:
            wants, spent = await pieces_of(model, HISTORY)
        assert isinstance(wants, Wants)
        assert (wants.id, wants.name, json.loads(wants.arguments)) == ("call_9", "mcp.git.status", {"all": True})
        assert spent == Spent(10, 5)

    run(work)


@pytest.mark.parametrize("provider", APIS)
def test_nobody_retries_behind_our_back(provider: str) -> None:
    async def work() -> None:
        answer = refusal(500, {"error": {"message": "on fire", "code": 500, "status": "INTERNAL"}})
        async with listening(answer) as server, model_at(server.url, provider) as model:
            pieces, error = await failure_of(model, asked())
        assert (pieces, error.code, len(server.got)) == ([], ErrorCode.INTERNAL, 1)
        assert "on fire" in str(error)

    run(work)


def test_text_comes_in_pieces_as_it_is_sent() -> None:
    async def work() -> None:
        parts = events([chunk({"role": "assistant", "content": "One "}), chunk({"content": "two"})])
        async with listening(Answer((*parts, HANG))) as server, model_at(server.url) as model:
            async with aclosing(model.stream(asked())) as pieces:  # type: ignore[type-var]
                assert await anext(pieces) == Said("One ")
                assert await anext(pieces) == Said("two")
                assert not server.left.is_set()
            await asyncio.wait_for(server.left.wait(), 10)

    run(work)


def test_leaving_a_model_with_fallbacks_closes_the_connection() -> None:
    async def work() -> None:
        begun = events([chunk({"role": "assistant", "content": "One "})])
        async with listening(Answer((*begun, HANG))) as server, model_at(server.url) as model:
            pieces = WithFallbacks([model, model]).stream(asked())
            assert await anext(pieces) == Said("One ")
            await pieces.aclose()  # type: ignore[attr-defined]
            await asyncio.wait_for(server.left.wait(), 10)

    run(work)


SECRETS = {
    "ANTHROPIC_API_KEY": "leak-1",
    "ANTHROPIC_AUTH_TOKEN": "leak-2",
    "ANTHROPIC_CUSTOM_HEADERS": "x-anthropic: leak-3",
    "GEMINI_API_KEY": "leak-4",
    "GOOGLE_API_KEY": "leak-5",
    "GROQ_API_KEY": "leak-6",
    "GROQ_CUSTOM_HEADERS": "x-groq: leak-7",
    "MISTRAL_API_KEY": "leak-8",
    "OLLAMA_API_KEY": "leak-9",
    "OPENAI_ADMIN_KEY": "leak-10",
    "OPENAI_API_KEY": "leak-11",
    "OPENAI_CUSTOM_HEADERS": "x-openai: leak-12",
    "OPENAI_ORG_ID": "leak-13",
    "OPENAI_PROJECT_ID": "leak-14",
}


@pytest.mark.parametrize("provider", APIS)
def test_a_server_named_by_its_url_gets_nothing_of_the_environment(
    provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in SECRETS.items():
        monkeypatch.setenv(name, value)

    async def work() -> None:
        async with listening(said(APIS[provider], "Yes.")) as server:
            model = RemoteModel(address(f"{provider}:a-model@{server.url}/v1", SECRETS))
            await pieces_of(model, asked())
            await model.close()
        assert "leak" not in json.dumps([server.got[0].path, server.got[0].headers, server.got[0].body])

    run(work)


def test_parallel_calls_with_split_arguments() -> None:
    def deltas() -> Iterator[Json]:
        def call(index: int, **function: str) -> Json:
            head = {"id": f"call_{index}", "type": "function"} if "name" in function else {}
            return chunk({"tool_calls": [{"index": index, **head, "function": function}]})

        yield chunk({"role": "assistant", "content": "Both."})
        yield call(0, name="bash", arguments='{"comm')
        yield call(1, name="bash", arguments="")
        yield call(0, arguments='and": "l')
        yield call(1, arguments='{"command": "pwd"}')
        yield call(0, arguments='s"}')
        yield chunk({}, "tool_calls")
        yield {**chunk({}), "choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}}

    async def work() -> None:
        async with listening(Answer(events(deltas(), done=True))) as server, model_at(server.url) as model:
            pieces = await pieces_of(model, asked(tools=(BASH,)))
        assert pieces == [
            Said("Both."),
            Wants("call_0", "bash", '{"command": "ls"}'),
            Wants("call_1", "bash", '{"command": "pwd"}'),
            Spent(7, 3),
        ]
        assert server.got[0].body["stream_options"] == {"include_usage": True}

    run(work)


def test_anthropic_parallel_calls_with_split_arguments() -> None:
    def sent() -> Iterator[Json]:
        first, *_, _, ended, stop = Anthropic().say("")
        yield first
        for index, pieces in enumerate((['{"comm', 'and": "ls"}'], [])):
            block = {"type": "tool_use", "id": f"toolu_{index}", "name": "bash", "input": {}}
            yield {"type": "content_block_start", "index": index, "content_block": block}
            yield {"type": "ping"}
            for piece in pieces:
                delta = {"type": "input_json_delta", "partial_json": piece}
                yield {"type": "content_block_delta", "index": index, "delta": delta}
            yield {"type": "content_block_stop", "index": index}
        yield ended
        yield stop

    async def work() -> None:
        async with listening(Answer(events(sent()))) as server, model_at(server.url, "anthropic") as model:
            first, second, spent = await pieces_of(model, asked(tools=(BASH,)))
        assert (first, second) == (Wants("toolu_0", "bash", '{"command": "ls"}'), Wants("toolu_1", "bash", "{}"))
        assert spent == Spent(10, 5)

    run(work)


def test_malformed_arguments_are_passed_on_as_text() -> None:
    async def work() -> None:
        function = {"name": "bash", "arguments": '{"command": rm'}
        call = chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
        answer = Answer(events([call, chunk({}, "tool_calls")], done=True))
        async with listening(answer) as server, model_at(server.url) as model:
            pieces = await pieces_of(model, asked(tools=(BASH,)))
        assert pieces == [Wants("call_1", "bash", '{"command": rm')]
        assert len(server.got) == 1

    run(work)


@pytest.mark.parametrize("provider", APIS)
def test_a_server_that_dies_in_the_middle_is_a_network_error(provider: str) -> None:
    async def work() -> None:
        whole = events(APIS[provider].say("Half of"))
        async with listening(Answer((*whole[:-1], DIE))) as server, model_at(server.url, provider) as model:
            _, error = await failure_of(model, asked())
        assert error.code is ErrorCode.NETWORK, error

    run(work)


@pytest.mark.parametrize("provider", APIS)
def test_a_stream_that_ends_too_soon_calls_nothing(provider: str) -> None:
    async def work() -> None:
        whole = events(APIS[provider].call(Call("call_1", "bash", {"command": "ls"})))
        cut = whole[:-2] if provider == "anthropic" else whole[:-1]
        if provider == "google":
            cut = (whole[0].replace(b', "finishReason": "STOP"', b""),)
        async with listening(Answer(cut)) as server, model_at(server.url, provider) as model:
            pieces, error = await failure_of(model, asked(tools=(BASH,)))
        assert (pieces, error.code) == ([], ErrorCode.NETWORK), error

    run(work)


@pytest.mark.parametrize("provider", APIS)
def test_a_slow_first_byte_is_a_timeout(provider: str) -> None:
    async def work() -> None:
        async with listening(Answer(silent=True)) as server, model_at(server.url, provider, silence=0.3) as model:
            _, error = await failure_of(model, asked())
            assert error.code is ErrorCode.TIMEOUT, error
            await asyncio.wait_for(server.left.wait(), 10)

    run(work)


def test_silence_in_the_middle_is_a_timeout_whatever_keeps_the_connection_alive() -> None:
    async def work() -> None:
        begun = events([chunk({"role": "assistant", "content": "One "})])
        async with listening(Answer((*begun, b": still here\n\n", HANG))) as server:
            async with model_at(server.url, silence=1) as model:
                pieces, error = await failure_of(model, asked())
            assert (pieces, error.code) == ([Said("One ")], ErrorCode.TIMEOUT)
            await asyncio.wait_for(server.left.wait(), 10)

    run(work)


def test_nobody_listens() -> None:
    async def work() -> None:
        async with listening(Answer()) as server:
            url = server.url
        async with model_at(url) as model:
            _, error = await failure_of(model, asked())
        assert error.code is ErrorCode.NETWORK, error

    run(work)


@pytest.mark.parametrize("provider", APIS)
def test_cancelling_closes_the_connection(provider: str) -> None:
    async def work() -> None:
        begun = events(APIS[provider].say("One"))[:-1]
        async with listening(Answer((*begun, HANG))) as server, model_at(server.url, provider) as model:
            task = asyncio.create_task(pieces_of(model, asked()))
            await asyncio.wait_for(server.hangs.wait(), 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(server.left.wait(), 10)

    run(work)


def test_messages_are_told_as_they_stand() -> None:
    async def work() -> None:
        async with listening(said(OpenAIChat(), "Yes.")) as server, model_at(server.url) as model:
            await pieces_of(model, Request(HISTORY.messages, HISTORY.tools, max_tokens=50))
        body = server.got[0].body
        roles = [message["role"] for message in body["messages"]]
        assert roles == ["system", "user", "assistant", "tool", "tool", "system", "user"]
        assert [message["content"] for message in body["messages"][3:]] == [
            "clean",
            "a.py",
            "The user is in a hurry.",
            "And?",
        ]
        assert body["model"] == "a-model"
        assert 50 in (body.get("max_tokens"), body.get("max_completion_tokens"))

    run(work)


def test_responses_are_not_kept_by_openai() -> None:
    async def work() -> None:
        answer = said(Responses(), "Yes.")
        async with listening(answer) as server, model_at(server.url, "openai-responses") as model:
            await pieces_of(model, asked())
        assert server.got[0].body["store"] is False

    run(work)


def test_mistral_gets_ids_of_nine_characters() -> None:
    async def work() -> None:
        async with listening(said(OpenAIChat(), "Yes.")) as server, model_at(server.url, "mistral") as model:
            await pieces_of(model, HISTORY)
        messages = server.got[0].body["messages"]
        called = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
        answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert called == answered
        assert [len(id) for id in called] == [9, 9]

    run(work)


def test_a_refusal_is_heard() -> None:
    async def work() -> None:
        answer = Answer(events([chunk({"role": "assistant", "refusal": "I will not."}), chunk({}, "stop")], done=True))
        async with listening(answer) as server, model_at(server.url) as model:
            assert text_of(await pieces_of(model, asked())) == "I will not."

    run(work)


def test_many_at_once() -> None:
    async def work() -> None:
        async with listening(said(OpenAIChat(), "Yes.")) as server, model_at(server.url) as model:
            answers = await asyncio.gather(*(pieces_of(model, asked(str(number))) for number in range(20)))
        assert answers == [[Said("Yes."), Spent(10, 5)]] * 20
        assert {got.body["messages"][0]["content"] for got in server.got} == {str(number) for number in range(20)}

    run(work)

"""Real HTTP against the loopback interface, through the providers' own libraries."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import aclosing
from typing import Any

import pytest

from hookline.hosts.doctor.fake_model import (
    AnthropicApi,
    GeminiApi,
    ModelApi,
    OpenAIChatApi,
    OpenAIResponsesApi,
    ShellCall,
)
from hookline.runtime.models.fallback import FallbackModel
from hookline.runtime.models.model import (
    CompletionRequest,
    ErrorCode,
    OfferedTool,
    RequestedCall,
    TextChunk,
    TokenUsage,
)
from hookline.runtime.models.providers import parse_address
from hookline.runtime.models.remote_model import RemoteModel
from runtime.models.provider_stub import (
    DIE,
    HANG,
    KEY,
    Json,
    StubResponse,
    chunk,
    collect_failure,
    collect_pieces,
    encode_sse,
    error_response,
    make_request,
    remote_model,
    run_async,
    serving,
)

pytestmark = pytest.mark.slow


class Groq(OpenAIChatApi):
    """Its usage stands apart."""

    def _chunks(self, delta: Json, ended: str) -> Iterator[Json]:
        for each in super()._chunks(delta, ended):
            usage = each.pop("usage", None)
            yield {**each, "x_groq": {"id": "req_1", "usage": usage}} if usage else each


class Responses(OpenAIResponsesApi):
    """Text in pieces, as OpenAI itself sends it."""

    def stream_text(self, text: str) -> Iterator[Json]:
        begun, added, done, ended = super().stream_text(text)
        yield begun
        yield {**added, "item": {**added["item"], "content": [], "status": "in_progress"}}
        part = {"type": "output_text", "text": "", "annotations": []}
        place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
        yield {"type": "response.content_part.added", **place, "part": part}
        yield {"type": "response.output_text.delta", **place, "delta": text, "logprobs": []}
        yield done
        yield ended


APIS: dict[str, ModelApi] = {
    "anthropic": AnthropicApi(),
    "google": GeminiApi(),
    "groq": Groq(),
    "mistral": OpenAIChatApi(),
    "ollama": OpenAIChatApi(),
    "openai-chat": OpenAIChatApi(),
    "openai-responses": Responses(),
}
BASH = OfferedTool("bash", "Runs a command", {"type": "object", "properties": {"command": {"type": "string"}}})
STATUS = OfferedTool("mcp.git.status", "Shows the state", {"type": "object", "properties": {}})
HISTORY = CompletionRequest(
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


def said(api: ModelApi, text: str) -> StubResponse:
    return StubResponse(encode_sse(api.stream_text(text), done=isinstance(api, OpenAIChatApi)))


def text_of(pieces: list[Any]) -> str:
    return "".join(piece.text for piece in pieces if isinstance(piece, TextChunk))


@pytest.mark.parametrize("provider", APIS)
def test_each_provider_speaks_and_counts(provider: str) -> None:
    async def work() -> None:
        async with serving(said(APIS[provider], "Good day.")) as server, remote_model(server.url, provider) as model:
            assert await collect_pieces(model, HISTORY) == [TextChunk("Good day."), TokenUsage(10, 5)]
        assert len(server.got) == 1
        assert KEY in json.dumps(server.got[0].headers)
        told = json.dumps(server.got[0].body)
        for text in ("Be brief.", "Look.", "Looking.", "in a hurry", "a.py", "clean", "And?", "Runs a command"):
            assert text in told
        assert "mcp__git__status" in told
        assert "mcp.git.status" not in told

    run_async(work)


@pytest.mark.parametrize("provider", APIS)
def test_each_provider_calls_tools(provider: str) -> None:
    async def work() -> None:
        api = APIS[provider]
        answer = StubResponse(
            encode_sse(
                api.stream_call(ShellCall("call_9", "mcp__git__status", {"all": True})), isinstance(api, OpenAIChatApi)
            )
        )
        async with serving(answer) as server, remote_model(server.url, provider) as model:
            wants, spent = await collect_pieces(model, HISTORY)
        assert isinstance(wants, RequestedCall)
        assert (wants.id, wants.name, json.loads(wants.arguments)) == ("call_9", "mcp.git.status", {"all": True})
        assert spent == TokenUsage(10, 5)

    run_async(work)


@pytest.mark.parametrize("provider", APIS)
def test_nobody_retries_behind_our_back(provider: str) -> None:
    async def work() -> None:
        answer = error_response(500, {"error": {"message": "on fire", "code": 500, "status": "INTERNAL"}})
        async with serving(answer) as server, remote_model(server.url, provider) as model:
            pieces, error = await collect_failure(model, make_request())
        assert (pieces, error.code, len(server.got)) == ([], ErrorCode.INTERNAL, 1)
        assert "on fire" in str(error)

    run_async(work)


def test_text_comes_in_pieces_as_it_is_sent() -> None:
    async def work() -> None:
        parts = encode_sse([chunk({"role": "assistant", "content": "One "}), chunk({"content": "two"})])
        async with serving(StubResponse((*parts, HANG))) as server, remote_model(server.url) as model:
            async with aclosing(model.stream(make_request())) as pieces:  # type: ignore[type-var]
                assert await anext(pieces) == TextChunk("One ")
                assert await anext(pieces) == TextChunk("two")
                assert not server.left.is_set()
            await asyncio.wait_for(server.left.wait(), 10)

    run_async(work)


def test_leaving_a_model_with_fallbacks_closes_the_connection() -> None:
    async def work() -> None:
        begun = encode_sse([chunk({"role": "assistant", "content": "One "})])
        async with serving(StubResponse((*begun, HANG))) as server, remote_model(server.url) as model:
            pieces = FallbackModel([model, model]).stream(make_request())
            assert await anext(pieces) == TextChunk("One ")
            await pieces.aclose()  # type: ignore[attr-defined]
            await asyncio.wait_for(server.left.wait(), 10)

    run_async(work)


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
        async with serving(said(APIS[provider], "Yes.")) as server:
            model = RemoteModel(parse_address(f"{provider}:a-model@{server.url}/v1", SECRETS))
            await collect_pieces(model, make_request())
            await model.close()
        assert "leak" not in json.dumps([server.got[0].path, server.got[0].headers, server.got[0].body])

    run_async(work)


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
        async with serving(StubResponse(encode_sse(deltas(), done=True))) as server, remote_model(server.url) as model:
            pieces = await collect_pieces(model, make_request(tools=(BASH,)))
        assert pieces == [
            TextChunk("Both."),
            RequestedCall("call_0", "bash", '{"command": "ls"}'),
            RequestedCall("call_1", "bash", '{"command": "pwd"}'),
            TokenUsage(7, 3),
        ]
        assert server.got[0].body["stream_options"] == {"include_usage": True}

    run_async(work)


def test_anthropic_parallel_calls_with_split_arguments() -> None:
    def sent() -> Iterator[Json]:
        first, *_, _, ended, stop = AnthropicApi().stream_text("")
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
        async with serving(StubResponse(encode_sse(sent()))) as server, remote_model(server.url, "anthropic") as model:
            first, second, spent = await collect_pieces(model, make_request(tools=(BASH,)))
        assert (first, second) == (
            RequestedCall("toolu_0", "bash", '{"command": "ls"}'),
            RequestedCall("toolu_1", "bash", "{}"),
        )
        assert spent == TokenUsage(10, 5)

    run_async(work)


def test_malformed_arguments_are_passed_on_as_text() -> None:
    async def work() -> None:
        function = {"name": "bash", "arguments": '{"command": rm'}
        call = chunk({"tool_calls": [{"index": 0, "id": "call_1", "type": "function", "function": function}]})
        answer = StubResponse(encode_sse([call, chunk({}, "tool_calls")], done=True))
        async with serving(answer) as server, remote_model(server.url) as model:
            pieces = await collect_pieces(model, make_request(tools=(BASH,)))
        assert pieces == [RequestedCall("call_1", "bash", '{"command": rm')]
        assert len(server.got) == 1

    run_async(work)


@pytest.mark.parametrize("provider", APIS)
def test_a_server_that_dies_in_the_middle_is_a_network_error(provider: str) -> None:
    async def work() -> None:
        whole = encode_sse(APIS[provider].stream_text("Half of"))
        async with serving(StubResponse((*whole[:-1], DIE))) as server, remote_model(server.url, provider) as model:
            _, error = await collect_failure(model, make_request())
        assert error.code is ErrorCode.NETWORK, error

    run_async(work)


@pytest.mark.parametrize("provider", APIS)
def test_a_stream_that_ends_too_soon_calls_nothing(provider: str) -> None:
    async def work() -> None:
        whole = encode_sse(APIS[provider].stream_call(ShellCall("call_1", "bash", {"command": "ls"})))
        cut = whole[:-2] if provider == "anthropic" else whole[:-1]
        if provider == "google":
            cut = (whole[0].replace(b', "finishReason": "STOP"', b""),)
        async with serving(StubResponse(cut)) as server, remote_model(server.url, provider) as model:
            pieces, error = await collect_failure(model, make_request(tools=(BASH,)))
        assert (pieces, error.code) == ([], ErrorCode.NETWORK), error

    run_async(work)


@pytest.mark.parametrize("provider", APIS)
def test_a_slow_first_byte_is_a_timeout(provider: str) -> None:
    async def work() -> None:
        async with (
            serving(StubResponse(silent=True)) as server,
            remote_model(server.url, provider, silence=0.3) as model,
        ):
            _, error = await collect_failure(model, make_request())
            assert error.code is ErrorCode.TIMEOUT, error
            await asyncio.wait_for(server.left.wait(), 10)

    run_async(work)


def test_silence_in_the_middle_is_a_timeout_whatever_keeps_the_connection_alive() -> None:
    async def work() -> None:
        begun = encode_sse([chunk({"role": "assistant", "content": "One "})])
        async with serving(StubResponse((*begun, b": still here\n\n", HANG))) as server:
            async with remote_model(server.url, silence=1) as model:
                pieces, error = await collect_failure(model, make_request())
            assert (pieces, error.code) == ([TextChunk("One ")], ErrorCode.TIMEOUT)
            await asyncio.wait_for(server.left.wait(), 10)

    run_async(work)


def test_nobody_listens() -> None:
    async def work() -> None:
        async with serving(StubResponse()) as server:
            url = server.url
        async with remote_model(url) as model:
            _, error = await collect_failure(model, make_request())
        assert error.code is ErrorCode.NETWORK, error

    run_async(work)


@pytest.mark.parametrize("provider", APIS)
def test_cancelling_closes_the_connection(provider: str) -> None:
    async def work() -> None:
        begun = encode_sse(APIS[provider].stream_text("One"))[:-1]
        async with serving(StubResponse((*begun, HANG))) as server, remote_model(server.url, provider) as model:
            task = asyncio.create_task(collect_pieces(model, make_request()))
            await asyncio.wait_for(server.hangs.wait(), 10)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(server.left.wait(), 10)

    run_async(work)


def test_messages_are_told_as_they_stand() -> None:
    async def work() -> None:
        async with serving(said(OpenAIChatApi(), "Yes.")) as server, remote_model(server.url) as model:
            await collect_pieces(model, CompletionRequest(HISTORY.messages, HISTORY.tools, max_tokens=50))
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

    run_async(work)


def test_responses_are_not_kept_by_openai() -> None:
    async def work() -> None:
        answer = said(Responses(), "Yes.")
        async with serving(answer) as server, remote_model(server.url, "openai-responses") as model:
            await collect_pieces(model, make_request())
        assert server.got[0].body["store"] is False

    run_async(work)


def test_mistral_gets_ids_of_nine_characters() -> None:
    async def work() -> None:
        async with serving(said(OpenAIChatApi(), "Yes.")) as server, remote_model(server.url, "mistral") as model:
            await collect_pieces(model, HISTORY)
        messages = server.got[0].body["messages"]
        called = [call["id"] for message in messages for call in message.get("tool_calls") or ()]
        answered = [message["tool_call_id"] for message in messages if message["role"] == "tool"]
        assert called == answered
        assert [len(id) for id in called] == [9, 9]

    run_async(work)


def test_a_refusal_is_heard() -> None:
    async def work() -> None:
        answer = StubResponse(
            encode_sse([chunk({"role": "assistant", "refusal": "I will not."}), chunk({}, "stop")], done=True)
        )
        async with serving(answer) as server, remote_model(server.url) as model:
            assert text_of(await collect_pieces(model, make_request())) == "I will not."

    run_async(work)


def test_many_at_once() -> None:
    async def work() -> None:
        async with serving(said(OpenAIChatApi(), "Yes.")) as server, remote_model(server.url) as model:
            answers = await asyncio.gather(*(collect_pieces(model, make_request(str(number))) for number in range(20)))
        assert answers == [[TextChunk("Yes."), TokenUsage(10, 5)]] * 20
        assert {got.body["messages"][0]["content"] for got in server.got} == {str(number) for number in range(20)}

    run_async(work)

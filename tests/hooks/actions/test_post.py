"""An event posted to a URL, and its response read as an answer."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from hookline.hooks.actions.post import URL_PATTERN, PostEvent, url_origin
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.event import Event
from hookline.hooks.host import NullHost, PostRequest, PostResponse
from hookline.hooks.outcome import SILENT, ActionError, Audience, FailureKind, Note, Outcome, Verdict
from hookline.hooks.templates import DataTemplate

URL = "https://example.com/hook?key=secret"
EVENT = Event("tool.before", {})


class PostHost(NullHost):
    def __init__(self, response: PostResponse) -> None:
        self.response = response
        self.requests: list[PostRequest] = []

    async def post(self, request: PostRequest) -> PostResponse:
        self.requests.append(request)
        return self.response


def post(text: str, status: int = 200, parser: ResultParser | None = None) -> tuple[Outcome, PostRequest]:
    host = PostHost(PostResponse(status, text))
    reads = parser or ResultParser(ResultFormat.CLAUDE)
    action = PostEvent(URL, DataTemplate({"a": "ü\ud800"}), reads, timedelta(seconds=5), (("X", "$T"),), ("T",))
    return asyncio.run(action.run(EVENT, host)), host.requests[0]


def test_the_body_is_json_that_any_server_can_read() -> None:
    outcome, request = post("")
    assert outcome == SILENT
    assert request.body.decode("utf-8") in ('{"a":"ü\\ud800"}', '{"a":"\\u00fc\\ud800"}')
    assert (request.url, request.headers, request.variables) == (URL, (("X", "$T"),), ("T",))
    assert request.timeout == timedelta(seconds=5)


def test_the_response_is_read_like_a_programs_output() -> None:
    denied = '{"hookSpecificOutput": {"hookEventName": "PreToolUse", "permissionDecision": "deny"}}'
    assert post(denied)[0].verdict is Verdict.DENY
    assert post("hello", parser=ResultParser(ResultFormat.NEVER, Audience.USER))[0].notes == (
        Note("hello", Audience.USER),
    )


@pytest.mark.parametrize(("text", "status"), [("", 500), ("{}", 302), ("<html>", 200), ("{}", 199)])
def test_what_is_no_answer_is_a_failure_that_hides_the_path(text: str, status: int) -> None:
    with pytest.raises(ActionError) as failed:
        post(text, status)
    assert failed.value.failure.kind is FailureKind.UNREADABLE_ANSWER
    assert failed.value.failure.text.endswith("from https://example.com")


@pytest.mark.parametrize(
    ("url", "origin"),
    [
        ("http://a.b:80/c/d", "http://a.b:80"),
        ("https://a.b?key=secret", "https://a.b"),
        ("https://a.b", "https://a.b"),
    ],
)
def test_only_the_origin_of_a_url_is_shown(url: str, origin: str) -> None:
    assert URL_PATTERN.fullmatch(url)
    assert url_origin(url) == origin


@pytest.mark.parametrize("url", ["ftp://a", "http://", "http://user@a", "http://a\\b", "http://a/b c", "a.b"])
def test_what_is_no_plain_url_is_refused(url: str) -> None:
    assert not URL_PATTERN.fullmatch(url)

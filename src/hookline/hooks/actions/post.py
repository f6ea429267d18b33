"""POST the event to a URL, and read the response like a program's output."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Final

from hookline.hooks.actions.description import describe_input
from hookline.hooks.actions.json_result import strip_padding
from hookline.hooks.actions.program_result import ResultFormat, ResultParser
from hookline.hooks.event import Event, FactPath
from hookline.hooks.host import Host, PostRequest, ProgramResult
from hookline.hooks.outcome import ActionError, FailureKind, Outcome
from hookline.hooks.protocols import May
from hookline.hooks.templates import DataTemplate
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern

URL_PATTERN: Final = lazy_pattern(r"https?://[^\s/?#@\\]+(?:[/?#]\S*)?")


@dataclass(frozen=True, slots=True)
class PostEvent:
    url: str
    body: DataTemplate  # rendered as compact JSON
    result_parser: ResultParser
    timeout: timedelta
    headers: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()  # environment variables that the URL's path and the headers may use
    instant = False
    constant = None
    label = "the action post"

    @property
    def may(self) -> May:
        return self.result_parser.may

    def changes(self) -> tuple[FactPath, ...]:
        return ()

    def reads(self) -> tuple[FactPath, ...]:
        return self.body.reads()

    def describe(self) -> Iterator[tuple[str, str]]:
        yield "post", self.url
        yield from (("header", f"{name}: {text}") for name, text in self.headers)
        yield from describe_input("body", self.body)

    async def run(self, event: Event, host: Host) -> Outcome:
        body = self.body.render_json(event).encode("utf-8", "backslashreplace")
        answer = await host.post(PostRequest(self.url, body, self.headers, self.variables, self.timeout))
        if not 200 <= answer.status < 300:
            raise ActionError(FailureKind.UNREADABLE_ANSWER, f"got status {answer.status} from {url_origin(self.url)}")
        said = strip_padding(answer.text)
        if self._wants_json and said and not said.startswith("{"):
            raise ActionError(FailureKind.UNREADABLE_ANSWER, f"got text that is not JSON from {url_origin(self.url)}")
        return self.result_parser.parse(
            ProgramResult(0, answer.text, "", answer.dropped, is_cut=bool(answer.dropped)), event
        )

    @property
    def _wants_json(self) -> bool:
        """Plain text is an error if it is not for anyone: it may be any web page."""
        return self.result_parser.format is ResultFormat.CLAUDE and self.result_parser.tell is None


def url_origin(url: str) -> str:
    """The URL without its path and query, which may contain secrets."""
    return "/".join(url.split("/", 3)[:3]).partition("?")[0]

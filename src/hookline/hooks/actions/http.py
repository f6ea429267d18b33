"""Post the event to a URL, and read what comes back as if a program had written it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from hookline.hooks.action import May
from hookline.hooks.actions.object_answer import bare
from hookline.hooks.actions.reading import Reading, Reads
from hookline.hooks.event import Event, Path
from hookline.hooks.filled import Filled
from hookline.hooks.host import Finished, Host, Post
from hookline.hooks.outcome import Failed, FailureKind, Outcome

URL: Final = re.compile(r"https?://[^\s/?#@\\]+(?:[/?#]\S*)?")


@dataclass(frozen=True, slots=True)
class PostEvent:
    url: str
    body: Filled  # rendered as compact JSON
    reading: Reading
    timeout: timedelta
    headers: tuple[tuple[str, str], ...] = ()
    variables: tuple[str, ...] = ()  # of the environment, that the headers may name
    instant = False
    constant = None

    @property
    def may(self) -> May:
        return self.reading.may

    def changes(self) -> tuple[Path, ...]:
        return ()

    def reads(self) -> tuple[Path, ...]:
        return self.body.reads()

    async def run(self, event: Event, host: Host) -> Outcome:
        body = self.body.text(event).encode("utf-8", "backslashreplace")
        answer = await host.post(Post(self.url, body, self.headers, self.variables, self.timeout))
        if not 200 <= answer.status < 300:
            raise Failed(FailureKind.UNREADABLE_ANSWER, f"got status {answer.status} from {place(self.url)}")
        said = bare(answer.text)
        if self._wants_json and said and not said.startswith("{"):
            raise Failed(FailureKind.UNREADABLE_ANSWER, f"got words that are no JSON from {place(self.url)}")
        return self.reading.outcome(Finished(0, answer.text, "", answer.dropped), event)

    @property
    def _wants_json(self) -> bool:
        """Where nobody is to be told words, a page that says something else than an answer is none."""
        return self.reading.how is Reads.CLAUDE and self.reading.tell is None


def place(url: str) -> str:
    """The URL without what may be a secret in it."""
    return "/".join(url.split("/", 3)[:3]).partition("?")[0]

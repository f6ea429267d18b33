from __future__ import annotations

from dataclasses import FrozenInstanceError

import pytest

from hookline.runtime import updates
from hookline.runtime.updates import Ending, ExchangeEnded, StatusMessage, TextDelta, Update

KINDS = [kind for kind in vars(updates).values() if isinstance(kind, type) and issubclass(kind, Update)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_update_begins_with_its_thread_and_agent(kind: type[Update]) -> None:
    assert kind.__match_args__[:2] == ("thread", "agent")


def test_the_speaker_is_never_positional() -> None:
    with pytest.raises(TypeError):
        TextDelta("t", "a", "text", "speaker")  # type: ignore[call-arg]
    assert TextDelta("t", "a", "text", speaker="b").speaker == "b"


def test_an_update_cannot_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        StatusMessage("t", "a", "text").text = "other"  # type: ignore[misc]


def test_an_ending_is_its_word() -> None:
    assert f"{ExchangeEnded('t', 'a', Ending.SESSION_STOP, '').ending}" == "session_stop"

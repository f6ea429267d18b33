from __future__ import annotations

from hookline.hooks.record_settings import DEFAULT_SETTINGS, RecordedFacts


def test_decisions_are_recorded_unless_the_user_says_otherwise() -> None:
    assert DEFAULT_SETTINGS.enabled
    assert DEFAULT_SETTINGS.facts is RecordedFacts.MASKED
    assert DEFAULT_SETTINGS.keep is None

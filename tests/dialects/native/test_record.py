from __future__ import annotations

from datetime import timedelta

import pytest

from hookline.config.reader import read_text
from hookline.dialects.native.dialect import DIALECT
from hookline.hooks.record_settings import DEFAULT_SETTINGS, RecordedFacts, RecordSettings, Telemetry
from hookline.project import load_text


def settings(text: str) -> RecordSettings:
    document, _ = read_text(f"hooks: []\n{text}\n", "hookline.yaml")
    assert document is not None
    loaded = DIALECT.load(document)
    assert loaded.problems == ()
    return loaded.record or DEFAULT_SETTINGS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", DEFAULT_SETTINGS),
        ("record: off", RecordSettings(enabled=False)),
        ("record: 'off'", RecordSettings(enabled=False)),
        ("record: false", RecordSettings(enabled=False)),
        ("record: {}", DEFAULT_SETTINGS),
        ("record: null", DEFAULT_SETTINGS),
        ("record: {facts: none}", RecordSettings(facts=RecordedFacts.NONE)),
        ("record: {facts: full, keep: 7d}", RecordSettings(True, RecordedFacts.FULL, timedelta(days=7))),
        ("record: {keep: 12h}", RecordSettings(keep=timedelta(hours=12))),
        ("record: {opentelemetry: true}", RecordSettings(telemetry=Telemetry("http://localhost:4318/v1/traces"))),
        ("record: {opentelemetry: false}", DEFAULT_SETTINGS),
        (
            "record: {opentelemetry: {endpoint: 'https://otel.example/', headers: {x-key: k}}}",
            RecordSettings(telemetry=Telemetry("https://otel.example/v1/traces", (("x-key", "k"),))),
        ),
        (
            "record: {opentelemetry: {endpoint: 'http://a/v1/traces'}}",
            RecordSettings(telemetry=Telemetry("http://a/v1/traces")),
        ),
    ],
)
def test_settings(text: str, expected: RecordSettings) -> None:
    assert settings(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "record: on",
        "record: [masked]",
        "record: {facts: some}",
        "record: {keep: 30}",
        "record: {keep: 0d}",
        "record: {keep: 30days}",
        "record: {kept: 30d}",
        "record: {opentelemetry: yes please}",
        "record: {opentelemetry: {endpoint: localhost}}",
        "record: {opentelemetry: {url: 'http://a'}}",
        "record: {opentelemetry: {headers: {x-key: 1}}}",
    ],
)
def test_mistakes_are_problems(text: str) -> None:
    book = load_text(f"hooks: []\n{text}\n", "hookline.yaml")
    assert [problem.line for problem in book.problems] == [2]

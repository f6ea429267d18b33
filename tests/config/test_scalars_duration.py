from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.config.scalars import MAX_DURATION, format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "length"),
    [
        ("10s", timedelta(seconds=10)),
        ("500ms", timedelta(milliseconds=500)),
        ("2m", timedelta(minutes=2)),
        ("1h", timedelta(hours=1)),
        ("1.5s", timedelta(seconds=1.5)),
        ("0s", timedelta()),
        ("24h", timedelta(hours=24)),
        ("0.001ms", timedelta(microseconds=1)),
    ],
)
def test_a_number_and_a_unit_is_a_duration(text: str, length: timedelta) -> None:
    assert parse_duration(text) == length


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("5", "has no unit; write 5s for seconds or 5ms for milliseconds"),
        ("1.5", "has no unit"),
        ("-5s", "is negative"),
        ("25h", "at most 24h"),
        ("86400001ms", "at most 24h"),
        ("9" * 5000 + "s", "is not a duration"),
        ("999999999999h", "at most 24h"),
        ("0.0001ms", "too short"),
        ("", "is not a duration"),
        ("5 s", "is not a duration"),
        ("5S", "is not a duration"),
        ("5d", "is not a duration"),
        ("1e3s", "is not a duration"),
        (".5s", "is not a duration"),
        ("٥s", "is not a duration"),
        ("5s\n", "is not a duration"),
        ("nan", "is not a duration"),
    ],
)
def test_anything_else_is_refused_with_what_to_write(text: str, says: str) -> None:
    with pytest.raises(ValueError) as refusal:
        parse_duration(text)
    assert says in str(refusal.value)
    assert len(str(refusal.value)) < 250


@pytest.mark.parametrize(
    ("length", "text"),
    [
        (timedelta(hours=2), "2h"),
        (timedelta(seconds=90), "90s"),
        (timedelta(seconds=1.5), "1500ms"),
        (timedelta(minutes=2), "2m"),
        (timedelta(), "0s"),
        (timedelta(microseconds=1), "0.001ms"),
    ],
)
def test_a_duration_is_written_in_its_largest_whole_unit(length: timedelta, text: str) -> None:
    assert format_duration(length) == text


@given(st.timedeltas(min_value=timedelta(), max_value=MAX_DURATION))
def test_what_is_written_reads_back_unchanged(length: timedelta) -> None:
    assert parse_duration(format_duration(length)) == length

import math
from typing import Any

import pytest

from hookline.config.reader import FileFormat, read_text
from hookline.config.scalars import NumberTooLargeError, parse_core_scalar

CORE_SCHEMA: list[tuple[str, Any]] = [
    *((word, None) for word in ("null", "Null", "NULL", "~", "")),
    *((word, True) for word in ("true", "True", "TRUE")),
    *((word, False) for word in ("false", "False", "FALSE")),
    ("0", 0),
    ("-0", 0),
    ("+12", 12),
    ("-19", -19),
    ("0777", 777),
    ("0o7", 7),
    ("0o17", 15),
    ("0x3A", 58),
    ("0xff", 255),
    ("0.", 0.0),
    ("-0.0", -0.0),
    (".5", 0.5),
    ("+12e03", 12000.0),
    ("-2E+05", -200000.0),
    ("1e5", 100000.0),
    ("12.3e-2", 0.123),
    (".inf", math.inf),
    ("+.INF", math.inf),
    ("-.Inf", -math.inf),
]
TEXT_LINES = """
on off yes no y n Yes NO ON Off nULL nul TRue tRUE truE nan NaN inf Infinity .Nan .iNF -.nan +.nan
12:30:00 190:20:30 2024-01-01 2024-01-01T00:00:00Z 1_000 0b101 0o8 0o 0x 0xg 0X1 0O7 -0x1 +0o7
1e 1e+ e5 . .. + - -- +-1 1.2.3 1,000 0.5. .e5 1__0 ١٢ = << n/a null? t f true! 5s
"""
TEXT = TEXT_LINES.split()


@pytest.mark.parametrize(("word", "value"), CORE_SCHEMA)
def test_core_schema_words_have_their_type(word: str, value: Any) -> None:
    assert parse_core_scalar(word) == value
    assert type(parse_core_scalar(word)) is type(value)


@pytest.mark.parametrize("word", [".nan", ".NaN", ".NAN"])
def test_not_a_number(word: str) -> None:
    assert math.isnan(parse_core_scalar(word))


@pytest.mark.parametrize("word", TEXT)
def test_everything_else_is_text(word: str) -> None:
    assert parse_core_scalar(word) == word


def test_a_file_reads_the_same_words_as_text() -> None:
    words = [word for word in TEXT if word != "-"]
    document, problems = read_text("".join(f"- {word}\n" for word in words), "f", FileFormat.YAML)
    assert problems == ()
    assert document is not None
    assert document.value == words


@pytest.mark.parametrize(("word", "value"), CORE_SCHEMA)
def test_quotes_make_text_of_any_word(word: str, value: Any) -> None:
    document, _ = read_text(f"['{word}', \"{word}\", !!str {word}, ! {word}]", "f", FileFormat.YAML)
    assert document is not None
    assert document.value == [word] * 4


@pytest.mark.parametrize("word", ["9" * 5000, "-" + "9" * 301, "0x" + "f" * 5000, "1e999", "-1e999", "9" * 400 + ".0"])
def test_numbers_beyond_reason_are_refused(word: str) -> None:
    with pytest.raises(NumberTooLargeError):
        parse_core_scalar(word)

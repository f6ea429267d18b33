"""What looks like a secret, and what does not."""

from __future__ import annotations

import time

import pytest

from hookline.hooks.secret_formats import (
    FORMATS,
    HINT_WORDS,
    HINTS,
    Secret,
    SecretFormat,
    find_secrets,
    find_tokens,
    is_named_secret,
    is_secret_name,
    replace_secrets,
)
from hookline.patterns.pattern import pattern

RANDOM = "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8s9T0u1V2w3X4y5Z6A7b8C9d0E1f2G3h4I5j6"
BODIES = (RANDOM, RANDOM[:64], RANDOM[:36], RANDOM[:35], "0123456789abcdef" * 4, "0123456789abcdef" * 2) + (
    RANDOM.upper()[:16],
    "".join(chr(65 + n % 26) + str(n % 10) for n in range(29)),
    f"{RANDOM[:40]}.{RANDOM[:40]}.{RANDOM[:20]}",
    f"-----\n{RANDOM}\n-----END PRIVATE KEY-----",
)


@pytest.mark.parametrize("each", FORMATS, ids=lambda each: f"{each.name} {each.starts[0]}")
def test_every_format_is_found(each: SecretFormat) -> None:
    hints = pattern(HINTS)
    for start in each.starts:
        text = next(f"see {start}{body} there" for body in BODIES if any(find_secrets(f"see {start}{body} there")))
        assert next(find_secrets(text)).kind == each.name
        assert any(find_tokens(text))
        assert hints.search(text)
        assert any(word in text.lower() for word in HINT_WORDS)


def test_a_key_with_dashes_in_its_headers_is_found_to_its_end() -> None:
    text = (
        f"-----BEGIN PGP PRIVATE KEY BLOCK-----\nComment: made-by-me\n\n{RANDOM}\n-----END PGP PRIVATE KEY BLOCK-----"
    )
    assert next(find_secrets(text)) == Secret("private key", 0, len(text))


def test_the_token_of_a_telegram_bot_is_found_in_its_url() -> None:
    text = f"https://api.telegram.org/bot110201543:AA{RANDOM[:33]}/getMe"
    assert [each.kind for each in find_secrets(text)] == ["Telegram bot token"]


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ('password = "hunter2Xy9"', "hunter2Xy9"),
        ("DB_PASSWORD: 'p4ss-w0rd-x'", "p4ss-w0rd-x"),
        ('{"client_secret": "f83jd93kd02k"}', "f83jd93kd02k"),
        ('{\\"api_key\\": \\"f83jd93kd02k\\"}', "f83jd93kd02k"),
        ("token := a8f5f167f44f4964", "a8f5f167f44f4964"),
        ("tokenizer_token = a8f5f167f44f4964", "a8f5f167f44f4964"),
        ("secret_id: a8f5f167f44f4964", "a8f5f167f44f4964"),
        ("passwordName1='p4ss-w0rd-x'", "p4ss-w0rd-x"),
        ("mysql://root:t0psecret@db:3306/x", "t0psecret"),
    ],
)
def test_a_value_that_is_called_a_secret(text: str, secret: str) -> None:
    assert [text[each.start : each.end] for each in find_secrets(text)] == [secret]
    assert pattern(HINTS).search(text)


@pytest.mark.parametrize(
    "text",
    [
        "AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIn0.abc",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "password=<your password 1>",
        "PASSWORD=changeme1",
        "token = get_token(1)",
        "password: process.env.PASSWORD1",
        "api_key: str = None",
        "token_count: 12345678901",
        "secret: my-secret-name",
        'tokenizer = "cl100k_base"',
        "tokenizer_name: bert-base-uncased-v2",
        'passwordless_login = "enabled2024"',
        "secretName: app-tls-2024",
        "credentialsId: 'aws-prod-2024'",
        'const apiKeyHeader = "x-api-key-v2"',
        "POSTGRES_PASSWORD_FILE: /run/secrets/db_password_v1",
        'private_key_path = "~/.ssh/id_ed25519"',
        'secret_arn = "arn:aws:secretsmanager:eu-west-1:123456789012:secret:db-AbCdEf"',
        '"token_endpoint": "https://login.example.org/oauth2/v2.0/token"',
        "token_expires_at: 2026-01-01T00:00:00",
        "sk-folding-cube-container-wide",
        "the task-1a2b3c4d5e6f7g8h9i0j",
        "https://example.com:8080/x@y",
        "postgres://user:$PASSWORD@localhost/x",
        "-----BEGIN PRIVATE KEY-----",
        "",
    ],
)
def test_what_is_no_secret(text: str) -> None:
    assert list(find_secrets(text)) == []


def test_overlapping_secrets_are_replaced_once() -> None:
    assert replace_secrets("abcdef", [Secret("a", 1, 3), Secret("b", 2, 5), Secret("c", 2, 3)], "*") == "a*f"


def test_a_field_for_another_thing_than_the_secret() -> None:
    assert is_named_secret("client_secret", "f83jd93kd02k")
    assert is_named_secret("token_name_secret", "f83jd93kd02k")
    assert not is_named_secret("secretName", "f83jd93kd02k")


def test_names() -> None:
    assert is_secret_name("DB_PASSWORD")
    assert not is_secret_name("path")


@pytest.mark.parametrize(
    "piece",
    ["password", "password=", "token: ", "eyJ", "eyJ-", "eyJaaaaaaaa.", "-----BEGIN PRIVATE KEY-----", "://a:", "sk-"]
    + ['"', "password='", "secret_token_apikey=", "AKIA"],
)
@pytest.mark.timing
def test_no_text_takes_long(piece: str) -> None:
    began = time.monotonic()
    list(find_secrets(piece * (200_000 // len(piece))))
    assert time.monotonic() - began < 3

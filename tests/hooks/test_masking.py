"""What the log must not show."""

from __future__ import annotations

import time

import pytest

from hookline.hooks.masking import mask, secret_values


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2 x", "hunter2"),
        ('{"password": "hunt er2"}', "hunt er2"),
        ('{\\"api_key\\": \\"hunter2\\"}', "hunter2"),
        ("export API_KEY='hunter2'", "hunter2"),
        ("MY_SECRET_TOKEN: hunter2", "hunter2"),
        ("Authorization: Bearer abcdef123456", "abcdef123456"),
        ("authorization: basic dXNlcjpwYXNz", "dXNlcjpwYXNz"),
        ("curl -H 'X: y' https://me:hunter2@example.com/", "hunter2"),
        ("login --password s3cr3t --quiet", "s3cr3t"),
        ("login --db-password 's3 cr3t'", "s3 cr3t"),
        ("x --token s3cr3t", "s3cr3t"),
        ("x --api-key s3cr3t", "s3cr3t"),
        ("x --secret s3cr3t", "s3cr3t"),
        ('["x", "--secret", "s3cr3t"]', "s3cr3t"),
        ("curl -u me:s3cr3t https://example.com", "s3cr3t"),
        ("curl --user 'me:s3 cr3t' x", "s3 cr3t"),
        ("git clone https://:s3cr3t@example.com/x", "s3cr3t"),
        ("git clone https://me:s3@cr3t@example.com/x", "cr3t"),
        ("key sk-abcdefghijklmnop", "abcdefghijklmnop"),
        ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "abcdefghijklmnopqrstuvwxyz"),
        ("AKIAABCDEFGHIJKLMNOP", "ABCDEFGHIJKLMNOP"),
        ("xoxb-1234567890-abc", "1234567890"),
        ("eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "eyJzdWIiOiIx"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nabc\n-----END RSA PRIVATE KEY-----", "MIIEow"),
        ("-----BEGIN PRIVATE KEY-----\nMIIEow", "MIIEow"),
    ],
)
def test_a_secret_is_hidden(text: str, secret: str) -> None:
    assert secret not in mask(text)
    assert "***" in mask(text)


@pytest.mark.parametrize(
    "text",
    [
        "git status",
        "echo token",
        "the password is long",
        "a=b",
        "sk-1",
        "https://example.com:80/x",
        "docker run -u 1000:1000 x",
        "x --token",
    ],
)
def test_plain_text_stays(text: str) -> None:
    assert mask(text) == text


def test_what_is_too_long_is_cut() -> None:
    assert len(mask("x" * 1_000_000)) < 20_000


@pytest.mark.parametrize(
    "piece", ["password", "token: ", "eyJ", "a.", "-----BEGIN PRIVATE KEY-----", "://a:", "sk-", "bearer ", '"', "\\"]
)
@pytest.mark.timing
def test_no_text_takes_long(piece: str) -> None:
    began = time.monotonic()
    mask(piece * (20_000 // len(piece)))
    assert time.monotonic() - began < 5


def test_known_values_are_hidden_before_a_text_is_cut() -> None:
    values = secret_values(
        {"A_TOKEN": "horse-battery", "B_TOKEN": "horse-battery-staple", "KEY": "short", "HOME": "/home/ann"}
    )
    assert values == ("horse-battery-staple", "horse-battery")
    text = "x" * 16_380 + "horse-battery-staple /home/ann short"
    assert "horse" not in mask(text, values)
    assert mask("a horse-battery-staple in /home/ann", values) == "a *** in /home/ann"


@pytest.mark.parametrize("name", ["DEPLOY_TOKEN", "AWS_SECRET_ACCESS_KEY", "OPENAI_API_KEY", "pgpassword", "X_KEYS"])
def test_a_variable_is_secret_by_its_name(name: str) -> None:
    assert secret_values({name: "correct-horse"}) == ("correct-horse",)

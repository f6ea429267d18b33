"""How secrets look: the token formats of providers, private keys, and values that are called a secret.

This list is the only one. The condition `secrets`, the action `redact` and the masking of logs and records use it.

Finding takes linear time: a format begins with fixed text, which is looked for first, and what follows is bounded or
ends before another match can begin.
"""

from __future__ import annotations

import math
import re
import time
from collections import Counter
from collections.abc import Iterator
from functools import cache, lru_cache
from typing import Final, NamedTuple

from hookline.errors import UndecidedError
from hookline.hooks.match_deadline import NO_DEADLINE
from hookline.lazy_dataclasses import dataclass
from hookline.lazy_imports import lazy_pattern


@dataclass(frozen=True, slots=True)
class SecretFormat:
    """A kind of token: fixed texts with which it begins, and what follows them."""

    name: str
    starts: tuple[str, ...]
    rest: str  # a regular expression
    is_random: bool = True  # it has digits and letters, so that a name with the same start is not one


_WORD: Final = r"[A-Za-z0-9]"
_URL_SAFE: Final = r"[A-Za-z0-9_-]"
FORMATS: Final = (
    SecretFormat("AWS access key", ("AKIA", "ASIA", "ABIA", "ACCA"), r"[A-Z0-9]{16}(?![A-Za-z0-9])", is_random=False),
    SecretFormat("GitHub token", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), _WORD + "{16,255}", is_random=False),
    SecretFormat("GitHub token", ("github_pat_",), r"[A-Za-z0-9_]{16,255}", is_random=False),
    SecretFormat(
        "GitLab token",
        ("glpat-", "gloas-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-"),
        _URL_SAFE + "{16,200}",
    ),
    SecretFormat(
        "Slack token",
        tuple(f"xox{letter}-" for letter in "abceoprs") + ("xapp-",),
        r"[A-Za-z0-9-]{8,200}",
    ),
    SecretFormat("Slack webhook", ("hooks.slack.com/services/", "hooks.slack.com/workflows/"), r"[A-Za-z0-9/]{20,200}"),
    SecretFormat("Stripe key", ("sk_live_", "sk_test_", "rk_live_", "rk_test_"), _WORD + "{8,200}", is_random=False),
    SecretFormat("Stripe webhook secret", ("whsec_",), r"[A-Za-z0-9+/=]{24,200}"),
    SecretFormat("API key", ("sk-",), _URL_SAFE + "{16,200}"),  # OpenAI, Anthropic, OpenRouter and others
    SecretFormat("Google API key", ("AIza",), _URL_SAFE + r"{35}(?![A-Za-z0-9_-])"),
    SecretFormat("Google access token", ("ya29.",), _URL_SAFE + "{20,2048}"),
    SecretFormat("Google client secret", ("GOCSPX-",), _URL_SAFE + "{20,64}"),
    SecretFormat("npm token", ("npm_",), _WORD + r"{36}(?![A-Za-z0-9])"),
    SecretFormat("PyPI token", ("pypi-",), _URL_SAFE + "{50,1024}"),
    SecretFormat("Azure key", ("AccountKey=", "SharedAccessKey="), r"[A-Za-z0-9+/]{40,100}={0,2}"),
    SecretFormat("Hugging Face token", ("hf_",), _WORD + "{30,100}"),
    SecretFormat("SendGrid key", ("SG.",), _URL_SAFE + r"{16,64}\." + _URL_SAFE + "{16,64}"),
    SecretFormat("DigitalOcean token", ("dop_v1_", "doo_v1_", "dor_v1_"), r"[0-9a-f]{64}"),
    SecretFormat("Databricks token", ("dapi",), r"[0-9a-f]{32}(?![A-Za-z0-9])"),
    SecretFormat("Shopify token", ("shpat_", "shpca_", "shppa_", "shpss_"), r"[0-9A-Fa-f]{32}"),
    SecretFormat("Linear key", ("lin_api_",), _WORD + "{32,64}"),
    SecretFormat("Notion token", ("ntn_",), _WORD + "{40,64}"),
    SecretFormat("Vault token", ("hvs.", "hvb."), _URL_SAFE + "{24,300}"),
    SecretFormat("Docker token", ("dckr_pat_",), _URL_SAFE + "{20,64}"),
    SecretFormat("Groq key", ("gsk_",), _WORD + "{40,100}"),
    SecretFormat("xAI key", ("xai-",), _WORD + "{40,120}"),
    SecretFormat("Grafana token", ("glsa_", "glc_"), r"[A-Za-z0-9_=]{32,200}"),
    SecretFormat("Sentry token", ("sntrys_", "sntryu_"), r"[A-Za-z0-9_=+/]{40,300}"),
    SecretFormat("Atlassian token", ("ATATT3",), r"[A-Za-z0-9_=-]{60,300}"),
    SecretFormat("hookline hub key", ("hlk_",), _URL_SAFE + "{32,64}"),
    SecretFormat("Doppler token", ("dp.pt.", "dp.st.", "dp.ct."), _WORD + "{40,64}"),
    SecretFormat("PlanetScale token", ("pscale_tkn_", "pscale_pw_"), r"[A-Za-z0-9_.-]{32,64}"),
    SecretFormat("Telegram bot token", (":AA",), _URL_SAFE + r"{32,35}(?![A-Za-z0-9_-])"),
    SecretFormat("age key", ("AGE-SECRET-KEY-1",), r"[0-9A-Z]{58}"),
    SecretFormat(
        "JSON web token", ("eyJ",), _URL_SAFE + r"{8,4096}\." + _URL_SAFE + r"{8,8192}\.?" + _URL_SAFE + "{0,1024}"
    ),
    SecretFormat(
        "private key",
        tuple(
            f"-----BEGIN {kind}PRIVATE KEY"
            for kind in ("", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED ", "PGP ", "SSH2 ENCRYPTED ", "ANY ")
        ),
        r"[A-Z ]{0,10}-----(?:[^-]|-(?!----))*(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-----)?",
        is_random=False,
    ),
)

SECRET_NAMES: Final = (
    *(
        "password",
        "passwd",
        "passphrase",
        "secret",
        "token",
        "api_key",
        "api-key",
        "apikey",
        "access_key",
        "access-key",
    ),
    *("accesskey", "private_key", "private-key", "privatekey", "credential"),
)
"""Words in the name of a variable or field that holds a secret."""
_OTHER_THING: Final = lazy_pattern(
    r"""i[sz](?:e|ing|ation)[\w-]*|less[\w-]*|s_?id
        |[\w-]*(?:name|header|type|path|file|url|uri|endpoint|arn|policy|pattern|regex|length|limit|ttl|timeout
        |expiry|expiration|expires(?:[_-]?(?:at|in))?)s?""",
    re.VERBOSE,
)
"""What follows such a word in the name of another thing: `tokenizer`, `secretName`, `private_key_path`."""
_ASSIGNED: Final = lazy_pattern(
    r"""([A-Za-z0-9_-]{0,40})\\?["']?\s{0,4}(?::=|=>|[=:])\s{0,4}
        (?:\\?"([^"\n\\]{8,4096})|'([^'\n\\]{8,4096})|([^\s"',;&|<>(){}\[\]$`\\]{8,4096}))""",
    re.VERBOSE,
)
_URL_PASSWORD: Final = lazy_pattern(r"://[^\s/:@]{0,200}:([^\s/@]{3,1000})@")

_EXAMPLES: Final = frozenset(
    (
        "AKIAIOSFODNN7EXAMPLE",
        "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "AKIAI44QH8DHBEXAMPLE",
        "je7MtGbClwBF/2Zp9Utk/h3yCo8nvbEXAMPLEKEY",
    )
)
_EXAMPLE_JWT: Final = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwI"
"""The beginning of the token that jwt.io shows."""
_PLACEHOLDER: Final = lazy_pattern(
    r"example|placeholder|your[-_ ]|change[-_]?me|dummy|redacted|insert[-_ ]|x{4}|\*{3}|\.{3}|…|<[^>]*>|\$\{|\{\{|%\(",
    re.IGNORECASE,
)
_CODE: Final = lazy_pattern(r"[A-Za-z_][\w]*(?:(?:\.|::|->)[A-Za-z_]\w*)+|[A-Za-z_]+|[\d.,:/-]+")
"""An expression, a word or a number: not a value that somebody chose as a secret."""
_LEAST_ENTROPY: Final = 2.5  # bits for each character of an assigned value
_LEAST_KEY: Final = 60  # characters of a private key with its first and last line; fewer only mention one
_LEAST_DIFFERENT: Final = 5  # characters of a token
_MAX_CACHED: Final = 256  # characters of the name of a field


class Secret(NamedTuple):
    kind: str
    start: int
    end: int


def find_secrets(text: str, deadline: float = NO_DEADLINE) -> Iterator[Secret]:
    """Each secret in the text, without well-known examples and placeholders; two may overlap. Raises UndecidedError."""
    for each, start, regex in _token_patterns():
        if time.perf_counter() > deadline:
            raise UndecidedError("it takes too long to look for secrets")
        at = text.find(start)
        while at >= 0:
            found = regex.match(text, at + len(start)) if _begins_word(text, at, start) else None
            if found is None:
                at = text.find(start, at + len(start))
                continue
            if is_secret(text[at : found.end()], is_random=each.is_random):
                yield Secret(each.name, at, found.end())
            at = text.find(start, found.end())
    yield from _find_named(text, deadline)
    at = text.find("://")
    while at >= 0:
        login = _URL_PASSWORD.match(text, at)
        if login is not None and _is_chosen(login[1], 0.0):
            yield Secret("password in a URL", login.start(1), login.end(1))
        at = text.find("://", login.end() if login else at + 3)


def find_tokens(text: str) -> Iterator[Secret]:
    """Each text that has the format of a token or key, whatever it is."""
    for each, start, regex in _token_patterns():
        at = text.find(start)
        while at >= 0:
            found = regex.match(text, at + len(start)) if _begins_word(text, at, start) else None
            if found is not None:
                yield Secret(each.name, at, found.end())
            at = text.find(start, found.end() if found else at + len(start))


def replace_secrets(text: str, found: list[Secret], mask: str) -> str:
    """The text with a mask in the place of each secret."""
    parts: list[str] = []
    at = 0
    for secret in sorted(found, key=lambda each: (each.start, -each.end)):
        if secret.end <= at:
            continue
        if secret.start >= at:
            parts += (text[at : secret.start], mask)
        at = secret.end
    return "".join((*parts, text[at:]))


@lru_cache(maxsize=256)
def is_secret_name(name: str) -> bool:
    return any(word in name.lower() for word in SECRET_NAMES)


@lru_cache(maxsize=256)
def _names_secret(name: str) -> bool:
    """Whether the name is that of a secret itself, not of its file, its header or the like. It must be short."""
    lower = name.lower()
    ends = [at.end() for word in SECRET_NAMES for at in re.finditer(word, lower)]
    return any(_OTHER_THING.fullmatch(lower, end) is None for end in ends)


def is_named_secret(name: str, value: str) -> bool:
    """Whether a field of this name holds a secret of this value."""
    if len(value) < 8 or not (_names_secret if len(name) <= _MAX_CACHED else is_secret_name.__wrapped__)(name):
        return False
    return any(map(str.isdigit, value)) and _is_chosen(value, _LEAST_ENTROPY)


def is_secret(token: str, *, is_random: bool) -> bool:
    """False for a well-known example, a placeholder, and a name that only begins like a token."""
    if token in _EXAMPLES or token.startswith(_EXAMPLE_JWT):
        return False
    if token.startswith("-----") and len(token) < _LEAST_KEY:
        return False
    shown = token[:512]  # enough to see that it is a placeholder
    if _PLACEHOLDER.search(shown) or len(set(shown)) < _LEAST_DIFFERENT:
        return False
    return not is_random or (any(map(str.isdigit, shown)) and any(map(str.isalpha, shown[4:])))


def _is_chosen(value: str, least_entropy: float) -> bool:
    shown = value[:512]
    if shown in _EXAMPLES or _PLACEHOLDER.search(shown) or "$" in shown or _CODE.fullmatch(shown):
        return False
    return " " not in shown.strip() and (not least_entropy or _entropy(shown) >= least_entropy)


def _entropy(text: str) -> float:
    """Bits for each character."""
    size = len(text)
    return -sum(count / size * math.log2(count / size) for count in Counter(text).values())


def _find_named(text: str, deadline: float) -> Iterator[Secret]:
    """Values that are assigned to a name such as password: `password = "…"`, `API_KEY=…`, `"token": "…"`."""
    lower = text if text.islower() else text.lower()
    if len(lower) != len(text):  # a character that has two in lower case
        lower = "".join(char.lower() if char.isascii() else char for char in text)
    for word in SECRET_NAMES:
        if time.perf_counter() > deadline:
            raise UndecidedError("it takes too long to look for secrets")
        at = lower.find(word)
        while at >= 0:
            found = _ASSIGNED.match(text, at + len(word))
            if found is None:
                at = lower.find(word, at + len(word))
                continue
            group = found.lastindex or 0
            if is_named_secret(word + found[1], found[group]):
                yield Secret("assigned secret", found.start(group), found.end(group))
            at = lower.find(word, found.end())


def _begins_word(text: str, at: int, start: str) -> bool:
    """Whether a token may begin here: not within a word."""
    before = text[at - 1] if at else " "
    return not (before.isalnum() or before in "_-") or start.startswith(("-", "hooks.", ":"))


@cache
def _token_patterns() -> tuple[tuple[SecretFormat, str, re.Pattern[str]], ...]:
    patterns = [(each, lazy_pattern(each.rest)) for each in FORMATS]
    return tuple((each, start, pattern) for each, pattern in patterns for start in each.starts)


TOKEN_STARTS: Final = tuple(dict.fromkeys(start for each in FORMATS for start in each.starts))
HINT_WORDS: Final = (*map(str.lower, TOKEN_STARTS), "://", *SECRET_NAMES)
"""Every text with a secret has one of these, in any case."""
HINTS: Final = "|".join(
    (*(re.escape(start).replace(r"\-", "-") for start in TOKEN_STARTS), "://[^/:@]*:", f"(?i:{'|'.join(SECRET_NAMES)})")
)
"""A regular expression as RE2 reads it: every text with a secret has a match."""

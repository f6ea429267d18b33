"""The facts of an event as they are recorded: secrets masked, long texts cut with their hash, any value as JSON."""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from itertools import pairwise
from typing import Any, Final, NamedTuple

import re2

from hookline.hooks.host import inherited_environment
from hookline.hooks.masking import MASK, NAME_HINTS, is_called_secret, mask, secret_values, secret_variables
from hookline.hooks.record_settings import RecordedFacts
from hookline.hooks.secret_arguments import has_quoted_letters, mask_argument_list, mentions
from hookline.hooks.secret_formats import TOKEN_STARTS, is_secret_name
from hookline.lazy_imports import lazy_pattern

MAX_TEXT: Final = 4096  # characters of one text
_MAX_VALUES: Final = 2000  # of one event
_MAX_DEPTH: Final = 20
_MAX_ENVIRONMENTS: Final = 32  # of agents; each stays in memory
_LOOKAHEAD: Final = 512  # so many characters of a token are enough to recognize it

# Whatever is masked contains one of these. Looking for them all at once costs a tenth of masking.
_MAY_BE_SECRET: Final = (
    rf"(?is){NAME_HINTS}|bearer|basic|authorization|cookie|\"(?:jwt|otp|auth|pwd|psk|totp|mfa_code|pin|sid|signature)\""
    r"|[\x{130}\x{131}]|\\u(?:013[01]|017f|212a)"  # an i, s or k where case does not count; RE2 knows only the last two
    rf"|://[^\s/:@]*:|-\w{{0,8}}u\b|-u[^\s:]*:|-user\b|--cert\b|{mentions()}|{'|'.join(re.escape(start) for start in TOKEN_STARTS)}"
)
_SECRET_FIELDS: Final = frozenset(
    (
        "authorization",
        "proxy-authorization",
        "cookie",
        "set-cookie",
        "cookies",
        "bearer",
        "jwt",
        "otp",
        "psk",
        "totp",
        "mfa_code",
    )
)
# What `auth` says if it is not a secret; a `pwd` may be a directory.
_SCHEMES: Final = lazy_pattern(
    r"(?i)|none|basic|bearer|digest|ntlm|kerberos|negotiate|oauth2?|openid|oidc|saml|iam|jwt|mtls|token|password|api[_-]?key"
    r"|required|optional|enabled|disabled|true|false|yes|no|on|off|default|auto"
)
_DIRECTORY: Final = lazy_pattern(r"(?s)[/~.$].*|[A-Za-z]:.*|.*[/\\].*")
# Not the pin of a board, a Windows account's id, or what a function takes.
_SECRET_VALUES: Final = {
    "pin": lazy_pattern(r"\d{4,12}"),
    "sid": lazy_pattern(r"(?!S-1-)(?=.*[A-Za-z])(?=.*\d)\S{8,}"),
    "signature": lazy_pattern(r"(?=.*\d)[^\s()]{8,}"),
}
_NAMES_OF_INPUT: Final = ("element", "selector", "label", "field")  # where a browser's tool types a text
_NAMES_OF_VALUE: Final = ("name", "key", *_NAMES_OF_INPUT)
# By id. It holds the environments, so that no id is used again.
_agents_secrets: Final[dict[int, tuple[Mapping[bytes, bytes], KnownSecrets, KnownSecrets]]] = {}
_SETTERS: Final = frozenset(("set", "config"))  # `aws configure set NAME VALUE`
_SETTER_REACH: Final = 5  # words from a setter to its value, options included
_LOGIN_OPTION: Final = lazy_pattern(r"-[sSkfLiIgGjN]{0,8}[uU]|--user|--proxy-user|--cert")
_ASSIGNED: Final = lazy_pattern(r"([\w.-]{1,100})=.*", re.DOTALL)
_LOGIN: Final = lazy_pattern(r"(?![A-Za-z]:\\)([^\s:]{1,200}:)(?!\d+$).+", re.DOTALL)  # not a path, nor two ids


class AsTheyAre:
    """Leaves all values as they are: enough for a short record without secrets, which most records are."""

    cut = 0

    def __init__(self, how: RecordedFacts) -> None:
        self.how = how

    def text(self, text: str) -> str:
        return text

    def value(self, value: Any) -> Any:
        return value


class RecordableFacts(AsTheyAre):
    """Makes values recordable. `cut` is how many texts and values were shortened or left out."""

    def __init__(self, how: RecordedFacts, *, masks: bool) -> None:
        super().__init__(how)
        self._masks = masks
        self._known = environment_secrets()
        self._values = 0

    def text(self, text: str) -> str:
        if len(text) <= MAX_TEXT:
            return self._mask(text)
        short = self._mask_start(text)
        self.cut += 1
        digest = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
        return f"{short}… ({len(text) - MAX_TEXT} more characters, sha256 {digest})"

    def _mask(self, text: str) -> str:
        if not self._masks or not _may_be_secret(text, self._known):
            return text
        return mask(text, self._known.values)

    def _mask_start(self, text: str) -> str:
        """Looks further than it shows, so that the first half of a secret is not shown."""
        if not self._masks:
            return text[:MAX_TEXT]
        lookahead = max((_LOOKAHEAD, *map(len, self._known.values[:1])))
        start = text[: MAX_TEXT + lookahead]
        masked = self._mask(start)
        if masked == start or len(text) == len(start):
            return masked[:MAX_TEXT]
        return masked[: min(MAX_TEXT, max(0, len(masked) - lookahead))]

    def value(self, value: Any, depth: int = 0) -> Any:
        kind = type(value)
        if kind is str:
            return self.text(value)
        if value is None or kind is int or kind is bool:
            return value
        self._values += 1
        if self._values > _MAX_VALUES or depth > _MAX_DEPTH:
            self.cut += 1
            return "…"
        if kind is dict:
            return self._mapping(value, depth)
        if kind is list or kind is tuple:
            return self._items(value, depth)
        if kind is float:
            return value if math.isfinite(value) else repr(value)
        return self._other(value, depth)

    def _items(self, value: list[Any] | tuple[Any, ...], depth: int) -> list[Any]:
        if len(value) > _MAX_VALUES:
            self.cut += 1
            value = value[:_MAX_VALUES]
        items = [self.value(item, depth + 1) for item in value]
        if self._masks:
            words = [item if type(item) is str else "" for item in value]
            items = [_hide_assigned(word, item) for word, item in zip(words, items, strict=True)]
            for at, (name, word) in enumerate(pairwise(words), 1):
                if word:
                    is_set = not _SETTERS.isdisjoint(words[max(0, at - _SETTER_REACH) : at - 1])
                    items[at] = _hide_argument(name, word, items[at], may_be_value=is_set or len(words) == 2)
            for at, shown in mask_argument_list(words, MASK).items():
                items[at] = shown
        return items

    def _mapping(self, value: Mapping[Any, Any], depth: int) -> dict[str, Any]:
        found = {self._key(key): self.value(item, depth + 1) for key, item in value.items()}
        if self._masks:
            for key, item in found.items():
                if is_secret_field(key):
                    found[key] = _hide(item, hides_numbers="token" not in key.lower())  # `max_tokens: 4096`
                elif isinstance(item, str) and key.lower() == "pass":  # a number or list is about tests
                    found[key] = _hide(item, hides_numbers=False)
                elif type(item) in (str, int) and _is_secret_value(key.lower(), str(item)):
                    found[key] = MASK
            if "value" in found and any(is_secret_field(found.get(name)) for name in _NAMES_OF_VALUE):
                found["value"] = _hide(found["value"], hides_numbers=True)
            if "text" in found and any(is_secret_field(found.get(name)) for name in _NAMES_OF_INPUT):
                found["text"] = _hide(found["text"], hides_numbers=True)
        return found

    def _key(self, key: Any) -> str:
        return self.text(key if type(key) is str else str(key))

    def _other(self, value: Any, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(str.__str__(value))
        if isinstance(value, dict):
            return self._mapping(value, depth)
        if isinstance(value, (bytes, bytearray)):
            return self.text(bytes(value).decode("utf-8", "replace"))
        if isinstance(value, (list, tuple)):
            return self._items(list(value), depth)
        self.cut += 1
        return self.text(f"<{type(value).__name__}>")  # its repr could run any code


def is_secret_field(name: object) -> bool:
    """Whether the value of a field or header of this name is a secret, whatever it looks like."""
    if type(name) is not str or len(name) > 100:
        return False
    return is_secret_name(name) or is_called_secret(name) or name.lower() in _SECRET_FIELDS


def _is_secret_value(name: str, value: str) -> bool:
    """Whether this is a secret in a field whose name says so or something else, such as `pin`."""
    if name == "auth":
        return _SCHEMES.fullmatch(value) is None
    if name == "pwd":
        return value != "" and _DIRECTORY.fullmatch(value) is None
    pattern = _SECRET_VALUES.get(name)
    return pattern is not None and pattern.fullmatch(value) is not None


def _hide(value: Any, *, hides_numbers: bool) -> Any:
    """Masks every text in a recordable value."""
    if isinstance(value, dict):
        return {key: _hide(item, hides_numbers=hides_numbers) for key, item in value.items()}
    if isinstance(value, list):
        return [_hide(item, hides_numbers=hides_numbers) for item in value]
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return MASK if (isinstance(value, str) and value) or (is_number and hides_numbers) else value


def _hide_assigned(given: str, recordable: Any) -> Any:
    """What to record of a text in a list: `DB_PASS=` and all that follows, which may have spaces."""
    assigned = _ASSIGNED.fullmatch(given)
    return f"{assigned[1]}={MASK}" if assigned is not None and is_called_secret(assigned[1]) else recordable


def _hide_argument(name: str, given: str, recordable: str, *, may_be_value: bool) -> str:
    """What to record of the text after `name` in a list: `--password`, `x`, or a header and its value."""
    is_name = is_secret_field(name) and "=" not in name and " " not in name
    is_option = name.startswith("-") and not given.startswith("-")
    if is_name and (is_option or (may_be_value and not name.startswith("-"))):
        return MASK
    if _LOGIN_OPTION.fullmatch(name) and (login := _LOGIN.fullmatch(given)) is not None:
        return f"{login[1]}{MASK}"
    return recordable


class KnownSecrets(NamedTuple):
    """Values that are masked wherever they stand, and how they stand in JSON."""

    values: tuple[str, ...]  # longest first
    encoded: tuple[str, ...]


class _OwnSecrets:
    """Of this process. Programs add variables after their start, from an `.env` file, or give them new values."""

    def __init__(self) -> None:
        self.variables = -1  # how many there were: to read all each time is slow
        self.secret: dict[str, str] = {}
        self.known = KnownSecrets((), ())

    def read(self) -> KnownSecrets:
        variables = os.environ
        if len(variables) != self.variables or any(variables.get(name) != self.secret[name] for name in self.secret):
            self.secret = secret_variables(variables)
            self.known = _known_secrets(secret_values(variables))
            self.variables = len(variables)
        return self.known


own_secrets: Final = _OwnSecrets()


def environment_secrets() -> KnownSecrets:
    """The values of variables with secret names, here and in the environment of the agent for which this process decides."""
    agents = inherited_environment.get()
    own = own_secrets.read()
    if agents is None:
        return own
    known = _agents_secrets.get(id(agents))
    if known is None or known[1] is not own:
        if len(_agents_secrets) >= _MAX_ENVIRONMENTS:
            _agents_secrets.clear()
        decoded = {os.fsdecode(name): os.fsdecode(value) for name, value in agents.items()}
        both = _known_secrets(secret_values(os.environ, decoded))
        known = _agents_secrets[id(agents)] = agents, own, both
    return known[2]


@lru_cache(_MAX_ENVIRONMENTS)  # most environments of an agent's calls have the same
def _known_secrets(values: tuple[str, ...]) -> KnownSecrets:
    return KnownSecrets(values, tuple(json.dumps(value)[1:-1] for value in values))


def may_have_secret(text: str, known: KnownSecrets) -> bool:
    """False only if masking would change nothing in the values of this JSON text."""
    if _search(text.encode()):
        return True
    return bool(known.encoded) and any(secret in text for secret in known.encoded)


def _may_be_secret(text: str, known: KnownSecrets) -> bool:
    if _search(text.encode("utf-8", "replace")) or has_quoted_letters(text):
        return True
    return any(secret in text for secret in known.values)


def _compile_search(pattern: str) -> Callable[[bytes], list[int]]:
    """A set of one pattern: it is asked whether, never where, which costs half of a search."""
    patterns = re2.Set.SearchSet()
    patterns.Add(pattern)
    patterns.Compile()
    match: Callable[[bytes], list[int]] = patterns._set.Match  # without the wrapper, which accepts text as well
    return match


_search: Final = _compile_search(_MAY_BE_SECRET)

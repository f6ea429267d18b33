"""Masks secrets in text for the log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final

from hookline.hooks.secret_arguments import mask_arguments
from hookline.hooks.secret_formats import find_tokens, replace_secrets
from hookline.lazy_imports import lazy_pattern

_MAX_CHARS: Final = 16_384
MASK: Final = "***"
_MIN_SECRET_CHARS: Final = 8  # shorter values are part of many words
_SECRET_NAME: Final = lazy_pattern(r"PASSWORD|PASSWD|PASSPHRASE|SECRET|TOKEN|CREDENTIAL|KEYS?$", re.IGNORECASE)

_NAMES: Final = (
    r"(?:password|passwd|passphrase|passcode|secret[_-]?key|secret|token|api[_-]?key|apikey|access[_-]?key|private[_-]?key|credentials?"
    r"|(?:auth|account|admin|encryption|functions|master|service|shared|signing|storage|subscription)[_-]?key"
    r"|(?:db|user|root|smtp|mail|ftp|proxy|sudo)pass(?![a-z])|oauth2-bearer|sonar\.login"
    r"|sshpass|(?<=[_-])(?:pass|pwd|auth)(?![a-z]))"
)
_NAMED: Final = lazy_pattern(_NAMES, re.IGNORECASE)
# A quote before one of these ends the text that the value is part of: `sh -c "DB_PASS=hunter2" && …`.
_QUOTED_PIECE: Final = r"""(?:"(?![\s;|&),}\]:]|$)[^"\n]{0,4096}"|'(?![\s;|&),}\]:]|$)[^'\n]{0,4096}'|\\')"""
_BARE_PIECE: Final = r"""(?:\\[ ]|[^\s"',;&|)}\]]){1,4096}"""
# A shell joins pieces: `DB_PASS=hun'ter'2`.
_VALUE: Final = rf"""(?:(?:\$?\\?"[^"\n]{{0,4096}}"?|\$?'[^'\n]{{0,4096}}'?)(?:(?=\w){_BARE_PIECE})?|{_BARE_PIECE})
    (?:{_QUOTED_PIECE}(?:(?=\w){_BARE_PIECE})?){{0,20}}"""
NAME_HINTS: Final = (
    r"passw|passphrase|passcode|secret|token|[a-z][_-]?key|credential|sshpass|[_-]pass|[_-]pwd|;.{0,6}pwd|[_-]auth"
    r"|pass.{0,16}[=:>]|:(?:\d{4,5}|\*):|pwd\W{1,4}:|-\w{0,20}pass\b|oauth2-bearer|sonar\.login|(?:api|access|private) key|https?://[\w~%+=-]{8,200}@"
)
"""A regular expression as RE2 reads it, in any case: every name that `mask` and `is_called_secret` know has a match.

In JSON a space of another kind takes up to six characters.
"""
# Every repetition is bounded or cannot overlap with what follows it, so matching takes linear time.
_ASSIGNED_SECRET: Final = lazy_pattern(
    rf"""((?:{_NAMES}[A-Za-z0-9_-]{{0,40}}\\?["']?\s{{0,4}}(?:=>?|:)|;\s?pwd=(?![/$])
        |(?<=["'])pwd\\?["']\s{{0,4}}:(?=\s{{0,4}}\\?["'][^/~.$"'\\])(?!\s{{0,4}}\\?["'][a-z]:))\s{{0,4}}){_VALUE}""",
    re.IGNORECASE | re.VERBOSE,
)
_SET_SECRET: Final = lazy_pattern(
    rf"""(\b(?:setx?|config)(?:\s{{1,4}}--?[\w-]{{1,40}}){{0,4}}\s{{1,4}}[\w./:@-]{{0,100}}{_NAMES}[\w.-]{{0,40}}\s{{1,4}})(?!-){_VALUE}""",
    re.IGNORECASE | re.VERBOSE,
)
_AUTH_SCHEME: Final = lazy_pattern(
    r"\b((?:authorization\s{0,4}[:=]\s{0,4})?(?:bearer\s{1,4}|basic\s{1,4}|token\s{1,4}(?!-)))[A-Za-z0-9._~+/=-]{6,4096}",
    re.IGNORECASE,
)
_SECRET_HEADER: Final = lazy_pattern(
    r"""(?<![A-Za-z0-9])((?:(?:proxy-)?authorization|(?:set-)?cookie)\\?["']?\s{0,4}:\s{0,4}\\?["']?)
        (?!(?:bearer|basic|token)\s)[^\s"'\\][^"'\n\\]{0,4096}""",
    re.IGNORECASE | re.VERBOSE,
)
_SECRET_OPTION: Final = lazy_pattern(
    rf"""((?<![\w-])(?:--(?:[a-z0-9]{{1,20}}[_-]){{0,3}}|-[a-z]{{0,20}}){_NAMES}(?:\s{{1,4}}|\\?["'],\s{{0,4}}))(?![-<]){_VALUE}""",
    re.IGNORECASE | re.VERBOSE,
)
_LOGIN_OPTION: Final = lazy_pattern(
    r"""((?<![\w-])(?:(?:-[sSkfLiIgGjN]{0,8}[uU]|--user|--proxy-user|--cert(?!["'=\s]{1,4}[A-Za-z]:\\))(?:\s{1,4}|=|\\?["'],\s{0,4})|-u(?![^\s"']{1,200}://)))
        (?:(\\?"[^\s:"\n]{1,200}:)[^"\n]{1,1000}|('[^\s:'\n]{1,200}:)[^'\n]{1,1000}
        |((?!\d+:\d+\b)(?:[^\s:"']{1,200}|"[^\s:"\n]{1,200}"|'[^\s:'\n]{1,200}'):)(?:"""
    + _QUOTED_PIECE
    + r"""|[^\s"']){1,1000})""",
    re.VERBOSE,
)
# A number or an answer may be the result of a test: `pass = 12`.
_PASS_VALUE: Final = rf"(?!=|>|(?:\d{{1,4}}(?:\.\d+)?|true|false|yes|no|ok|none|null)(?![\w-])){_VALUE}"
_PASS: Final = lazy_pattern(
    rf"""((?<![A-Za-z0-9])(?:pass\\?["']?[ \t]{{0,4}}=|pass\\?["'][ \t]{{0,4}}:|pass[ \t]{{0,4}}:(?=[ \t]{{0,4}}\\?["']))[ \t]{{0,4}}){_PASS_VALUE}
        |(^[ \t]{{0,40}}(?:-[ ])?(?-i:pass):[ \t]{{1,4}}){_PASS_VALUE}(?=[ \t]{{0,4}}$)""",
    re.IGNORECASE | re.VERBOSE | re.MULTILINE,
)
_SECRET_ELEMENT: Final = lazy_pattern(
    rf"""(<(?:[\w:.-]{{0,40}}{_NAMES}[\w.-]{{0,40}}|(?:\w{{1,40}}:)?(?:pass|pwd)(?!>\d{{1,4}}<))(?:\s[^<>\n]{{0,200}})?>\s{{0,8}}(?:<!\[CDATA\[)?)
        [^<\s][^<\n]{{0,4096}}(?=\s{{0,8}}</)
        |(\b(?:key|name)=\\?"[^"\n]{{0,100}}{_NAMES}[^"\n]{{0,100}}"\s{{1,4}}value=\\?")[^"\n]{{1,4096}}""",
    re.IGNORECASE | re.VERBOSE,
)
# An object or a list item with a name and a value: `{"key": "DB_PASSWORD", "value": "hunter2"}`, also in YAML.
_SECRET_PAIR: Final = lazy_pattern(
    rf"""(\\?["'](?:key|name|field)\\?["']\s{{0,4}}:\s{{0,4}}\\?["'][\w. -]{{0,100}}{_NAMES}[\w. -]{{0,40}}\\?["']\s{{0,4}},\s{{0,40}}
        \\?["']value\\?["']\s{{0,4}}:\s{{0,4}}
        |\b(?:key|name):[ \t]{{1,4}}["']?[\w.-]{{0,100}}{_NAMES}[\w.-]{{0,40}}["']?[ \t]{{0,4}}\r?\n[ \t]{{0,40}}value:[ \t]{{1,4}}){_VALUE}""",
    re.IGNORECASE | re.VERBOSE,
)
# In a sentence, a word with letters and digits: `my password is hunter2`, not `the token is expired` or `is sha256-hashed`.
_SECRET_IN_SENTENCE: Final = lazy_pattern(
    rf"""((?<![A-Za-z])(?:{_NAMES}|(?:api|access|private|secret)[ ]key)\s{{1,4}}(?:is|was)\s{{0,2}}:?\s{{1,4}}["'`]?)
        (?!base\d|sha-?\d|md\d|utf|[rhep]s\d|aes|oauth|bcrypt|argon|uuid|v\d|\d{{1,6}}[ -]?(?:bit|byte|char|day|hour|h\b|min|m\b|sec|s\b|ms\b|kb|mb))
        (?=[^\s\d]{{0,60}}\d)(?=[^\sA-Za-z]{{0,60}}[A-Za-z])[^\s"'`]{{5,200}}(?<![.,;:!?)])""",
    re.IGNORECASE | re.VERBOSE,
)
_NETRC_PASSWORD: Final = lazy_pattern(
    r"""(\b(?:machine\s{1,8}\S{1,200}|default)\s{1,8}(?:(?:login|account)\s{1,8}\S{1,200}\s{1,8}){1,2}password\s{1,8})\S{1,1000}
        |(\bmachine\s{1,8}\S{1,200}\s{1,8}password\s{1,8})\S{1,1000}(?=\s{1,8}(?:login|account)\s|[ \t]{0,8}$)""",
    re.VERBOSE | re.MULTILINE,
)
# host:port:database:user:password; not an IPv6 address.
_PGPASS_LINE: Final = lazy_pattern(
    r"""(?<![\w.:/*-])(?!(?:[0-9a-fA-F]{1,4}:){3})
        ([\w.*-]{1,200}:(?:\d{4,5}|\*):(?:(?:\\:|[^\s:"']){1,100}:){2})[^\s"']{1,1000}""",
    re.VERBOSE,
)
_URL_PASSWORD: Final = lazy_pattern(r"(://[^\s/:@]{0,200}:)[^\s/]{1,1000}(?=@)")
# Without a password, a user's name that has letters and digits, or is long, is a token.
_URL_TOKEN: Final = lazy_pattern(
    r"(\bhttps?://)(?=[A-Za-z_-]{0,200}\d|[\w~%+=-]{20})(?=[\d_-]{0,200}[A-Za-z])[\w~%+=-]{8,1000}(?=@)", re.IGNORECASE
)


def secret_values(*environments: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables with secret names, longest first, because one may be the start of another."""
    variables = (variable for env in environments for variable in env.items())
    values = {value for name, value in variables if len(value) >= _MIN_SECRET_CHARS and _SECRET_NAME.search(name)}
    return tuple(sorted(values, key=lambda value: (-len(value), value)))


def is_called_secret(name: str) -> bool:
    """Whether a field, header or option of this name has a secret value."""
    return _NAMED.search(name) is not None


def mask(text: str, known: Iterable[str] = ()) -> str:
    """Masks the known values and everything that looks like a secret, and cuts text that is too long for a log line."""
    for value in known:
        text = text.replace(value, MASK)
    if len(text) > _MAX_CHARS:
        text = f"{text[:_MAX_CHARS]}… ({len(text) - _MAX_CHARS} more characters)"
    text = replace_secrets(text, list(find_tokens(text)), MASK)
    text = mask_arguments(text, MASK)
    text = _AUTH_SCHEME.sub(rf"\g<1>{MASK}", text)
    text = _SECRET_HEADER.sub(rf"\g<1>{MASK}", text)
    text = _ASSIGNED_SECRET.sub(rf"\g<1>{MASK}", text)
    text = _PASS.sub(rf"\g<1>\g<2>{MASK}", text)
    text = _SECRET_ELEMENT.sub(rf"\g<1>\g<2>{MASK}", text)
    text = _SECRET_PAIR.sub(rf"\g<1>{MASK}", text)
    text = _SECRET_IN_SENTENCE.sub(rf"\g<1>{MASK}", text)
    text = _NETRC_PASSWORD.sub(rf"\g<1>\g<2>{MASK}", text)
    text = _PGPASS_LINE.sub(rf"\g<1>{MASK}", text)
    text = _SECRET_OPTION.sub(rf"\g<1>{MASK}", text)
    text = _SET_SECRET.sub(rf"\g<1>{MASK}", text)
    text = _LOGIN_OPTION.sub(rf"\g<1>\g<2>\g<3>\g<4>{MASK}", text)
    text = _URL_TOKEN.sub(rf"\g<1>{MASK}", text)
    return _URL_PASSWORD.sub(rf"\g<1>{MASK}", text)

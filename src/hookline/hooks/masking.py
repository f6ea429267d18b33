"""Masks secrets in text for the log."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from hookline.hooks.secret_arguments import mask_arguments
from hookline.hooks.secret_formats import find_tokens, replace_secrets
from hookline.lazy_imports import lazy_pattern

_MAX_CHARS: Final = 16_384
MASK: Final = "***"
_MIN_SECRET_CHARS: Final = 8  # shorter values are part of many words
_SECRET_NAME: Final = lazy_pattern(
    r"PASSWORD|PASSWD|PASSPHRASE|PASSCODE|SECRET|TOKEN|CREDENTIAL|KEYS?$|_PASS$|_PWD$|^(?:SSHPASS|REDISCLI_AUTH)$",
    re.IGNORECASE,
)

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
    r"|pass.{0,16}[=:>]|<[^<>]*(?:pass|pwd)|(?:db|user|root|smtp|mail|ftp|proxy|sudo)pass|:(?:\d{4,5}|\*):|pwd.{1,40}:"
    r"|-\w{0,20}pass\b|oauth2-bearer|sonar\.login|(?:api|access|private) key|https?://[^\s/@:]*@"
    r"|[?&](?:sig|key|psk)=|-signature=|-credential=|[?&]signature=|(?:auth|pwd).{0,16}=|:[^\s:@/]*@"
)
"""A regular expression as RE2 reads it, in any case: every name that `mask` and `is_called_secret` know has a match.

In JSON a space of another kind takes up to six characters.
"""
# Every repetition is bounded or cannot overlap with what follows it, so matching takes linear time.
_ASSIGNED_SECRET: Final = lazy_pattern(
    rf"""((?:{_NAMES}[A-Za-z0-9_-]{{0,40}}\\?["']?\s{{0,4}}(?:=>?|:)|;\s?pwd=(?![/$`]|[.]{{1,2}}/|~/)
        |(?<=["'])pwd\\?["']\s{{0,4}}:(?=\s{{0,4}}\\?["'][^/~.$"'\\])(?!\s{{0,4}}\\?["'][a-z]:))\s{{0,4}}){_VALUE}""",
    re.IGNORECASE | re.VERBOSE,
)
_SET_SECRET: Final = lazy_pattern(
    rf"""(\b(?:setx?|config)(?:\s{{1,4}}--?[\w-]{{1,40}}){{0,4}}\s{{1,4}}[\w./:@-]{{0,100}}{_NAMES}[\w.-]{{0,40}}\s{{1,4}})(?!-){_VALUE}""",
    re.IGNORECASE | re.VERBOSE,
)
_SQL_PASSWORD: Final = lazy_pattern(
    r"""(\b(?:(?:identified\s+by|password(?:\s+for\s+\S{1,200}\s*=)?)\s+|pragma\s+key\s*=\s*)\\?')[^'\n]{1,400}(?=')""",
    re.IGNORECASE,
)
# `token` is an ordinary word: unless it is a header's, what follows must not be one, as in `token refresh`.
_AUTH_SCHEME: Final = lazy_pattern(
    r"""\b((?:authorization\s{0,4}[:=]\s{0,4})?(?:bearer|basic)\s{1,4}|authorization\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?token\s{1,4}
        |token\s{1,4}(?!-)(?=[a-z._~+/=-]{0,60}[0-9]|[a-z]{20}|(?-i:[A-Za-z]{0,60}[a-z][A-Z])))[A-Za-z0-9._~+/=-]{6,4096}""",
    re.IGNORECASE | re.VERBOSE,
)
_SECRET_HEADER: Final = lazy_pattern(
    r"""(?<![A-Za-z0-9])((?:(?:proxy-)?authorization|(?:set-)?cookie)\\?["']?\s{0,4}:\s{0,4}\\?["']?)
        (?!(?:bearer|basic|token)\s)[^\s"'\\][^"'\n\\]{0,4096}""",
    re.IGNORECASE | re.VERBOSE,
)
_SECRET_OPTION: Final = lazy_pattern(
    rf"""((?<![\w-])(?:--(?:[a-z0-9]{{1,20}}[_-]){{0,3}}|-[a-z]{{0,20}}){_NAMES}(?:-command)?(?:\s{{1,4}}|=|\\?["'],\s{{0,4}}))(?![-<]){_VALUE}""",
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
# Names that also say how or where: `auth` needs a value with letters and digits, `pwd` one that is no directory or code.
_SHORT_NAMED: Final = lazy_pattern(
    r"""((?<![\w-])(?:auth[ \t]{0,4}=[ \t]{0,4}\\?["']?(?![=/~.$<{(`]|[a-z_]\w{0,60}\.[a-z_])
            (?!(?:o?auth|saml|tls|ssl|sha|md|http|[rhep]s)[._-]?\d{1,4}(?!\w))(?=[^\s\d]{0,60}\d)(?=[^\sa-z]{0,60}[a-z])
        |pwd[ \t]{0,4}=[ \t]{0,4}\\?["']?(?![=/~.$<{(`%]|[a-z]:|(?:none|null|true|false)(?!\w)|get-|[a-z_]\w{0,60}(?:[(\[]|\.[a-z_]))))
        [^\s"'`\\,;&|)(}\]/]{4,1000}(?=["'`\\\s,;&|)}\]]|$)""",
    re.IGNORECASE | re.VERBOSE,
)
_STRING: Final = r"""(?:\\"[^"\n\\]{1,400}\\"|"(?:[^"\n\\]|\\.){1,400}"|'(?:[^'\n\\]|\\.){1,400}')"""
# The arguments of `setPassword('hunter2')`, of which the secret may be any.
_SETTER: Final = lazy_pattern(
    rf"""((?<![a-z0-9])(?:(?:set|change|update)[_-]?(?:[a-z0-9]{{0,20}}[_-]?){_NAMES}|with[_-]?(?:password|passphrase|passcode))s?\(\s{{0,4}})
        {_STRING}(?:\s{{0,4}},\s{{0,4}}(?:{_STRING}|[\w.]{{1,100}})){{0,3}}""",
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
# Without a verb, only a word that is nothing but letters and digits: `the password hunter2`, not `password file2.txt`.
_PASSWORD_IN_SENTENCE: Final = lazy_pattern(
    r"""((?<![\w./-])(?:password|passphrase|passcode)\s{1,4}(?:->\s{1,4})?["'`]?)
        (?!base\d|sha-?\d|md\d|utf|[rhep]s\d|aes|oauth|bcrypt|argon|uuid|v\d|\d{1,6}[ -]?(?:bit|byte|char|day|hour|h\b|min|m\b|sec|s\b|ms\b|kb|mb))
        (?=[a-z]{0,60}[0-9])(?=[0-9]{0,60}[a-z])[a-z0-9]{6,60}(?![\w./:=(\[-]*[\w/:=(\[-])""",
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
        ([\w.*-]{1,200}:(?:[0-9]{4,5}|\*):(?:(?:\\:|[^\s:"']){1,100}:){2})[^\s"']{1,1000}""",
    re.VERBOSE,
)
_URL_PASSWORD: Final = lazy_pattern(r"(://[^\s/:@]{0,200}:)[^\s/]{1,1000}(?=@)")
# `ann:hunter2@host`. Without a scheme it may be an e-mail address, a package or an image with its version.
_LOGIN_AT_HOST: Final = lazy_pattern(
    r"""((?<![\w./:@%+=-])
        (?!(?:npm|jsr|gem|pip|pkg|go|cargo|docker|oci|image|git|github|ssh|file|link|workspace|mailto|e?mail|to|cc|bcc|from|reply-to|sip|sips|xmpp|acct
            |sender|recipient|contact|author|owner|maintainer|assignee|reporter|reviewer|creator|member|user|username|name|id|login|account|lib\w{0,20}):)
        [a-z][\w.+-]{0,63}:)(?=[^\s\d]{0,60}\d)(?=[^\sa-z]{0,60}[a-z])[^\s:@/"'`\\<>()|;,]{5,200}
        (?=@(?!(?:sha\d|v\d|https?:|latest|next|main|master|head|stable|beta|alpha|canary|plt|glibc)(?![a-z]))
            (?:[a-z][\w-]{0,62}|\d{1,3}(?:\.\d{1,3}){3}(?![\w.])))""",
    re.IGNORECASE | re.VERBOSE,
)
# Without a password, a user's name that has letters and digits, or is long, is a token.
_URL_TOKEN: Final = lazy_pattern(
    r"(\bhttps?://)(?=[A-Za-z_-]{0,200}\d|[\w~%+=-]{20})(?=[\d_-]{0,200}[A-Za-z])[\w~%+=-]{8,1000}(?=@)", re.IGNORECASE
)
# Whoever has a signed link can use it. A key in a link may be a word: only a long one with a digit is a secret.
_URL_SIGNATURE: Final = lazy_pattern(
    r"""([?&](?:x-(?:amz|goog)-(?:signature|credential)|sig(?:nature)?|auth|psk|pwd)=)[^\s&#"'<>|;]{8,4096}
        |([?&]key=)(?=[^\s&#"'<>|;\d]{0,60}\d)[^\s&#"'<>|;]{16,4096}""",
    re.IGNORECASE | re.VERBOSE,
)


class _Rule(NamedTuple):
    """A pattern, and how its matches are shown.

    To compile all patterns takes a short process as long as everything else. So a pattern is only tried on a text that has its words.
    """

    pattern: re.Pattern[str]
    shown: str
    words: tuple[tuple[str, ...], ...]  # one of each tuple is in every match, as `fold_case` leaves it

    def may_match(self, lower: str) -> bool:
        for words in self.words:
            for word in words:  # not any(…): a generator takes twice as long
                if word in lower:
                    break
            else:
                return False
        return True


_SAME_LETTERS: Final = str.maketrans({"\u0130": "i", "\u0131": "i", "\u017f": "s", "\u212a": "k"})
"""Where case does not count, a pattern's letter stands for these too."""


def fold_case(text: str) -> str:
    """In small letters, as far as the words of rules are concerned."""
    return (text if text.isascii() else text.translate(_SAME_LETTERS)).lower()


_FIRST: Final = rf"\g<1>{MASK}"
_FIRST_OR_SECOND: Final = rf"\g<1>\g<2>{MASK}"
# Every match of _NAMES has one of these.
_NAME_WORDS: Final = ("pass", "secret", "token", "key", "credential", "bearer", "sonar.login", "pwd", "auth")
_RULES: Final = (
    _Rule(_SQL_PASSWORD, _FIRST, (("identified", "password", "pragma"), ("'",))),
    _Rule(_AUTH_SCHEME, _FIRST, (("bearer", "basic", "token"),)),
    _Rule(_SECRET_HEADER, _FIRST, (("authorization", "cookie"), (":",))),
    _Rule(_ASSIGNED_SECRET, _FIRST, (_NAME_WORDS, ("=", ":"))),
    _Rule(_PASS, _FIRST_OR_SECOND, (("pass",), ("=", ":"))),
    _Rule(_SHORT_NAMED, _FIRST, (("auth", "pwd"), ("=",))),
    _Rule(_SETTER, _FIRST, (_NAME_WORDS, ("set", "change", "update", "with"), ("(",))),
    _Rule(_SECRET_ELEMENT, _FIRST_OR_SECOND, (_NAME_WORDS, ("</", "value="))),
    _Rule(_SECRET_PAIR, _FIRST, (_NAME_WORDS, ("value",), (":",))),
    _Rule(_SECRET_IN_SENTENCE, _FIRST, (_NAME_WORDS, ("is", "was"))),
    _Rule(_PASSWORD_IN_SENTENCE, _FIRST, (("password", "passphrase", "passcode"),)),
    _Rule(_NETRC_PASSWORD, _FIRST_OR_SECOND, (("password",), ("machine", "default"))),
    _Rule(_PGPASS_LINE, _FIRST, ((":",),)),
    _Rule(_SECRET_OPTION, _FIRST, (_NAME_WORDS, ("-",))),
    _Rule(_SET_SECRET, _FIRST, (_NAME_WORDS, ("set", "config"))),
    _Rule(
        _LOGIN_OPTION,
        rf"\g<1>\g<2>\g<3>\g<4>{MASK}",
        ((":",), ("--user", "--proxy-user", "--cert", *(f"-{letter}" for letter in "sklfigjnu"))),
    ),
    _Rule(_URL_SIGNATURE, _FIRST_OR_SECOND, (("signature=", "credential=", "sig=", "auth=", "psk=", "pwd=", "key="),)),
    _Rule(_URL_TOKEN, _FIRST, (("http",), ("@",))),
    _Rule(_URL_PASSWORD, _FIRST, (("://",), ("@",))),
    _Rule(_LOGIN_AT_HOST, _FIRST, ((":",), ("@",))),
)


def secret_variables(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in environment.items() if _SECRET_NAME.search(name)}


def secret_values(*environments: Mapping[str, str]) -> tuple[str, ...]:
    """The values of variables with secret names, longest first, because one may be the start of another."""
    secret = (value for env in environments for value in secret_variables(env).values())
    values = {value for value in secret if len(value) >= _MIN_SECRET_CHARS}
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
    return mask_by_rules(mask_arguments(text, MASK))


def mask_by_rules(text: str) -> str:
    """Masks what stands where a secret stands, whatever it looks like."""
    lower = fold_case(text)
    for rule in _RULES:
        if rule.may_match(lower):
            masked = rule.pattern.sub(rule.shown, text)
            if masked != text:
                text, lower = masked, fold_case(masked)
    return text

"""Passwords that a program takes as an argument which nothing names: `mysql -phunter2`, `redis-cli -a hunter2`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from hookline.lazy_imports import lazy_pattern


class _Rule(NamedTuple):
    """Which of the words after a program or subcommand are secret."""

    values: tuple[str, ...] = ()  # options whose value is secret: the next word, or the rest of a short one
    attached: tuple[str, ...] = ()  # options whose value is the rest of the word, never the next one
    position: int = -1  # of a word among those that are not options
    needs: str = ""  # the position counts only after an option with this letter
    separator: str = ""  # what follows it in any word: `NAME=hunter2`, `ann%hunter2`


class _Secret(NamedTuple):
    """A secret: from this character of this word to the word's end."""

    word: int
    start: int


_RULES: Final[dict[str, _Rule]] = {
    name: rule
    for names, rule in (
        ("mysql mysqldump mysqladmin mysqlimport mysqlshow mysqlcheck mysqlsh", _Rule(attached=("-p",))),
        ("mariadb mariadb-dump mariadb-admin mariadb-import mycli", _Rule(attached=("-p",))),
        ("7z 7za 7zr 7zz", _Rule(attached=("-p",))),
        ("xfreerdp xfreerdp3", _Rule(attached=("/p:",))),
        ("sshpass mongo mongosh mongodump mongorestore mongoexport mongoimport", _Rule(("-p",))),
        ("rabbitmqadmin useradd usermod rdesktop cqlsh", _Rule(("-p",))),
        ("login", _Rule(("-p",))),  # of docker, podman, helm registry, oc, az, cf
        ("redis-cli valkey-cli keydb-cli", _Rule(("-a",))),
        ("ldapsearch ldapmodify ldapadd ldapdelete ldappasswd ldapwhoami ldapcompare", _Rule(("-w", "-s"))),
        ("sqlcmd bcp mssql-cli ipmitool mosquitto_pub mosquitto_sub zip unzip zipcloak", _Rule(("-P",))),
        ("ssh-keygen", _Rule(("-N", "-P"))),
        ("openssl", _Rule(("-k", "-K", "-pass", "-passin", "-passout", "-password", "-passwd"))),
        ("add-generic-password add-internet-password", _Rule(("-w",))),
        ("curl", _Rule(("-b", "--cookie"))),
        ("secret", _Rule(("-b", "--body"), separator="=")),  # gh secret set, kubectl create secret
        ("htpasswd", _Rule(position=2, needs="b")),
        ("add_user change_password wpa_passphrase", _Rule(position=1)),
        ("secrets config:set vault", _Rule(separator="=")),
        ("smbclient rpcclient winexe", _Rule(separator="%")),
        ("lftp", _Rule(separator=",")),
        ("sqlplus", _Rule(separator="/")),
    )
    for name in names.split()
}
# What reads a secret from its standard input, and what writes it there.
_READERS: Final = ("--with-token", "--password-stdin", "--token-stdin", "--stdin", "chpasswd", "sudo -S", "passwd")

_MAX_COMMAND: Final = 600  # characters that are looked at behind a program's name
_MAX_WORD: Final = 4096
_LONGEST_SHORT_OPTION: Final = 3  # `-p`, `/p:`
_NAME: Final = lazy_pattern(
    r"(?<![\w.-])(?:" + "|".join(sorted(map(re.escape, _RULES), key=len, reverse=True)) + r")(?![\w-])"
)
# A quote before a space ends the script that the command is part of: `sh -c "mysql -phunter2"`.
_SHELL_WORD: Final = lazy_pattern(
    r"""(?:[ \t]|\\\n)+((?:"(?![\s;|&)]|$)[^"\n]*"|'(?![\s;|&)]|$)[^'\n]*'|[^\s"'\\;|&)]|\\[^\n"'])+)"""
)
_LIST_WORD: Final = lazy_pattern(r"""\\?["'],\s{0,4}\\?["']([^"'\\\n]*)""")
_HERE_STRING: Final = lazy_pattern(r"""<<<\s*(?:"[^"\n]*"|'[^'\n]*'|[^\s;|&"']+)""")
_PIPED: Final = lazy_pattern(r"""\b(echo|printf)((?:\s+-\w+)*)\s+((?:"[^"\n]*"|'[^'\n]*'|[^\n;|&"'])+?)(\s*)\|(?!\|)""")
MENTIONS: Final = "|".join(
    (
        *(re.escape(name).replace(r"\-", "-") for name in _RULES if not re.search("curl|zip|7z", name)),
        *("curl.*-b", "zip.*-P", "7z.*-p", "--stdin", "sudo -S"),  # few of those commands have a secret
    )
)
"""A regular expression as RE2 reads it: whatever `mask_arguments` changes has a match, also in JSON."""


def mask_arguments(text: str, mask: str) -> str:
    """Masks the secret arguments of every command in a text, also of commands in a quoted script."""
    spans = [span for found in _NAME.finditer(text) for span in _secret_spans(text, found[0], found.end())]
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + mask + text[end:]
    if any(reader in text for reader in _READERS):
        text = _HERE_STRING.sub(f"<<< {mask}", text)
        text = _PIPED.sub(rf"\g<1>\g<2> {mask}\g<4>|", text)
    return text


def mask_argument_list(words: Sequence[str], mask: str) -> dict[int, str]:
    """The words of a list that are secret or have a secret at their end, as they may be shown."""
    masked: dict[int, str] = {}
    for at, word in enumerate(words):
        name = word.rpartition("/")[2]
        if name in _RULES:
            rest = words[at + 1 :]
            masked |= {at + 1 + n: rest[n][:start] + mask for n, start in _find_secrets(_RULES[name], rest)}
    return masked


def _secret_spans(text: str, name: str, at: int) -> Iterator[tuple[int, int]]:
    """The start and end of each secret among the words behind a program's name."""
    word, words, limit = _SHELL_WORD if text[at : at + 1].isspace() else _LIST_WORD, [], at + _MAX_COMMAND
    while at < limit and (found := word.match(text, at, limit + _MAX_WORD)) is not None:
        words.append(_unquote(text, *found.span(1)))
        at = found.end()
    for secret in _find_secrets(_RULES[name], [text[start:end] for start, end in words]):
        start, end = words[secret.word]
        yield start + secret.start, end


def _unquote(text: str, start: int, end: int) -> tuple[int, int]:
    is_quoted = end - start > 1 and text[start] in "\"'" and text[end - 1] == text[start]
    return (start + 1, end - 1) if is_quoted else (start, end)


def _find_secrets(rule: _Rule, words: Sequence[str]) -> Iterator[_Secret]:
    position, has_needed = -1, not rule.needs
    for at, word in enumerate(words):
        if at and words[at - 1] in rule.values and word and not word.startswith("--"):
            yield _Secret(at, 0)
        elif start := _attached_start(rule, word) or _start_behind(rule.separator, word):
            yield _Secret(at, start)
        elif word.startswith("-"):
            has_needed = has_needed or (not word.startswith("--") and rule.needs in word)
        else:
            position += 1
            if position == rule.position and has_needed:
                yield _Secret(at, 0)


def _attached_start(rule: _Rule, word: str) -> int:
    """Where the value begins in `-phunter2` or `--cookie=hunter2`; 0 if the word has no value."""
    for option in (*rule.attached, *rule.values):
        is_long = option.startswith("--")
        if not is_long and len(option) > _LONGEST_SHORT_OPTION:  # such as openssl's -passin: its value is the next word
            continue
        prefix = f"{option}=" if is_long else option
        if word.startswith(prefix) and len(word) > len(prefix):
            return len(prefix)
    return 0


def _start_behind(separator: str, word: str) -> int:
    """Where the text after the separator begins; 0 if there is none."""
    if not separator or (word.startswith("-") and not word.startswith("--from-literal=")):
        return 0
    start = word.find(separator) + 1
    return start if start < len(word) else 0

"""Passwords that a program takes as an argument which nothing names: `mysql -phunter2`, `redis-cli -a hunter2`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from hookline.lazy_imports import lazy_pattern


class _Rule(NamedTuple):
    """Which of the words after a program or subcommand are secret."""

    values: tuple[str, ...] = ()  # options and words before a secret; it may be attached to a short option
    attached: tuple[str, ...] = ()  # options whose value is the rest of the word, never the next one
    position: int = -1  # of the first of two secret words among those that are not options
    needs: str = ""  # the position counts only with this option, which is a letter or begins with dashes
    separator: str = ""  # what follows it in any word: `NAME=hunter2`, `ann%hunter2`
    options: str = "-"  # what an option begins with
    contains: str = ""  # a value without it is not a secret; short options may be grouped: `-sb`
    keys: tuple[str, ...] = ()  # beginnings of a word before one or two secrets, such as a setting that has them


class _Secret(NamedTuple):
    """A secret: from this character of this word to the word's end."""

    word: int
    start: int


_PACKAGE_LOGINS: Final = (
    *("http-basic", "bearer", "pypi-token", "github-oauth", "gitlab-oauth", "gitlab-token", "bitbucket-oauth"),
    *("forgejo-token", "custom-headers"),
)
_RULES: Final[dict[str, _Rule]] = {
    name: rule
    for names, rule in (
        ("mysql, mysqldump, mysqlimport, mysqlshow, mysqlcheck, mysqlsh", _Rule(attached=("-p",))),
        ("mariadb, mariadb-dump, mariadb-admin, mariadb-import, mycli", _Rule(attached=("-p",))),
        ("mysqladmin", _Rule(("password",), attached=("-p",))),
        ("7z, 7za, 7zr, 7zz", _Rule(attached=("-p",))),
        ("rar, unrar", _Rule(attached=("-p", "-hp"))),
        ("xfreerdp, xfreerdp3, wfreerdp", _Rule(attached=("/p:",))),
        ("cmdkey", _Rule(attached=("/pass:",))),
        ("sshpass, mongo, mongosh, mongodump, mongorestore, mongoexport, mongoimport", _Rule(("-p",))),
        ("ncftp, crackmapexec, netexec, nxc, steghide, racadm, supabase link", _Rule(("-p",))),
        ("patch secret, patch secrets", _Rule(("-p", "--patch"))),
        ("signtool", _Rule(("/p", "/P", "-p"))),
        ("azuresigntool, AzureSignTool", _Rule(("-kvs",))),
        ("schtasks", _Rule(("/rp", "/RP", "/p", "/P"))),
        ("pscp, plink, psftp, putty", _Rule(("-pw",))),
        ("pdftk", _Rule(("input_pw", "user_pw", "owner_pw"))),
        ("pdftotext, pdftoppm, pdfinfo, pdfimages, pdftocairo", _Rule(("-upw", "-opw"))),
        ("db2", _Rule(("using",))),
        (
            "rclone config",
            _Rule(("pass", "password", "password2", "token", "key", "secret_access_key", "client_secret")),
        ),
        ("composer config, global config, poetry config", _Rule(keys=_PACKAGE_LOGINS)),
        ("bundle config", _Rule(separator=":")),
        ("rabbitmqadmin, useradd, usermod, rdesktop, cqlsh, cypher-shell, beeline, hdbsql", _Rule(("-p",))),
        ("twine, ncftpput, ncftpget, psexec, altool, unlock-keychain, certutil, evil-winrm", _Rule(("-p",))),
        ("login", _Rule(("-p",))),  # of docker, podman, helm registry, oc, az, cf
        ("poetry publish, uv publish", _Rule(("-p", "-t"))),
        ("glab auth, doctl auth, vercel, codecov", _Rule(("-t",))),
        ("gitlab-runner", _Rule(("-r",))),
        ("hash-password", _Rule(("-p", "--plaintext"))),
        ("redis-cli, valkey-cli, keydb-cli", _Rule(("-a", "AUTH", "auth", "requirepass"))),
        ("ldapsearch, ldapmodify, ldapadd, ldapdelete, ldappasswd, ldapwhoami, ldapcompare", _Rule(("-w", "-s"))),
        ("sqlcmd, osql, bcp, mssql-cli, tsql, ipmitool, mosquitto_pub, mosquitto_sub", _Rule(("-P",))),
        ("zip, unzip, zipcloak, security import", _Rule(("-P",))),
        ("ssh-keygen", _Rule(("-N", "-P"))),
        ("snmpget, snmpset, snmpwalk, snmpbulkwalk", _Rule(("-A", "-X", "-c"))),
        ("openssl", _Rule(("-k", "-K", "-pass", "-passin", "-passout", "-password", "-passwd"))),
        ("keytool, jarsigner, apksigner", _Rule(("-storepass", "-keypass", "-new"))),
        ("add-generic-password, add-internet-password", _Rule(("-w",))),
        ("set-key-partition-list", _Rule(("-k",))),
        ("dotnet nuget", _Rule(("-k",))),
        ("curl", _Rule(("-b", "--cookie"), contains="=")),  # else it is a file
        ("http, https, xh, xhs", _Rule(("-a", "--auth"))),
        ("nmcli", _Rule(("password", "psk", "wifi-sec.psk", "802-11-wireless-security.psk"))),
        ("secret", _Rule(("-b", "--body", "--value"), separator="=")),  # gh secret set, kubectl create secret
        ("create-secret, put-secret-value, update-secret", _Rule(("--secret-string",))),
        ("put-parameter", _Rule(("--value",))),
        ("htpasswd", _Rule(position=1, needs="b")),
        ("add_user, change_password, authenticate_user, wpa_passphrase, user:password", _Rule(position=1)),
        ("cf auth, credstash put, cloudflared service", _Rule(position=1)),
        ("samba-tool user, chamber write", _Rule(position=2)),
        ("encrypt_string, travis encrypt, reset-admin-password, security:hash-password", _Rule(position=0)),
        ("bw login, env:set", _Rule(position=1)),
        (
            "bw unlock, cargo login, wandb login, snyk auth, authtoken, add-authtoken, setapikey, unseal",
            _Rule(position=0),
        ),
        ("set-initial-password, openssl passwd, mkpasswd, rclone obscure", _Rule(position=0)),
        ("ConvertTo-SecureString", _Rule(position=0)),
        ("nuget push", _Rule(("-ApiKey", "-k", "--api-key"), position=1)),
        ("net user, net use", _Rule(position=1, options="-/")),
        ("isql", _Rule(("-P",), position=2)),
        ("networksetup", _Rule(position=2)),
        ("mc alias", _Rule(position=3)),  # set NAME URL KEY SECRET
        ("pulumi config", _Rule(position=2, needs="--secret")),
        ("vault login, vault unwrap, bao login, bao unwrap", _Rule(position=0, separator="=")),
        ("vault token, bao token, secrets set", _Rule(position=1, separator="=")),
        ("secrets, config:set, config:add, railway variables, vault, bao", _Rule(separator="=")),
        ("smbclient, rpcclient, winexe", _Rule(separator="%")),
        ("lftp", _Rule(separator=",")),
        ("sqlplus", _Rule(separator="/")),
        ("sops", _Rule(("--set",))),
        ("sops set", _Rule(position=2)),
    )
    for name in names.split(", ")
}
_RULE_NAMES: Final[dict[str, list[str]]] = {}
"""By their first words."""
for _name in _RULES:
    _RULE_NAMES.setdefault(_name.partition(" ")[0], []).append(_name)
# What reads a secret from its standard input, and what writes it there.
_READERS: Final = (
    *("--with-token", "--password-stdin", "--token-stdin", "--stdin", "--data-file=-", "chpasswd", "sudo -S", "passwd"),
    *("secret put", "secret set", "secret create", "cryptsetup", "kinit", "pass insert", "vault login", "lpass login"),
    *("keyring set", "store-secret", "secret-tool store", "keepassxc-cli", "ssh-add", "--passwd-on-stdin"),
)

_MAX_COMMAND: Final = 600  # characters that are looked at behind a program's name
_MAX_WORD: Final = 4096
_WORDS: Final = lazy_pattern(r"[\w:-]+")
_PATH: Final = lazy_pattern(r"(?s)^.*[/\\]|\.exe$")
_QUOTED_LETTER: Final = lazy_pattern(r"""(?<=\w)(?:\\|""|'')(?=\w)""")
_BETWEEN_WORDS: Final = r"""(?:["']?[ \t]+["']?|\\?["'],\s{0,4}\\?["'])"""
# A quote before a space ends the script that the command is part of: `sh -c "mysql -phunter2"`.
_SHELL_WORD: Final = lazy_pattern(
    r"""(?:[ \t]|\\\n)+((?:"(?![\s;|&)]|$)(?:[^"\\\n]|\\[^\n])*"|'(?![\s;|&)]|$)[^'\n]*'|[^\s"'\\;|&)]|\\[^\n"'])+)"""
)
_LIST_WORD: Final = lazy_pattern(r"""\\?["'],\s{0,4}\\?["']([^"'\\\n]*)""")
_HERE_STRING: Final = lazy_pattern(r"""<<<\s*(?:"[^"\n]*"|'[^'\n]*'|[^\s;|&"']+)""")
_SU: Final = lazy_pattern(r"(?<![\w.-])su[ \t]")
_PIPED_TO_SU: Final = lazy_pattern(r"\|[ \t\n]*su(?![\w.-])")
# The words are limited, since one search for a pipe begins at each `echo` of a text without one.
_PIPED: Final = lazy_pattern(
    r"""\b(echo|printf)((?:\s+-\w+)*)\s+((?:"[^"\n]{0,1000}"|'[^'\n]{0,1000}'|[^\n;|&"']){1,1000}?)(\s*)\|(?!\|)"""
)


def mentions() -> str:
    """A regular expression as RE2 reads it: whatever `mask_arguments` changes has a match, also in JSON."""
    few_secrets = re.compile("curl|.*zip.*|7z.*|https?|xhs?")  # only some commands of these programs have one
    return "|".join(
        (
            *(
                re.escape(name).replace(r"\-", "-").replace(r"\ ", r"\W{1,6}")
                for name in _RULES
                if not few_secrets.fullmatch(name)
            ),
            *(r"curl.*-\w*b", "zip.*-P", "7z.*-p", r"\bhttps?\W.*-a", r"\bxhs?\W.*-a"),
            *("--stdin", "--data-file=-", "sudo -S", "cryptsetup", "kinit", "pass insert", "lpass login", "identified"),
            *("keyring set", r"pragma.*key"),
            *("<<<", r"\|(?:\s|\\[nt])*su\b"),
            r"""\w(?:\\\\|""|''|\\"\\")\w""",  # in JSON, a backslash is two
        )
    )


def mask_arguments(text: str, mask: str) -> str:
    """Masks the secret arguments of every command in a text, also of commands in a quoted script."""
    names = {(found.end(), found[1]) for found in _find_names(text)} | set(_quoted_names(text))
    spans = {span for end, name in names for span in _secret_spans(text, name, end)}
    for start, end in sorted(spans, reverse=True):
        text = text[:start] + mask + text[end:]
    is_read_by_su = ("<<<" in text and _SU.search(text)) or ("|" in text and _PIPED_TO_SU.search(text))
    if is_read_by_su or any(reader in text for reader in _READERS):
        text = _HERE_STRING.sub(f"<<< {mask}", text)
        text = _PIPED.sub(rf"\g<1>\g<2> {mask}\g<4>|", text)
    return text


def mask_argument_list(words: Sequence[str], mask: str) -> dict[int, str]:
    """The words of a list that are secret or have a secret at their end, as they may be shown."""
    masked: dict[int, str] = {}
    for at, word in enumerate(words):
        name = _PATH.sub("", word)
        second = words[at + 1].partition("/")[0] if at + 1 < len(words) else ""  # `secret/a`
        for start, known in ((at + 1, name), (at + 2, f"{name} {second}")):
            if known in _RULES:
                rest = words[start:]
                masked |= {start + n: rest[n][:cut] + mask for n, cut in _find_secrets(_RULES[known], rest)}
    return masked


def has_quoted_letters(text: str) -> bool:
    """Whether a word may be spelled with a backslash or empty quotes, as in `my\\sql`, which a shell leaves out."""
    return ("\\" in text or "''" in text or '""' in text) and _QUOTED_LETTER.search(text) is not None


def _find_names(text: str) -> Iterator[re.Match[str]]:
    """Each program or subcommand of a rule. A pattern of all names takes longer to compile than most processes live."""
    names = tuple([name for word, names in _RULE_NAMES.items() if word in text for name in names])
    return _compile_names(names).finditer(text) if names else iter(())


@lru_cache(maxsize=64)
def _compile_names(names: tuple[str, ...]) -> re.Pattern[str]:
    spelled = [re.escape(name).replace(r"\ ", _BETWEEN_WORDS) for name in sorted(names, key=len, reverse=True)]
    # the end is that of `kubectl patch secret/a`
    return re.compile(
        rf"(?<![\w.-])({'|'.join(spelled)})(?![\w-])(?:\.exe\b|(?<=secret)/[\w.-]+|(?<=secrets)/[\w.-]+)?"
    )


def _quoted_names(text: str) -> Iterator[tuple[int, str]]:
    """The end of each program's name that is spelled so, and the name."""
    if not has_quoted_letters(text):
        return
    parts: list[str] = []
    ends: list[int] = []  # the place in the text behind each character that is kept
    at = 0
    for found in (*_QUOTED_LETTER.finditer(text), None):
        start = len(text) if found is None else found.start()
        parts.append(text[at:start])
        ends += range(at + 1, start + 1)
        at = start if found is None else found.end()
    for name in _find_names("".join(parts)):
        yield ends[name.end() - 1], name[1]


def _secret_spans(text: str, name: str, at: int) -> Iterator[tuple[int, int]]:
    """The start and end of each secret among the words behind a program's name."""
    if text[at : at + 1] in ("'", '"') and text[at + 1 : at + 2].isspace():  # `"mysql" -phunter2`
        at += 1
    word, words, limit = _SHELL_WORD if text[at : at + 1].isspace() else _LIST_WORD, [], at + _MAX_COMMAND
    while at < limit and (found := word.match(text, at, limit + _MAX_WORD)) is not None:
        words.append(_unquote(text, *found.span(1)))
        at = found.end()
    rule = _RULES.get(name) or _RULES[" ".join(_WORDS.findall(name))]
    for secret in _find_secrets(rule, [text[start:end] for start, end in words]):
        start, end = words[secret.word]
        yield start + secret.start, end


def _unquote(text: str, start: int, end: int) -> tuple[int, int]:
    is_quoted = end - start > 1 and text[start] in "\"'" and text[end - 1] == text[start]
    return (start + 1, end - 1) if is_quoted else (start, end)


def _find_secrets(rule: _Rule, words: Sequence[str]) -> Iterator[_Secret]:
    position, has_needed = -1, not rule.needs or any(_has_option(word, rule.needs) for word in words)
    for at, word in enumerate(words):
        if rule.contains not in word:
            continue
        if _is_value(rule, words, at) and word and not word.startswith("--"):
            yield _Secret(at, 0)
        elif start := _attached_start(rule, word) or _start_behind(rule.separator, word):
            yield _Secret(at, start)
        elif not word.startswith(tuple(rule.options)):
            position += 1
            if any(before.startswith(rule.keys) for before in words[max(0, at - 2) : at] if rule.keys):
                yield _Secret(at, 0)
            if rule.position <= position <= rule.position + 1 and rule.position >= 0 and has_needed:
                yield _Secret(at, 0)


def _has_option(word: str, needed: str) -> bool:
    """Whether the word is this option, or a group of short options with this letter."""
    if needed.startswith("-"):
        return word == needed
    return word.startswith("-") and not word.startswith("--") and needed in word


def _is_value(rule: _Rule, words: Sequence[str], at: int) -> bool:
    """Of an option; or one of two words behind a word such as AUTH, which may be a name and a password."""
    before = words[at - 1] if at else ""
    if rule.contains and before[:1] == "-" and before[1:2] != "-":
        before = f"-{before[-1:]}"
    two_before = words[at - 2] if at > 1 else ""
    return before in rule.values or (two_before in rule.values and not two_before.startswith("-"))


def _attached_start(rule: _Rule, word: str) -> int:
    """Where the value begins in `-phunter2` or `--cookie=hunter2`; 0 if the word has no value."""
    for option in (*rule.attached, *rule.values):
        is_long = option.startswith("--")
        if option not in rule.attached and not is_long and (len(option) > len("-p") or option[0] == "/"):
            continue  # such as openssl's -passin and signtool's /p: its value is the next word
        prefix = f"{option}=" if is_long else option
        if word.startswith(prefix) and len(word) > len(prefix):
            return len(prefix)
    return 0


def _start_behind(separator: str, word: str) -> int:
    """Where the text after the separator begins; 0 if there is none."""
    if not separator or (word.startswith("-") and not word.startswith("--from-literal=")):
        return 0
    start = word.find(separator) + 1
    if word.startswith("//", start):
        return 0  # a URL
    return start if start < len(word) else 0

"""What the log must not show."""

from __future__ import annotations

import json
import re
import string
import time
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hookline.hooks.masking import _RULES, fold_case, mask, mask_by_rules, secret_values
from hookline.hooks.record_settings import RecordedFacts
from hookline.record.facts import RecordableFacts, environment_secrets, may_have_secret


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        ("password=hunter2 x", "hunter2"),
        ("curl 'https://b.s3.example.com/a?X-Amz-Credential=AKID2026&X-Amz-Signature=0f3a9c77d1'", "0f3a9c77d1"),
        ("curl 'https://b.blob.example.com/a?se=2026&sig=aB3%2Fx9%3D&sp=r'", "aB3%2Fx9%3D"),
        ("curl 'https://maps.example.com/json?q=x&key=q8Zk2mfp0w7LsdE4'", "q8Zk2mfp0w7LsdE4"),
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
        ("hub join http://x --key hlk_JhtNWyTCvRgaKxVDfeIbfExt-qcU5j2qTQMPKQ7uZ2s", "JhtNWy"),
        ("DB_PASS=$'hunter2' x", "hunter2"),
        ('DB_PASS=$"hunter2" x', "hunter2"),
        ("PASS=hunter2 x", "hunter2"),
        ("export PASS=$'hunter2'", "hunter2"),
        ("[db]\npass = 'hunter2'\n", "hunter2"),
        ("[db]\npass\t=\thunter2\n", "hunter2"),
        ("user: ann\npass: hunter2\n", "hunter2"),
        ('{"pass": "hunter2"}', "hunter2"),
        ("{user: 'ann', pass: 'hunter2'}", "hunter2"),
        ("<password>hunter2</password>", "hunter2"),
        ("<db:adminPassword kind='x'>\n  hunter2\n</db:adminPassword>", "hunter2"),
        ("<password><![CDATA[hunter2]]></password>", "hunter2"),
        ("<pass>hunter2</pass>", "hunter2"),
        ('<add key="DbPassword" value="hunter2" />', "hunter2"),
        ("machine h login a password hunter2", "hunter2"),
        ("machine h\n  login a\n  password hunter2\n", "hunter2"),
        ("machine h password hunter2 login a", "hunter2"),
        ("default login a password hunter2", "hunter2"),
        ("h:5432:db:u:hunter2", "hunter2"),
        ("# a comment\n*:*:*:u:hun:ter2\n", "ter2"),
        ("echo 'db.example.com:5432:*:u:hunter2' >> ~/.pgpass", "hunter2"),
        ("$config = ['password' => 'hunter22'];", "hunter22"),
        ("db_password => hunter22", "hunter22"),
        ("please log in, my password is hunter22.", "hunter22"),
        ("the API key was: `hunter22`", "hunter22"),
        ('{"key": "DB_PASSWORD", "value": "hunter22"}', "hunter22"),
        ('{"name":"api_key",\n  "value":"hunter22"}', "hunter22"),
        ("env:\n  - name: DB_PASSWORD\n    value: hunter22\n", "hunter22"),
        ("SET PASSWORD FOR ann = 'hunter22'", "hunter22"),
        ("setx API_KEY hunter22", "hunter22"),
        ("htpasswd -nb ann hunter22", "hunter22"),
        ("wandb login hunter22", "hunter22"),
        ("log in with password hunter2, please", "hunter2"),
        ("password -> hunter2", "hunter2"),
        ("restic --password-command 'echo hunter2' snapshots", "hunter2"),
        ("restic --password-command='echo hunter2' snapshots", "hunter2"),
        ('sops --set \'["db"] "hunter2"\' f.yaml', "hunter2"),
        ("sops set f.yaml '[\"db\"]' '\"hunter2\"'", "hunter2"),
        ("curl -d auth=hunter2 host", "hunter2"),
        ("connect(host, auth = 'hunter2')", "hunter2"),
        ("curl 'https://example.com/a?b=c&auth=hunter2'", "hunter2"),
        ("pwd=hunter2 ./deploy", "hunter2"),
        ("$pwd = 'hunter2';", "hunter2"),
        ("self.pwd = correct-horse", "correct-horse"),
        ("curl -d 'user=ann&pwd=hunter2' host", "hunter2"),
        ("user.setPassword('hunter2')", "hunter2"),
        ('client.set_api_key("hunter2", True)', "hunter2"),
        ("auth.changePassword('ann', 'hunter2')", "hunter2"),
        ('new Postgres().withPassword("hun)ter2")', "ter2"),
        (r"update_db_password(\"hunter2\")", "hunter2"),
        ("ssh ann:hunter2@host", "hunter2"),
        ("dsn = ann:hunter2@tcp(127.0.0.1:3306)/db", "hunter2"),
        ("proxy ann:hunter2@10.0.0.1:8080", "hunter2"),
        ("rsync a ann.lee:hunter2@db.example.com:b", "hunter2"),
        ("Authorization: token abcdefgh", "abcdefgh"),
        ("{'Authorization': 'Token abcdefgh'}", "abcdefgh"),
        ("use the token abc123def", "abc123def"),
        ("token dXNlcjpwYXNzd29y", "dXNlcjpwYXNzd29y"),
        ("token abcdefghijklmnopqrstuvwxyz", "abcdefghijklmnopqrstuvwxyz"),
    ],
)
def test_a_secret_is_hidden(text: str, secret: str) -> None:
    assert secret not in mask(text)
    assert "***" in mask(text)
    assert may_have_secret(json.dumps([text]), environment_secrets())
    assert secret not in RecordableFacts(RecordedFacts.MASKED, masks=True).text(text)


@pytest.mark.parametrize(
    "text",
    [
        "git status",
        "curl 'https://example.com/list?key=name-of-a-column&sort=desc'",
        "curl 'https://example.com/list?signal=SIGTERM2026&design=12345678'",
        "echo token",
        "grep password file2.txt",
        "pytest -k password tests2/test_login.py",
        "password test_a1::b",
        "password sha256sum v2",
        "sops -d f.yaml",
        "the password is long",
        "a=b",
        "sk-1",
        "https://example.com:80/x",
        "docker run -u 1000:1000 x",
        "x --token",
        "pass the salt",
        "PASS 12 tests",
        "tests pass = 12",
        "pass=120 fail=0 skip=3",
        "--- PASS: TestLogin (0.00s)",
        "PASS: test_login",
        "pass: 12",
        "if pass == expected:",
        "else:\n    pass\nx = 1",
        "bypass = compute()",
        "<pass>12</pass>",
        "usage: login <user> <password>",
        "<label class='password'>Password</label>",
        "the login page: password reset of a machine",
        "the default password is long",
        "the password is stored in db1, and the token was revoked",
        "the secret is base64-encoded, the token is sha256-hashed",
        "the api key is 128-bit and the private key is in vault2",
        '{"name": "path", "value": "/bin"}',
        "- name: PATH\n  value: /bin",
        "a.py:120:5: error",
        "a.py:120:image:nginx:latest",
        "2001:1234:5678:9abc:def0:1:2:3",
        "ann:x:1000:1000:Ann:/home/ann:/bin/sh",
        "docker run -p 127.0.0.1:8080:80 x",
        "docker run -u1000:1000 x",
        "rsync -avu host:src dst",
        "x -url:https://example.com/a",
        "the token refresh failed, and token authentication too",
        "token refresh-interval",
        "curl -d auth=basic host",
        "connect(auth=oauth2, auth=required)",
        "get(url, auth=HTTPBasicAuth2(user, word))",
        "get(url, auth=session2.auth)",
        "auth=$AUTH1 auth=/etc/auth2.conf",
        "PWD=/home/ann ls",
        "pwd=$(pwd); pwd=`pwd`; pwd=../src1",
        "pwd=src1/lib2",
        "$pwd = Get-Location",
        "pwd = os.getcwd()",
        "if pwd == old1:",
        "pwd = None",
        "getPassword('db1')",
        "set_password_policy('strict1')",
        "setPassword(password)",
        "reset_token_count(5)",
        "docker pull nginx:alpine3.20@sha256:0f3a9c77d1",
        "mailto:ann99@example.com",
        "assignee:bob99@example.com",
        "npm install x@npm:react18@latest",
        "git clone git@github.com:org1/repo2.git",
        "tests/a.py::test_b1@host",
        "call lib:memcpy2@plt",
        "--model openai:qwen3-coder@http://localhost:11434/v1",
        "meet at 10:30am@office",
    ],
)
def test_plain_text_stays(text: str) -> None:
    assert mask(text) == text
    assert mask_without_words(text) == text


def mask_without_words(text: str) -> str:
    for rule in _RULES:
        text = rule.pattern.sub(rule.shown, text)
    return text


@pytest.mark.parametrize("rule", _RULES, ids=range(len(_RULES)))
@settings(max_examples=max(10, settings.default.max_examples // 4), suppress_health_check=[HealthCheck.filter_too_much])
@given(data=st.data())
def test_a_rule_is_asked_about_every_text_that_it_matches(rule: Any, data: st.DataObject) -> None:
    text = data.draw(st.from_regex(re.compile(rule.pattern.pattern, rule.pattern.flags)))
    for letter, same in (("", ""), ("k", "\u212a"), ("s", "\u017f"), ("i", "\u0130"), ("I", "\u0131")):
        spelled = text.replace(letter, same)
        assert mask_by_rules(spelled) == mask_without_words(spelled)
        if rule.pattern.search(spelled):
            assert rule.may_match(fold_case(spelled))
        if mask(spelled) != spelled:
            assert may_have_secret(json.dumps([spelled]), environment_secrets())


def test_all_letters_that_are_the_same_to_a_pattern_are_folded() -> None:
    letters = set(re.findall("(?i)[a-z]", "".join(map(chr, range(0x110000)))))
    assert len(letters) > 52
    assert all(fold_case(letter) in set(string.ascii_lowercase) for letter in letters)


def test_what_is_too_long_is_cut() -> None:
    assert len(mask("x" * 1_000_000)) < 20_000


@pytest.mark.parametrize(
    "piece",
    [
        "password",
        "?key=a1",
        "&sig=",
        "token: ",
        "eyJ",
        "a.",
        "-----BEGIN PRIVATE KEY-----",
        "://a:",
        "sk-",
        "bearer ",
        '"',
        "\\",
        "pass",
        "<password>",
        "a:1234:",
        "machine a ",
        "password is ",
        '"name": "token", ',
        "name: token\n",
        "auth=a",
        "pwd=",
        "set_password(",
        "setpassword('a',",
        "a:b1",
        "a:b1@",
        "token a",
    ],
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

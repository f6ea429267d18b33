from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.hooks.host import inherited_environment
from hookline.hooks.masking import mask
from hookline.hooks.record_settings import RecordedFacts
from hookline.record import facts as facts_module
from hookline.record.facts import MAX_TEXT, RecordableFacts, environment_secrets, may_have_secret
from hookline.record.writer import encode_json, encode_record


def recordable(*, masks: bool = True) -> RecordableFacts:
    return RecordableFacts(RecordedFacts.MASKED if masks else RecordedFacts.FULL, masks=masks)


def may_mask(value: Any) -> bool:
    return may_have_secret(encode_json(value), environment_secrets())


def test_secrets_are_masked_at_any_depth() -> None:
    found = recordable().value({"tool": {"input": {"list": ["--token=abcdefgh12345678", "ls"]}}})
    assert found == {"tool": {"input": {"list": ["--token=***", "ls"]}}}


def test_pass_names_a_password_or_the_result_of_tests() -> None:
    value = {"pass": "hunter2"}, {"pass": 12}, {"pass": ["a", "b"]}, {"pass": True}
    assert may_mask(value[0])
    assert recordable().value(value) == [{"pass": "***"}, *value[1:]]


def test_full_facts_keep_secrets() -> None:
    assert recordable(masks=False).value(["password=hunter2hunter2"]) == ["password=hunter2hunter2"]


def test_a_long_text_is_cut_with_its_hash() -> None:
    facts = recordable()
    short = facts.text("x" * (MAX_TEXT + 5))
    assert short.startswith("x" * MAX_TEXT + "… (5 more characters, sha256 ")
    assert facts.cut == 1
    assert recordable().text("x" * (MAX_TEXT + 5)) == short
    assert recordable().text("x" * (MAX_TEXT + 4) + "y") != short


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ((1, 2.5, None, True), [1, 2.5, None, True]),
        (math.inf, "inf"),
        (b"bytes \xff", "bytes \N{REPLACEMENT CHARACTER}"),
        ({1: "a"}, {"1": "a"}),
        (type("Name", (str,), {})("text"), "text"),
        (object(), "<object>"),
        ({"a", "b"}, "<set>"),
    ],
)
def test_any_value_becomes_json(value: Any, kept: Any) -> None:
    assert recordable().value(value) == kept
    encode_record({"value": recordable().value(value)})


def test_a_value_cannot_run_code_by_being_recorded() -> None:
    class Hostile:
        def __repr__(self) -> str:
            raise AssertionError

        __str__ = __repr__

    assert recordable().value(Hostile()) == "<Hostile>"


def test_depth_and_size_are_limited() -> None:
    deep: Any = "end"
    for _ in range(100):
        deep = [deep]
    facts = recordable()
    encode_record({"value": facts.value([deep, [0] * 100_000, {str(n): [] for n in range(5000)}])})
    assert facts.cut


def test_variables_with_secret_names_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_SECRET", 'quoted"värde')
    assert may_mask(['say quoted"värde now'])
    assert recordable().text('say quoted"värde now') == "say *** now"
    assert not may_mask(["ls -la"])


def test_variables_that_a_program_sets_later_are_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    assert recordable().text("say horse-battery") == "say horse-battery"
    monkeypatch.setenv("LATER_SECRET", "horse-battery")
    assert may_mask(["say horse-battery"])
    assert recordable().text("say horse-battery") == "say ***"


@pytest.mark.parametrize(
    "field",
    [
        *({"auth": "hunter2"}, {"pwd": "hunter2"}, {"psk": "hunter2"}, {"mfa_code": "123456"}, {"pin": "1234"}),
        *({"PIN": 482913}, {"sid": "s%3Ahunter22"}, {"signature": "0f3a9c77d1"}),
    ],
)
def test_fields_with_a_short_name_of_a_secret(field: dict[str, str]) -> None:
    assert may_mask(field)
    assert set(recordable().value(field).values()) == {"***"}


@pytest.mark.parametrize(
    "field",
    [
        *({"auth": "oauth2"}, {"auth": True}, {"pwd": "/home/ann"}, {"pwd": "src/a"}, {"pwd": ""}),
        *({"pin": 13}, {"pin": True}, {"pin": "top"}, {"sid": "S-1-5-21-1004336348"}, {"sid": 12345678}),
        *({"signature": "def f(a1, b2)"}, {"signature": "Ann"}),
    ],
)
def test_a_field_that_says_how_or_where_is_kept(field: dict[str, str]) -> None:
    assert recordable().value(field) == field


def test_the_new_value_of_a_variable_is_masked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DEPLOY_TOKEN", "correct-horse")
    assert recordable().text("say correct-horse") == "say ***"
    monkeypatch.setenv("DEPLOY_TOKEN", "battery-staple")
    assert may_mask(["say battery-staple"])
    assert recordable().text("say battery-staple") == "say ***"
    token = inherited_environment.set({b"HOME": b"/home/ann"})
    try:
        assert recordable().text("say battery-staple") == "say ***"
        monkeypatch.setenv("DEPLOY_TOKEN", "tea-for-two")
        assert recordable().text("say tea-for-two") == "say ***"
    finally:
        inherited_environment.reset(token)


@pytest.mark.parametrize("name", ["DB_PASS", "MYSQL_PWD", "SSHPASS", "REDISCLI_AUTH", "GPG_PASSCODE"])
def test_variables_with_a_name_of_a_password_are_masked(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "correct-horse")
    assert recordable().text("say correct-horse") == "say ***"


@pytest.mark.parametrize("name", ["PWD", "OLDPWD", "SSH_AUTH_SOCK", "SSH_ASKPASS", "BYPASS"])
def test_variables_that_only_sound_like_a_password_are_kept(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "correct-horse")
    assert recordable().text("say correct-horse") == "say correct-horse"


def test_variables_of_the_agent_are_masked_while_its_call_is_decided() -> None:
    for value in ("correct-horse", "battery-staple"):
        token = inherited_environment.set({b"DEPLOY_TOKEN": value.encode(), b"HOME": b"/home/ann"})
        try:
            assert recordable().text(f"deploy {value} /home/ann") == "deploy *** /home/ann"
            assert may_mask({"command": f"deploy {value}"})
        finally:
            inherited_environment.reset(token)
        assert recordable().text(f"deploy {value}") == f"deploy {value}"


def test_many_environments_are_not_kept() -> None:
    for number in range(100):
        token = inherited_environment.set({b"A_TOKEN": f"correct-horse-{number}".encode()})
        assert recordable().text(f"x correct-horse-{number}") == "x ***"
        inherited_environment.reset(token)
    assert len(facts_module._agents_secrets) <= 32


_PARTS = st.sampled_from(
    [
        *(
            "password",
            "PASSWD",
            "passphrase",
            "client_secret",
            "token",
            "api-key",
            "APIKEY",
            "access_key",
            "private-key",
        ),
        *(
            "credentials",
            "=",
            ": ",
            " ",
            '"',
            "'",
            "authorization",
            "Bearer ",
            "basic ",
            "abcdef123456",
            "sk-",
            "rk_live_",
        ),
        *(
            "ghp_",
            "github_pat_",
            "glpat-",
            "AKIA",
            "ASIA0123456789ABCDEF",
            "xoxb-",
            "AIza",
            "npm_",
            "eyJ",
            ".",
            "://",
            "u:p@",
        ),
        *("-u ", "--user ", "--proxy-user=", "name:word", "-----BEGIN RSA PRIVATE KEY-----", "\n", "--", "é", "a" * 36),
        *("mysql ", "-p", "redis-cli ", "-a ", "login ", "zip ", "-P ", "7z ", "curl ", "-b ", "secret ", "vault "),
        *("set ", "sudo -S", "echo ", "| ", "<<< ", "_pass", "-auth", "; pwd=", "_pwd", "auth_key", "htpasswd -b "),
        *("sqlplus ", "/"),
    ]
)


@given(st.lists(_PARTS, max_size=12).map("".join))
def test_what_masking_would_change_is_looked_at(text: str) -> None:
    assert RecordableFacts(RecordedFacts.MASKED, masks=True).text(text) == mask(text)
    if mask(text) != text:
        assert may_mask([text])


def test_a_secret_beside_half_a_character_is_masked() -> None:
    """JSON allows a lone surrogate, which is no text for a search."""
    recordable = RecordableFacts(RecordedFacts.MASKED, masks=True)
    assert recordable.text("\ud800 token=abcdefgh12") == "\ud800 token=***"
    assert recordable.text("http://ann\udfff:hunter22@host") == "http://ann\udfff:***@host"


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ({"password": "hunter22"}, {"password": "***"}),
        ({"dbPassword": 12345678}, {"dbPassword": "***"}),
        ({"headers": {"X-Api-Key": "hunter22"}}, {"headers": {"X-Api-Key": "***"}}),
        (
            {"headers": {"Authorization": "hunter22", "cookie": "id=1"}},
            {"headers": {"Authorization": "***", "cookie": "***"}},
        ),
        ({"secrets": ["a", {"b": "c", "on": True}]}, {"secrets": ["***", {"b": "***", "on": True}]}),
        ({"env": [{"name": "DB_PASSWORD", "value": "x"}]}, {"env": [{"name": "DB_PASSWORD", "value": "***"}]}),
        ({"env": [{"key": "PATH", "value": "/bin"}]}, {"env": [{"key": "PATH", "value": "/bin"}]}),
        ({"otp": "123456", "jwt": "x"}, {"otp": "***", "jwt": "***"}),
        ({"bearer": "x", "cookies": {"sid": "y"}}, {"bearer": "***", "cookies": {"sid": "***"}}),
        ({"selector": "#password", "value": "x"}, {"selector": "#password", "value": "***"}),
        ({"element": "Password box", "text": "x"}, {"element": "Password box", "text": "***"}),
        ({"element": "Search box", "text": "x"}, {"element": "Search box", "text": "x"}),
        ({"header": ["X-Api-Key", "hunter22"]}, {"header": ["X-Api-Key", "***"]}),
        ({"argv": ["mysql", "--password", "hunter22"]}, {"argv": ["mysql", "--password", "***"]}),
        ({"argv": ["app", "--password", "--quiet"]}, {"argv": ["app", "--password", "--quiet"]}),
        ({"argv": ["curl", "-u", "ann:hunter22"]}, {"argv": ["curl", "-u", "ann:***"]}),
        ({"argv": ["docker", "-u", "1000:1000"]}, {"argv": ["docker", "-u", "1000:1000"]}),
        ({"ghp_" + "a1" * 18: 1}, {"***": 1}),
        ({"max_tokens": 4096, "password": "", "secret": None}, {"max_tokens": 4096, "password": "", "secret": None}),
    ],
)
def test_a_value_that_its_name_calls_a_secret_is_masked(value: Any, kept: Any) -> None:
    assert recordable().value(value) == kept
    assert recordable(masks=False).value(value) == value
    if value != kept:
        assert may_mask(value)


@pytest.mark.parametrize("line", ["Authorization: hunter22", "curl -H 'Cookie: id=hunter22; b=c' host"])
def test_secret_headers_are_masked(line: str) -> None:
    assert "hunter22" not in recordable().text(line)
    assert may_mask(line)


@pytest.mark.parametrize("before", range(MAX_TEXT - 45, MAX_TEXT + 2, 3))
@pytest.mark.parametrize("masked_before", ["", "password=hunter22 "])
def test_the_first_half_of_a_secret_is_not_shown_where_a_text_is_cut(before: int, masked_before: str) -> None:
    token = "ghp_" + "aB3dE5gH7" * 4
    start = masked_before + "x" * (before - len(masked_before))
    for value in (f"{start} {token} {'y' * 2000}", f"{start} {token}".encode() + b"y" * 2000):
        assert "ghp_a" not in recordable().value(value)


def test_a_masked_text_is_shown_up_to_where_it_is_cut() -> None:
    short = recordable().text("password=hunter22 " + "x" * MAX_TEXT)
    assert short.startswith("password=*** " + "x" * (MAX_TEXT - 13) + "… (")


@pytest.mark.parametrize(
    "text",
    [
        "curl host \\\n -b id=hunter22",
        "zip -r a.zip \\\n -P hunter22 b",
        "7z a \\\n -phunter22 b",
        "Server=a;\npwd=hunter22",
        "Server=a;\tpwd=hunter22",
        "Server=a;\u00a0pwd=hunter22",
    ],
)
def test_a_secret_on_the_next_line_of_a_command_is_masked(text: str) -> None:
    assert "hunter22" not in recordable().text(text)
    assert may_mask(text)


@pytest.mark.parametrize("word", ["to\u212aen", "pa\u017f\u017fword", "credent\u0130al", "ap\u0131key"])
def test_letters_that_are_the_same_in_another_case_are_looked_at(word: str) -> None:
    assert recordable().value({word: "x", "text": f"{word}=hunter22"}) != {word: "x", "text": f"{word}=hunter22"}
    assert may_mask(f"{word}=hunter22")

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.config.node import Node
from hookline.config.problem import Problem
from hookline.config.reader import read_text
from hookline.runtime.apps.fields import (
    BaseDirectory,
    read_language_servers,
    read_models,
    read_private_hosts,
    read_servers,
    read_store_url,
    read_triggers,
)


def node(text: str) -> tuple[Node, list[Problem]]:
    document, _ = read_text(text, "hookline.yaml")
    assert document is not None
    problems: list[Problem] = []
    return Node.of(document, problems), problems


def test_a_server_is_a_command_or_a_url() -> None:
    at, problems = node("{a: notes --in 'my dir', b: {command: notes, args: [x]}, c: {url: 'https://c.d/mcp'}}")
    servers = {each.name: each.value for each in read_servers(at)}
    assert servers["a"].command == ("notes", "--in", "my dir")
    assert servers["b"].command == ("notes", "x")
    assert servers["c"].url == "https://c.d/mcp"
    assert problems == []


def test_a_model_has_an_address_and_fallbacks() -> None:
    at, problems = node("{fast: 'openai:a', own: {model: 'openai:b', base_url: 'http://h/v1', fallbacks: [fast]}}")
    models = {each.name: each.value for each in read_models(at)}
    assert (models["fast"].model, models["own"].model) == ("openai:a", "openai:b@http://h/v1")
    assert (models["own"].fallbacks, problems) == (("fast",), [])


@pytest.mark.parametrize(
    ("read", "text", "code"),
    [
        (read_servers, "{a: {command: x, url: 'http://y'}}", "missing-key"),
        (read_servers, "{a: {url: nowhere}}", "bad-url"),
        (read_servers, '{a: "it\'s"}', "bad-command"),
        (read_servers, "{'a b': x}", "bad-name"),
        (read_models, "{a: {fallbacks: [b]}}", "missing-key"),
        (read_language_servers, "{a: {command: [x]}}", "missing-key"),
        (read_language_servers, "{a: {command: [x], files: [/etc/*]}}", "outside-project"),
        (read_triggers, "[{cron: '0 3 * * *', http: /x, prompt: p}]", "missing-key"),
        (read_triggers, "[{cron: '99 * * * *', prompt: p}]", "bad-cron"),
        (read_triggers, "[{http: x, prompt: p}]", "bad-route"),
        (read_triggers, "[{http: /x, prompt: '{{prompt}}'}]", "bad-template"),
        (read_triggers, "[{files: ../x, prompt: p}]", "outside-project"),
        (read_private_hosts, "['http://x/']", "bad-host"),
    ],
)
def test_a_wrong_entry_is_a_problem_and_is_left_out(read, text: str, code: str) -> None:
    at, problems = node(text)
    found = read(at)
    assert [problem.code for problem in problems] == [code]
    assert found == () or read is read_language_servers


def test_a_store_is_a_url_of_a_known_database() -> None:
    at, problems = node("'sqlite:///a.db'")
    assert (read_store_url(at), problems) == ("sqlite:///a.db", [])
    at, problems = node("'mysql://x'")
    assert (read_store_url(at), problems[0].code) == (None, "unknown-store")


def test_a_trigger_without_an_id_is_named_after_its_kind_and_place() -> None:
    at, _ = node("[{http: /a, prompt: p}, {cron: '0 3 * * *', prompt: p, id: nightly}, {files: '*.py', prompt: p}]")
    assert [each.name for each in read_triggers(at)] == ["http-0", "nightly", "files-2"]


def test_a_path_must_not_leave_the_root_even_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "p").mkdir()
    (tmp_path / "p" / "link").symlink_to(tmp_path)
    base = BaseDirectory(tmp_path / "p", tmp_path / "p")
    assert base.resolve("skills") == tmp_path / "p" / "skills"
    assert base.resolve("..") is None
    assert base.resolve("link") is None
    assert BaseDirectory(tmp_path / "p").resolve("..") == tmp_path

"""Which words of a command are for another machine."""

from __future__ import annotations

import shlex

import pytest

from hookline.shell.remote_commands import has_remote_command, local_words


@pytest.mark.parametrize(
    ("line", "local"),
    [
        ("docker exec app ls /app", "docker exec app"),
        ("docker exec -it -w /app app ls", "docker exec -it -w /app app"),
        ("docker run --rm -v /x:/y -w /y node:20 npm test", "docker run --rm -v /x:/y -w /y node:20"),
        ("docker compose -f x.yml exec web ls /app", "docker compose -f x.yml exec web"),
        ("docker-compose run --rm web ls /app", "docker-compose run --rm web"),
        ("kubectl exec -n x pod -c web -- ls /app", "kubectl exec -n x pod -c web"),
        ("ssh -p 22 me@host ls /var", "ssh -p 22 me@host"),
    ],
)
def test_a_command_behind_known_options_is_remote(line: str, local: str) -> None:
    assert local_words(tuple(shlex.split(line))) == tuple(local.split())


@pytest.mark.parametrize(
    "line",
    [
        "docker run --privileged alpine cat /etc/shadow",
        "docker run --pid=host alpine cat /etc/shadow",
        "docker cp app:/x /y",
        "docker build /x",
        "ssh -o ProxyCommand=x host cat /x",
        "ssh -F x host cat /x",
        "ssh localhost cat /x",
        "ssh me@127.0.0.1 cat /x",
        "kubectl exec pod ls /x",
        "kubectl cp pod:/x /y",
        "ls /x",
    ],
)
def test_every_other_command_is_local(line: str) -> None:
    assert not has_remote_command(tuple(shlex.split(line)))

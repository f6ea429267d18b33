"""Commands inside the arguments of other programs."""

from __future__ import annotations

import shlex

import pytest

from hookline.shell.expansion import mark_pattern
from hookline.shell.wrappers import RUNNERS, WRAPPERS, found_files, shell_code, unwrap


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (["bash", "-lc", "x"], "x"),
        (["sh", "-c", "-e", "x"], "x"),
        (["/bin/dash", "-ec", "x", "name"], "x"),
        (["pwsh", "-Command", "x", "y"], "x y"),
        (["cmd.exe", "/c", "x"], "x"),
        (["su", "root", "-c", "x"], "x"),
        (["bash", "script.sh"], None),
        (["ls", "-c"], None),
        ([], None),
    ],
)
def test_the_code_of_a_shell(words: list[str], code: str | None) -> None:
    assert shell_code(words) == code


@pytest.mark.parametrize(
    "line",
    [
        "uv run git push",
        "uv run --with x git push",
        "npx -y git push",
        "npx -c 'git push'",
        "npm exec -- git push",
        "pnpm dlx git push",
        "yarn git push",
        "bun x git push",
        "poetry run git push",
        "docker run --rm -v a:b image git push",
        "docker exec -it box git push",
        "docker compose exec web git push",
        "docker run --entrypoint git image push",
        "kubectl exec pod -- git push",
        "flatpak run --command=git app push",
        "systemd-run --user git push",
        "nsenter -t 1 git push",
        "chroot /x git push",
        "watch -n 1 git push",
        "ssh -p 22 host git push",
        "su -c 'git push' root",
        "script -qc 'git push' /dev/null",
        "tmux send-keys -t x 'git push' Enter",
        "tmux send-keys git Space push C-m",
        "tmux new -d 'git push'",
        "screen -dmS x git push",
        "screen -X stuff 'git push\\n'",
        "busybox git push",
        "pkexec git push",
        "find . -exec git push {} +",
        "git submodule foreach 'git push'",
        "git bisect run git push",
        "hyperfine 'git push'",
    ],
)
def test_the_inner_command_is_found(line: str) -> None:
    found = list(unwrap(shlex.split(line)))
    assert any((inner.code or shlex.join(inner.words)).strip().startswith("git push") for inner in found)


@pytest.mark.parametrize("line", ["git status", "npm test", "npm run rm", "yarn add rm", "docker ps rm", "uv sync rm"])
def test_an_argument_that_is_no_command_is_not_one(line: str) -> None:
    assert list(unwrap(shlex.split(line))) == []


def test_every_runner_is_in_the_table() -> None:
    assert WRAPPERS.keys() >= RUNNERS


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("find . -name build", ("./build",)),
        ("find a b/ -type d -name build", ("a/build", "b/build")),
        ("find -L -name build", ("./build",)),
        ("find . -name 'b*'", (mark_pattern("./b*"),)),
        ("find . -name '*'", ()),
        ("find . -name build -o -name src", ()),
        ("find . ! -name build", ()),
        ("find . -not -name build", ()),
        ("find . -name ..", ()),
        ("find . -type d", ()),
    ],
)
def test_find_for_one_name_finds_that_name(line: str, expected: tuple[str, ...]) -> None:
    assert found_files(shlex.split(line)) == expected

"""What git runs because of its settings."""

from __future__ import annotations

import pytest

from hookline.shell.git_settings import alias_of, may_be_alias, settings_of_text, settings_of_words
from hookline.shell.run_commands import read_commands


@pytest.mark.parametrize(
    "text",
    [
        "git config alias.p push; git p",
        "git config --global --add alias.p '!git push'; git p",
        "git config set alias.p push && git p",
        "git -c alias.p=push p",
        "A=push git --config-env=alias.p=A p",
        "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=alias.p GIT_CONFIG_VALUE_0=push git p",
        "export GIT_CONFIG_PARAMETERS=\"'alias.p=push'\"; git p",
        "printf '[alias]\\n\\tp = push\\n' >> ~/.gitconfig; git p",
        "GIT_CONFIG_GLOBAL=<(printf '[alias]\\np = push\\n') git p",
        "git config alias.p push",
        "git config core.pager 'git push'",
        "git -c credential.helper='!git push' fetch",
        "git -c filter.x.smudge='git push' checkout x",
        "git clone -c core.sshCommand='git push' h:x",
        "git clone 'ext::git push' x",
        "git clone 'ext::sh -c git% push' x",
        "git fetch --upload-pack='git push' x",
        "git clone -u 'git push' x",
        "echo 'git push' > h/pre-commit; git -c core.hooksPath=h commit",
        "printf 'git push' | tee .git/hooks/post-checkout; git checkout x",
        "echo 'git push' > d/x; run-parts d",
        "rake -e 'sh \"git push\"'",
        "rake --execute='system(\"git push\")'",
        "echo \"sh('git push')\" > Rakefile; rake",
    ],
)
def test_a_setting_runs_a_command(text: str) -> None:
    assert ("git", "push") in {command.words for command in read_commands(text).commands}


@pytest.mark.parametrize(
    "text",
    [
        "git config user.name 'git push'",
        "git -c user.name='git push' commit",
        "git config alias.p",
        "git push-x",
        "git config --unset alias.p",
        "git -c credential.helper=store fetch",
    ],
)
def test_a_setting_that_is_no_program_runs_nothing(text: str) -> None:
    assert all(command.program == "git" for command in read_commands(text).commands)
    assert ("git", "push") not in {command.words for command in read_commands(text).commands}


@pytest.mark.parametrize(
    ("text", "push"),
    [
        ("git subtree push --prefix dist origin +main", "git push origin +main"),
        ("git -C x subtree -P push push origin main", "git push origin main"),
        ("git lfs push --all origin main", "git push origin main"),
        ("git send-pack --force host:x main", "git push --force host:x main"),
        ("git http-push https://x :main", "git push https://x :main"),
        ("/usr/lib/git-core/git-push -f", "git push -f"),
        ("git-lfs push origin", "git push origin"),
    ],
)
def test_another_way_to_push_is_a_push(text: str, push: str) -> None:
    assert tuple(push.split()) in {command.words for command in read_commands(text).commands}


@pytest.mark.parametrize(
    "text",
    [
        "git log subtree push",
        "git subtree add --prefix push origin main",
        "git lfs push --dry-run origin main",
        "git lfs pull",
        "echo 'git push' > d/x; run-parts --test d",
        "echo 'git push' > notes; git commit",
    ],
)
def test_what_only_looks_like_a_push_is_none(text: str) -> None:
    assert all(command.words[:2] != ("git", "push") for command in read_commands(text).commands)


def test_a_hook_that_calls_git_is_read_once() -> None:
    words = [command.words for command in read_commands("echo 'git status' > h/post-merge; git merge x").commands]
    assert words.count(("git", "status")) == 1


def test_settings_of_variables_are_options() -> None:
    text = "GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=core.hooksPath GIT_CONFIG_VALUE_0=h git commit"
    assert ("git", "-c", "core.hooksPath=h") in {command.words for command in read_commands(text).commands}


def test_settings_are_read_from_words_and_files() -> None:
    words = ["git", "-c", "a.b=c", "--config-env=d.e=F", "clone", "--config=g.h=i"]
    assert list(settings_of_words(words, {"F": {"x": None}})) == [("a.b", "c"), ("d.e", "x"), ("g.h", "i")]
    assert settings_of_text('[alias]\n  p = push\n[remote "x"] uploadpack = y\n[user]\nname = z') == (
        ("alias.p", "push"),
        ("remote.x.uploadpack", "y"),
    )
    assert [alias_of(key) for key in ("alias.p", "Alias.q", "user.name")] == ["p", "q", ""]


@pytest.mark.parametrize(
    ("word", "is_alias"),
    [("p", True), ("ps", True), ("pushf", True), ("pull", False), ("st", False), ("lg", False), ("zz", False)],
)
def test_an_unknown_command_that_abbreviates_another_is_likely_its_alias(word: str, is_alias: bool) -> None:
    assert may_be_alias(word, "push") == is_alias

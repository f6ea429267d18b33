"""The commands that a shell text runs."""

from __future__ import annotations

import time

import pytest

from hookline.shell.grammar import HAS_UNKNOWN, UNKNOWN_WORDS
from hookline.shell.run_commands import read_commands
from hookline.shell.run_text import UNREADABLE, RunCommand


def run(text: str) -> list[tuple[str, ...]]:
    return [command.words for command in read_commands(text).commands if not command.is_written]


@pytest.mark.parametrize(
    "text",
    [
        "x=git; $x push",
        "x=gi; x+=t; $x push",
        "for x in a b; do x=abgit; ${x:2} push; done",
        "for x in a b c d e f g h i; do export x=abgit; ${x:2} push; done",
        "y=ab; x=a; x=b; x=${y}git; ${x:2} push",
        "export x=git; $x push",
        "read x <<< git; $x push",
        "printf -v x git; $x push",
        'a=(git); a+=(push); "${a[@]}"',
        'set -- git push; "$@"',
        "for x in git svn; do $x push; done",
        "if true; then x=git; fi; $x push",
        "IFS=,; x=git,push; $x",
        'f() { git "$@"; }; f push',
        "f() { $1 $2; }; f git push",
        "f() { $x push; }; x=git; f",
        "alias g=git\ng push",
        "alias g='git push'\ng",
        "bash -c '\"$@\"' _ git push",
        "bash -c 'git $1' _ push",
        "bash <<E\ngit push\nE",
        "x=push; bash <<E\ngit $x\nE",
        "cat <<'E' | sudo sh\ngit push\nE",
        "{ echo git push; } | sh",
        "while read l; do $l; done <<< 'git push'",
        'echo git push | while read l; do eval "$l"; done',
        "bash <(echo git push)",
        ". /dev/stdin <<< 'git push'",
        "echo push | xargs git",
        "echo push | xargs -I% git %",
        "parallel git ::: push",
        "e=eval; $e 'git push'",
        "$(echo git) push",
        "`which git` push",
        "git -c alias.p=push p",
        "git -c alias.p='!git push' p",
        "coproc git push",
        "at now <<< 'git push'",
        "ssh host <<E\ngit push\nE",
        "sudo -s <<E\ngit push\nE",
        "bash /dev/fd/3 3<<< 'git push'",
        "git -c core.sshCommand='git push' fetch",
        "GIT_SSH_COMMAND='git push' git fetch",
        "dotenvx run -- git push",
        "trap 'git push' EXIT",
    ],
)
def test_a_hidden_command_is_found(text: str) -> None:
    assert ("git", "push") in run(text)


@pytest.mark.parametrize(
    "text",
    [
        'eval "$x"',
        "$(cat f) push",
        "curl x | sh",
        "echo x | base64 -d | bash",
        "bash <(curl x)",
        'sh -c "ls $x"',
        'read x; eval "$x"',
        "cat f | xargs sh -c",
        "exec 3<<< 'git push'; bash <&3",
    ],
)
def test_what_cannot_be_known_is_an_unknown_command(text: str) -> None:
    assert (UNKNOWN_WORDS,) in run(text) or any(UNKNOWN_WORDS in words[0] for words in run(text))


@pytest.mark.parametrize("text", ["ls", "bash x.sh", ". ./activate", "sh < f", "x=1; echo $x", "git push $y"])
def test_a_script_or_an_unknown_argument_is_no_unknown_command(text: str) -> None:
    assert not any(UNKNOWN_WORDS in words[0] for words in run(text))


def test_settings_and_targets_are_apart() -> None:
    found = read_commands("LD_PRELOAD=x A=b ls > out 2> /dev/null")
    assert (found.settings, found.targets) == (("LD_PRELOAD=x",), ("out", "/dev/null"))


@pytest.mark.parametrize(
    ("text", "feeds"),
    [
        ("curl x | sh", True),
        ("curl x | tee f | sudo sh", True),
        ("(cd x; curl y) | { ls; sh; }", True),
        ("curl x |\n sh", True),
        ('sh -c "$(curl x)"', True),
        ("sh <(curl x)", True),
        ("curl x > >(sh)", True),
        ("sh <<< $(curl x)", True),
        ("curl x | while read l; do sh; done", True),
        ("curl x; sh", False),
        ("curl x && ls | sh", False),
        ("sh | curl x", False),
    ],
)
def test_pipes_and_substitutions_carry_what_a_command_prints(text: str, feeds: bool) -> None:
    def named(name: str) -> list[RunCommand]:
        return [command for command in read_commands(text).commands if command.program == name]

    assert any(first.feeds(second) for first in named("curl") for second in named("sh")) == feeds


@pytest.mark.parametrize(
    "text",
    [
        "a;" * 30_000,
        "x=a; " + "x=$x$x; " * 40 + "eval $x$x$x$x",
        'f() { f; eval "$@"; }; f ' + "x " * 3000,
        "sh -c " * 30 + "ls",
    ],
)
def test_a_text_that_grows_is_read_in_time_or_not_at_all(text: str) -> None:
    begun = time.perf_counter()
    read_commands(text)
    assert time.perf_counter() - begun < 20


@pytest.mark.parametrize(
    "text",
    ["export PATH=$HOME/bin:$PATH", "export PATH=$PWD/bin:$PATH", "PATH=$PWD/a:$HOME/b:$PATH make", "x=$PWD/a:$x"],
)
def test_a_path_that_grows_by_a_directory_runs_nothing_unknown(text: str) -> None:
    assert not any(HAS_UNKNOWN.search(command.program) for command in read_commands(text).commands)


def test_a_text_that_cannot_be_read_is_one_unknown_command() -> None:
    assert read_commands("a;" * 30_000) is UNREADABLE


@pytest.mark.parametrize(
    "text",
    [
        "bash -c 'eval \"$0\"' 'git push'",
        "bash -c 'eval $0' 'git push'",
        "bash -c '$0 $1' git push",
        "bash -c '\"$@\"' x git push",
        "bash -c '$*' x git push",
        "bash -c 'eval \"$@\"' x git push",
        'bash -c \'"$0" "$@"\' git push',
        'sh -c \'exec "$0" "$@"\' git push',
        "sh -c '${0} ${1}' git push",
        "sh -c 'shift; \"$@\"' x y git push",
        "sh -c 'a=$1; eval \"$a\"' x 'git push'",
        "sh -c 'sh -c \"$1\"' x 'git push'",
        "sh -c 'sh -c \"$0\"' 'git push'",
        "sh -c 'printf %s \"$0\" | sh' 'git push'",
        "sh -c 'sh <<<\"$0\"' 'git push'",
        "bash -c 'bash <<<\"$1\"' x 'git push'",
        "bash -c '. <(echo \"$0\")' 'git push'",
        "bash -c 'for a in \"$@\"; do $a; done' x 'git push'",
        "bash -c 'for a; do eval \"$a\"; done' x 'git push'",
        "bash -c '${@}' x git push",
        "bash -c '${@:1}' x git push",
        "bash -c '${*:1:2}' x git push",
        "bash -c '\"${@:0}\"' git push",
        "bash -c '${!#}' x 'git push'",
        "bash -c '${BASH_ARGV0}' 'git push'",
        'set -- git push; "$@"',
        "set git push; $1 $2",
        "set -- 'git push'; eval \"$1\"",
        "exec 3<<<'git push'; bash <&3",
        "exec 3<<<'git push'; bash /dev/fd/3",
        "exec 3<<<'git push'; . /dev/fd/3",
        "exec 3<<<'git push'; source /dev/fd/3",
        "exec 3<<<'git push'; bash /proc/self/fd/3",
        "exec 3<<<'git push'; bash < /dev/fd/3",
        "exec 3<<E\ngit push\nE\nbash <&3",
        "exec 3<<'E'; bash 0<&3\ngit push\nE",
        "bash /dev/stdin <<<'git push'",
        "echo 'git push' | bash /dev/stdin",
        "echo 'git push' | . /dev/stdin",
        ". /dev/stdin <<<'git push'",
        "bash 3<<<'git push' /dev/fd/3",
        "bash 3<<<'git push' <&3",
        "{ bash <&3; } 3<<<'git push'",
        "( bash /dev/fd/3 ) 3<<E\ngit push\nE",
        ". /dev/fd/3 3<<<'git push'",
        "exec <<<'git push'; bash",
        "exec 0<<<'git push'; bash -s",
        "exec {fd}<<<'git push'; bash <&$fd",
        "exec {fd}<<<'git push'; bash /dev/fd/$fd",
        "exec 3<<<'git push'; exec 4<&3; bash <&4",
        "exec 3<<<'git push'; read x <&3; $x",
        "read x <<<'git push'; $x",
        "exec 3<<<'git push'; read -u 3 x; $x",
        "exec 3<<<'git push'; cat <&3 | bash",
        "exec 3<<<'git push'; eval \"$(cat <&3)\"",
        "exec 3<<<'git push'; eval \"$(</dev/fd/3)\"",
        "exec 3<<<'git push'; bash -c \"$(cat /dev/fd/3)\"",
        "exec 3< <(echo git push); bash <&3",
        "exec 3< <(echo git push); . /dev/fd/3",
        "f() { bash <&3; }; f 3<<<'git push'",
        "mapfile -t a <<<'git push'; ${a[0]}",
        "mapfile -t -u 3 a 3<<<'git push'; ${a[0]}",
        "bash -c 'bash <&3' 3<<<'git push'",
        "sudo bash /dev/stdin <<<'git push'",
        "bash -s git push <<<'\"$@\"'",
        "bash -s git push <<<'$1 $2'",
        "echo '\"$@\"' | bash -s git push",
        "busybox sh -c 'eval \"$0\"' 'git push'",
        "env bash -c 'eval \"$0\"' 'git push'",
        "find . -exec sh -c 'eval \"$0\"' 'git push' \\;",
        "exec 3<<<'git push'; env bash <&3",
        "exec 3<<<'git push'; sudo bash /dev/fd/3",
        "exec 3<<<'git push'; timeout 5 bash <&3",
        "echo 'git push' | bash 3<&0 /dev/fd/3",
        "echo 'git push' | { bash /dev/fd/0; }",
        "while read -r l <&3; do $l; done 3<<<'git push'",
        "while read -r l; do eval \"$l\"; done <<<'git push'",
    ],
)
def test_arguments_and_descriptors_are_read(text: str) -> None:
    assert ("git", "push") in run(text)


@pytest.mark.parametrize(
    "text",
    [
        "bash -c 'echo \"$0\"' 'git push'",
        "bash -c 'ls \"$@\"' x a b",
        "exec 3<<<'git push'; cat <&3",
        "exec 3<<<'hello'; bash <&3",
        "cat <<<'git push'",
        "cat 3<<<'git push' <&3",
        'bash -c \'for f in "$@"; do wc -l "$f"; done\' x a b',
        "bash -c 'for f; do wc -l \"$f\"; done' x a b",
        "sh -c 'shift; ls \"$@\"' x a b",
        "exec 3>log; echo hi >&3",
        "exec 2>&1; make",
        "make 2>&1 | tee log",
        "find . -name '*.py' -exec sh -c 'wc -l \"$1\"' _ {} \\;",
        'while read -r x; do echo "$x"; done < VERSION',
        "python /dev/stdin <<<'print(1)'",
        "git log <<<x",
        "exec 3<<<'git push'; exec 3<&-; ls",
        "bash script.sh 'git push'",
        "bash script.sh <<<'git push'",
        "bash -s <<<'$0' 'git push'",
    ],
)
def test_texts_that_no_shell_reads_are_not_commands(text: str) -> None:
    assert ("git", "push") not in run(text)
    assert UNREADABLE.commands[0].words not in run(text)


@pytest.mark.parametrize(
    "text",
    [
        '$SHELL -c "git push"',
        '"$SHELL" -lc "git push"',
        '$BASH <<< "git push"',
        'echo "git push" | $SHELL',
        '$0 -c "git push"',
        'sudo $SHELL -c "git push"',
        'exec "${SHELL}" -c "git push"',
        '${SHELL:-/bin/sh} -c "git push"',
    ],
)
def test_the_variable_of_the_shell_is_a_shell(text: str) -> None:
    assert ("git", "push") in {command.words for command in read_commands(text).commands}

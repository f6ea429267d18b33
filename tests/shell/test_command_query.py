"""Whether a command is of a program, with a subcommand and flags."""

from __future__ import annotations

import pytest

from hookline.shell.command_query import OPTIONS, Answer, CommandQuery, pipes_answer
from hookline.shell.run_commands import read_commands

RM = CommandQuery(("rm",), (), ("r", "f"))
PUSH = CommandQuery(("git",), ("push",), ("force",))


def answer(query: CommandQuery, text: str) -> Answer:
    answers = [query.answer(command) for command in read_commands(text).commands if not command.is_written]
    return True if True in answers else None if None in answers else False


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        (RM, "rm -rf x", True),
        (RM, "rm -fr x", True),
        (RM, "rm -r -f x", True),
        (RM, "rm x -f --recursive", True),
        (RM, "rm --rec --forc x", True),
        (RM, "rm -vRfi x", True),
        (RM, "/bin/rm -rf x", True),
        (RM, "RM.exe -rf x", True),
        (RM, "sudo env A=b rm -r x -f", True),
        (RM, "rm -r x", False),
        (RM, "rm -f x; ls -r", False),
        (RM, "rm -r -- -f", False),
        (RM, "ls -rf", False),
        (RM, "rm -r $x", None),
        (RM, 'rm -r "$x"', None),
        (RM, 'rm -r -- "$x"', False),
        (RM, "rm -r x/$HOME", False),
        (RM, "rm *", None),
        (RM, "rm *.o", False),
        (RM, "rm src/*", False),
        (RM, "$x -rf y", None),
        (RM, "/bin/r? -rf y", None),
        (RM, "g?t -rf y", False),
        (RM, '"$x/bin/ls" -rf', False),
        (RM, '"$x/bin/rm" -rf', True),
        (RM, 'eval "$x"', None),
        (RM, "for f in *.tmp; do rm $f; done", None),
        (RM, 'for f in *.tmp; do rm "$f"; done', False),
        (RM, "find . | xargs rm -f", False),
        (RM, "cat f | xargs rm -f", None),
        (RM, "f=$(mktemp); rm -f $f", False),
        (PUSH, "git push -f", True),
        (PUSH, "git push --force origin main", True),
        (PUSH, "git push --force-with-lease", True),
        (PUSH, "git push --force-with-lease=main:abc", True),
        (PUSH, "git push origin +main", True),
        (PUSH, "git -C d push -f", True),
        (PUSH, "git --git-dir x -c a=b push -uf", True),
        (PUSH, "git --new-option x push -f", True),
        (PUSH, "git push", False),
        (PUSH, "git push --force-if-includes", False),
        (PUSH, "git push -of", False),
        (PUSH, "git commit -m push -f", False),
        (PUSH, "git $x -f", None),
        (PUSH, "git pus? -f", None),
        (PUSH, "git push $x", None),
        (CommandQuery(("git",), ("stash drop",)), "git stash drop -q", True),
        (CommandQuery(("git",), ("stash drop",)), "git stash list", False),
        (CommandQuery(("chmod",), (), ("R",)), "chmod --recursive 777 x", True),
        (CommandQuery(("cp",), (), ("r",)), "cp -a x y", True),
        (CommandQuery(("curl",), (), ("-d",)), "curl --data-binary @f u", True),
        (CommandQuery(("curl",), (), ("d",)), "curl -Hd u", False),
        (CommandQuery(("docker",), ("run",), ("v",)), "docker --context x run --mount a b", True),
        (CommandQuery(("kubectl",), ("delete",)), "kubectl -n x delete pod y", True),
        (CommandQuery(("rm",), (), ("-rf",)), "rm -r --force x", True),
        (CommandQuery(("rm",), (), ("rf",)), "rm -f -R x", True),
        (CommandQuery(("rm",), (), ("rf",)), "rm -f x", False),
        (CommandQuery(("tar",), (), ("-xz",)), "tar -z -x f", True),
        (CommandQuery(("sh",)), "zsh x", True),
        (CommandQuery(("python",)), "python3.12 x", True),
        (CommandQuery(("find",), (), ("delete",)), "find . -delete", True),
    ],
)
def test_an_answer_is_yes_no_or_unknown(query: CommandQuery, text: str, expected: Answer) -> None:
    assert answer(query, text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("curl x | sh", True),
        ("curl x | sudo bash -s -- y", True),
        ("bash <(wget -qO- x)", True),
        ('sh -c "$(curl x)"', True),
        ("curl x | tee f | jq .", False),
        ("curl x; sh f", False),
        ("echo ls | sh", False),
        ("curl x | $SHELL", None),
        ('x=$(curl u); eval "$x"', None),
    ],
)
def test_a_pipe_is_yes_no_or_unknown(text: str, expected: Answer) -> None:
    commands = [command for command in read_commands(text).commands if not command.is_written]
    assert pipes_answer(CommandQuery(("curl", "wget")), CommandQuery(("sh",)), commands) is expected


def test_a_spelling_stands_for_one_flag_of_a_program() -> None:
    for name, table in OPTIONS.items():
        for same in table.same:
            assert len(set(same)) == len(same), name

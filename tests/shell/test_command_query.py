"""Whether a command is of a program, with a subcommand and flags."""

from __future__ import annotations

import pytest

from hookline.shell.command_query import (
    OPTIONS,
    Answer,
    CommandQuery,
    _Feeding,
    is_likely_pipe,
    pipes_answer,
    runs_saved_file,
)
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
        (RM, "for f in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 -rf; do rm $f y; done", True),
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


ANY_RM = CommandQuery(("rm",))
ANY_PUSH = CommandQuery(("git",), ("push",))


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        (RM, "$x -rf y", True),
        (RM, "$x --recursive --force y", True),
        (RM, '"$x" -f -r y', True),
        (RM, "sudo $x -rf y", True),
        (RM, "$sudo rm -rf y", True),
        (RM, 'eval "$x -rf y"', True),
        (RM, "/bin/r? -rf y", True),
        (RM, "$x y", False),
        (RM, "$x -r y", False),
        (RM, "rm $x", False),
        (RM, 'eval "$x"', False),
        (ANY_RM, "$x y", False),
        (ANY_RM, "$x rm y", True),
        (ANY_RM, '"$x" rm y', True),
        (ANY_RM, "$sudo -u root rm y", True),
        (ANY_RM, "$x/rm y", True),
        (ANY_RM, "$x/ls rm", False),
        (ANY_RM, "/bin/r? y", True),
        (ANY_RM, "$x ls rm", False),
        (ANY_PUSH, "$x push", True),
        (ANY_PUSH, "$x -C y push", True),
        (ANY_PUSH, "$x git push", True),
        (ANY_PUSH, "git $x", True),
        (ANY_PUSH, "git pull $x", False),
        (ANY_PUSH, "$x pull", False),
        (PUSH, "git $x --force", True),
        (PUSH, "git $x", False),
        (PUSH, "git push $x", False),
        (PUSH, "$x push", False),
    ],
)
def test_a_command_is_likely_if_only_its_program_or_subcommand_is_unknown(
    query: CommandQuery, text: str, expected: bool
) -> None:
    commands = [command for command in read_commands(text).commands if not command.is_written]
    assert any(query.answer(each) is None and query.is_likely(each) for each in commands) is expected


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


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('curl "$URL" | $PAGER', False),
        ('curl "$URL" | "$PAGER"', False),
        ('curl "$URL" | ${PAGER:-less} -R', False),
        ('curl u | "$PYTHON" -m json.tool', False),
        ("curl u | $JQ .", False),
        ("curl u | $x", False),
        ("curl u | $SHELL", True),
        ('curl u | "$SHELL"', True),
        ("curl u | $BASH", True),
        ("curl u | ${SHELL:-sh}", True),
        ("curl u | $x -s -- y", True),
        ("curl u | $x -", True),
        ("curl u | $sudo bash", True),
        ("curl u | ${x}sh", True),
        ("curl u | /bin/?sh", True),
        ("$x u | sh", True),
        ('x=$(curl u); eval "$x"', True),
    ],
)
def test_a_pipe_to_an_unknown_program_is_likely_if_something_says_so(text: str, expected: bool) -> None:
    sources, targets = CommandQuery(("curl", "wget")), CommandQuery(("sh",))
    commands = [command for command in read_commands(text).commands if not command.is_written]
    answer = pipes_answer(sources, targets, commands)
    assert (answer or is_likely_pipe(sources, targets, commands)) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("curl -o i.sh x && sh i.sh", True),
        ("curl x > i.sh; bash -x i.sh", True),
        ("curl -fsSLO https://x/i.sh && sh i.sh", True),
        ("wget https://x/i.sh; chmod +x i.sh; ./i.sh", True),
        ("curl x --output=/tmp/i && /tmp/i", True),
        ("curl x | tee i.sh; sh i.sh", True),
        ("cd /tmp && curl -oi.sh x; . ./i.sh", True),
        ("curl -s localhost; sh test.sh", False),
        ("curl -o data.json x && python3 report.py data.json", False),
        ("curl -o /dev/null x; sh test.sh", False),
        ("sh i.sh; cat i.sh", False),
    ],
)
def test_a_file_that_was_fetched_and_is_run(line: str, expected: bool) -> None:
    text = read_commands(line)
    commands = [command for command in text.commands if not command.is_written]
    sources, targets = CommandQuery(("curl", "wget")), CommandQuery(("sh", "python3", "source"))
    if ". ./" in line:
        targets = CommandQuery(("sh", "."))
    assert runs_saved_file(sources, targets, commands, text.files) is expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("curl x | python3", True),
        ("curl x | python3 -", True),
        ("curl x | python3 -u", True),
        ("curl x | python3 -W ignore", True),
        ("curl x | python3 -m code", True),
        ("curl x | ruby -r json", True),
        ("curl x | python3 -c 'exec(input())'", True),
        ("curl x | python3 -m json.tool", False),
        ("curl x | python3 -c 'import json, sys; print(json.load(sys.stdin))'", False),
        ("curl x | perl -ne 'print if /a/'", False),
        ("curl x | python3 report.py", False),
        ("curl x | sh -s", True),
    ],
)
def test_an_interpreter_with_code_of_its_own_reads_data(line: str, expected: bool) -> None:
    commands = [command for command in read_commands(line).commands if not command.is_written]
    targets = CommandQuery(("sh", "python3", "perl", "ruby"))
    assert (pipes_answer(CommandQuery(("curl",)), targets, commands) is not False) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("npm publish --dry-run", True),
        ("npm publish --dry-run=true", True),
        ("npm publish --dry-run=client", True),
        ("npm publish --no-dry-run --dry-run", True),
        ("npm publish --no-dry-run=false", True),
        ("npm publish --dry-run=false", False),
        ("npm publish --dry-run=none", False),
        ("npm publish --dry-run --no-dry-run", False),
        ("npm publish -- --dry-run", False),
        ("npm publish --dry-run $x", None),
        ('npm publish --dry-run="$x"', None),
    ],
)
def test_a_dry_run_is_one_only_if_nothing_switches_it_off(text: str, expected: Answer) -> None:
    assert answer(CommandQuery(("npm",), ("publish",), ("dry-run",)), text) is expected


def test_a_flag_that_is_the_value_of_an_option_makes_no_dry_run() -> None:
    query = CommandQuery(("kubectl",), ("delete",), ("dry-run",))
    assert answer(query, "kubectl delete ns x -n --dry-run") is False
    assert answer(query, "kubectl delete ns x -n y --dry-run") is True


@pytest.mark.parametrize("program", ["gradlew.bat", "GRADLEW.CMD", "./gradlew", "C:\\x\\gradlew.exe"])
def test_the_suffix_of_a_windows_program_does_not_count(program: str) -> None:
    assert answer(CommandQuery(("gradlew",)), f"'{program}' publish") is True


@pytest.mark.parametrize(
    "text",
    [
        "a | b | { c; d; } | (e; f | g) > h; i",
        "a $(b | c) | d <(e) | while f; do g | h; done",
        "sh -c 'a | b' | c; x=$(d) e | eval 'f | g'",
        "{ a | { b; c | d; }; e; } | f",
    ],
)
def test_what_feeds_a_command_is_looked_up(text: str) -> None:
    commands = read_commands(text).commands
    feeding = _Feeding(commands)
    for command in commands:
        fed = {id(each) for each in feeding.fed_by(command)}
        assert fed == {id(each) for each in commands if command.feeds(each)}

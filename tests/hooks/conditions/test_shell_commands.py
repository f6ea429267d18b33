"""Conditions on the commands that a shell tool runs."""

from __future__ import annotations

import gc
from typing import Any

import pytest

from hookline import Event, Verdict
from hookline.engine.book import Book
from hookline.hooks.conditions.shell_commands import RUN_PROGRAMS, UNKNOWN_PROGRAM
from hookline.project import load_text


def book(when: str, then: str = "{deny: No.}") -> Book:
    return load_text(f"hooks: [{{id: h, on: tool.before, when: {when}, then: {then}}}]", "hookline.yaml")


def shell(command: Any, name: str = "bash", field: str = "command") -> Event:
    return Event("tool.before", {"tool": {"name": name, "input": {field: command}}})


RM = "{runs: {program: rm, flags: [r, f]}}"


@pytest.mark.parametrize(
    ("event", "denied"),
    [
        (shell("cd x && rm -fr y"), True),
        (shell(["bash", "-lc", "rm -rf y"]), True),
        (shell("rm -rf y", "run_in_terminal"), True),
        (shell("rm -rf y", "some_terminal", "cmd"), True),
        (shell("rm -rf y", "write_file"), False),
        (shell("rm y"), False),
        (shell("$x -rf y"), True),
        (shell("eval $x"), False),
        (shell(5), False),
        (Event("tool.before", {"tool": {"name": "bash", "input": {}}}), False),
    ],
)
def test_a_guard_holds_for_the_commands_of_a_shell(event: Event, denied: bool) -> None:
    assert book(RM).decide_now(event).denied is denied


@pytest.mark.parametrize(
    ("command", "denied_with"),
    [
        ("rm -rf x", "holds likely ignored"),
        ("$x -rf y", "holds likely"),
        ("eval $x", "holds"),
        ("rm $x", "holds"),
        ("rm x", ""),
    ],
)
def test_a_hook_says_what_counts_if_only_the_shell_knows(command: str, denied_with: str) -> None:
    for unparsed in ("holds", "likely", "ignored"):
        guard = book(f"{{runs: {{program: rm, flags: [r, f], unparsed: {unparsed}}}}}")
        assert guard.decide_now(shell(command)).denied is (unparsed in denied_with.split()), unparsed


EVERYDAY = r"""
$EDITOR notes.md
"$PYTHON" -m pytest -x -q
eval "$(ssh-agent -s)"
eval "$(direnv hook bash)"
cat x.sh | bash
source <(kubectl completion bash)
$CC -O2 -o a a.c
"${command[@]}" --verbose
bash -c "$COMMAND"
$SUDO apt-get install -y jq
$(npm bin)/eslint .
$JAVA_HOME/bin/java -jar x.jar
git checkout $BRANCH
git diff $BASE..$HEAD
docker run --rm "$IMAGE" $COMMAND
env $VARS python x.py
find . -name '*.c' -exec $CC -c {} \;
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do echo $i; done
ssh "$HOST" uptime
curl -s "$URL" | jq .
exec "$@"
timeout 5 $COMMAND
""".strip().splitlines()
GUARDS = (
    "{runs: {program: rm, flags: [r, f]}}",
    "{runs: rm}",
    "{runs: {program: git, subcommand: push}}",
    "{runs: {program: git, subcommand: push, flags: [force]}}",
    "{runs: [dd, mkfs]}",
    "{pipes: {from: [curl, wget], to: sh}}",
)


@pytest.mark.parametrize("guard", GUARDS)
def test_everyday_commands_with_variables_pass(guard: str) -> None:
    stopped = [command for command in EVERYDAY if book(guard).decide_now(shell(command)).denied]
    assert not stopped


@pytest.mark.parametrize("guard", GUARDS)
def test_a_line_that_is_too_long_to_read_holds(guard: str) -> None:
    many = "; ".join(f"[ $z ] && x=a{number}" for number in range(40))
    assert book(guard).decide_now(shell(f"{many}; [ $z ] && x=rm; $x y")).denied
    assert book(guard).decide_now(shell(f"x='{' ' * 20_010}rm -rf y'; eval \"$x\"")).denied
    assert book(guard).decide_now(shell("eval " * 12 + "rm y")).denied


def test_an_allow_never_relies_on_what_is_unknown() -> None:
    status = book(
        "{runs: {program: git, subcommand: [status, push]}, not: {runs: {program: git, flags: [f]}}}", "allow"
    )
    assert status.decide_now(shell("git push x")).verdict is Verdict.ALLOW
    assert status.decide_now(shell("git push $x")).verdict is Verdict.SILENT


@pytest.mark.parametrize(
    ("event", "verdict"),
    [
        (shell("ls x; ls y"), Verdict.ALLOW),
        (shell("ls x; rm y"), Verdict.SILENT),
        (shell("ls $(rm y)"), Verdict.SILENT),
        (shell("$x"), Verdict.SILENT),
        (shell("ls; eval $x"), Verdict.SILENT),
        (shell("ls", "some_terminal", "cmd"), Verdict.SILENT),
    ],
)
def test_an_allow_needs_every_command_and_no_guess(event: Event, verdict: Verdict) -> None:
    assert book("{runs: ls}", "allow").decide_now(event).verdict is verdict


MORE = ["ls > x", "ls 2>> x", "PATH=. ls", "LD_PRELOAD=x ls", "./ls", "/tmp/ls", "ls\u00a0x", "ls\x0bx"]
NO_MORE = ["ls > /dev/null", "ls 2>&1", "FOO=1 ls", "/bin/ls", "/usr/bin/ls -l", "ls < x", "ls 'a > b'"]


@pytest.mark.parametrize(
    ("line", "verdict"), [*((line, Verdict.SILENT) for line in MORE), *((line, Verdict.ALLOW) for line in NO_MORE)]
)
def test_an_allow_is_for_a_line_that_does_nothing_else(line: str, verdict: Verdict) -> None:
    assert book("{runs: ls}", "allow").decide_now(shell(line)).verdict is verdict


@pytest.mark.parametrize("line", MORE)
def test_a_guard_holds_for_a_line_that_does_more(line: str) -> None:
    assert book("{runs: ls}").decide_now(shell(line)).denied
    assert book("{kind: shell, not: {runs: [ls, cat]}}").decide_now(shell(line)).denied


@pytest.mark.parametrize("line", NO_MORE)
def test_what_is_excepted_may_not_do_more(line: str) -> None:
    assert not book("{kind: shell, not: {runs: [ls, cat]}}").decide_now(shell(line)).denied


def test_conditions_of_one_hook_are_about_the_same_command() -> None:
    push = book("{runs: {program: git, subcommand: push}, not: {runs: {program: git, flags: [dry-run]}}}")
    assert not push.decide_now(shell("cd x && git push --dry-run")).denied
    assert push.decide_now(shell("git push --dry-run; git push")).denied


def test_a_denylist_holds_for_every_other_command() -> None:
    only_ls = book("{kind: shell, not: {runs: [ls, cat]}}")
    assert not only_ls.decide_now(shell("ls; cat x")).denied
    assert only_ls.decide_now(shell("ls; rm x")).denied
    assert only_ls.decide_now(shell("$x")).denied


def test_pipes_hold_from_one_program_to_another() -> None:
    pipe = book("{pipes: {from: [curl, wget], to: sh}}")
    assert pipe.decide_now(shell("curl x | sudo bash")).denied
    assert pipe.decide_now(shell("curl x | $SHELL")).denied
    assert not pipe.decide_now(shell("curl x | jq .; sh y")).denied
    assert not pipe.decide_now(shell('curl "$URL" | $PAGER')).denied
    assert book("{pipes: {from: curl, to: sh, unparsed: holds}}").decide_now(shell('curl "$URL" | $PAGER')).denied
    assert not book("{pipes: {from: curl, to: sh, unparsed: ignored}}").decide_now(shell("curl x | $SHELL")).denied


def test_the_index_knows_the_programs() -> None:
    assert RUN_PROGRAMS.texts(shell("sudo /bin/RM x; python3 y; $z")) == ("sudo", "rm", "python", UNKNOWN_PROGRAM)
    many = ", ".join(f"{{id: h{n}, on: tool.before, when: {{runs: p{n}}}, then: {{deny: No {n}.}}}}" for n in range(40))
    indexed = load_text(f"hooks: [{many}]", "hookline.yaml")
    assert indexed.decide_now(shell("x=p7; sudo $x")).reason.startswith("No 7.")
    assert indexed.decide_now(shell("$y p7 x")).reason.startswith("No 7.")
    assert indexed.decide_now(shell("eval " * 12 + "$y")).denied
    assert not indexed.decide_now(shell("p99 x")).denied


def test_an_explanation_names_what_runs() -> None:
    condition = book(RM).hooks[0].when
    assert str(condition) == "input.command runs rm with r, f"
    assert condition.why_not(shell("ls; cat x")) == "input.command runs ls, cat, not rm"
    assert condition.why_not(shell("rm x")) == "input.command does not run rm with r, f"
    assert condition.why_not(shell("x", "write_file")) == "the tool runs no shell command"
    (fired,) = book("{kind: shell, runs: {program: rm, flags: [r, f]}}").decide_now(shell("$x -rf y")).trace
    assert fired.why == "the tool's kind is shell and input.command may run rm with r, f"
    (piped,) = book("{pipes: {from: curl, to: sh}}").decide_now(shell("curl u | $x -s")).trace
    assert piped.why == "input.command may pipe curl to sh"


def test_an_explanation_of_a_long_list_is_short() -> None:
    programs = ", ".join(f"p{n}" for n in range(40))
    pipes = book(f"{{pipes: {{from: [{programs}], to: [{programs}]}}}}").hooks[0].when
    assert str(pipes).endswith("to p0 or p1 or p2 or p3 or p4 or p5 or others")
    assert pipes.why_not(shell("ls")) == "input.command runs ls, not p0 or p1 or p2 or p3 or p4 or p5 or others"
    several = book("{any: [{runs: rm}, {runs: find}, {runs: {program: [rm, unlink]}}, {pipes: {from: ls, to: sh}}]}")
    why = "input.command runs cat, not rm or find or unlink or ls"
    assert several.hooks[0].when.why_not(shell("cat x")) == why
    assert several.hooks[0].when.why_not(shell("x", "write_file")) == "the tool runs no shell command"


@pytest.mark.parametrize(
    ("when", "hint"),
    [
        ("{runs: git push}", "Write {program: git, subcommand: push}."),
        ("{runs: rm -rf}", "Write {program: rm, flags: [r, f]}."),
        ("{runs: git push --force}", "Write {program: git, subcommand: push, flags: [force]}."),
        ("{runs: {program: 'rm *'}}", "Write its name, such as rm."),
        ("{pipes: {from: 'curl|wget', to: sh}}", "Write its name, such as rm."),
    ],
)
def test_a_program_that_could_never_match_is_a_problem(when: str, hint: str) -> None:
    (problem,) = book(when).problems
    assert (problem.code, problem.hint) == ("bad-program", hint)


def test_an_event_is_read_anew_for_the_hooks_of_another_file() -> None:
    event = shell("git push $x; git status")
    for number in range(60):
        subcommand = "push" if number % 2 else "fetch"
        verdict = book(f"{{runs: {{program: git, subcommand: {subcommand}}}}}").decide_now(event).verdict
        gc.collect()  # so that the next conditions may be where these were
        assert verdict is (Verdict.DENY if number % 2 else Verdict.SILENT), number

"""Every way to write a command that a guard denies."""

from __future__ import annotations

import itertools
import shlex
from pathlib import Path

import pytest
from attempts import Attempt

import hookline
from hookline import Event

GUARDS = {
    "native": ("guard.yaml", "hooks: [{id: g, on: tool.before, when: {tool: bash, input: {command: {starts: git push}}}, then: {deny: No.}}]"),
    "native-command": ("guard.yaml", "hooks: [{id: g, on: tool.before, when: {tool: bash, input: {command: {command: git push}}}, then: {deny: No.}}]"),
}  # fmt: skip
WORDS = (
    "git push", '"git" push', "'git' push", r"\git push", r"g\it push", "g'i't push", 'gi"t" "push"', "git 'push'", "git  push",
    "git\tpush", "git \\\n push", "gi\\\nt push", "$'git' push", r"$'\x67it' push", r"$'\147it' $'push'", '$"git" push',
    "git -C . push", "git -c a=b push", "git --git-dir=x push", "git --git-dir x push", "git --no-pager push", "git -p push",
    "git -C . -c a=b --no-pager push", "/usr/bin/git push", "./git push", "~/bin/git push", "git${IFS}push", "git$IFS'push'",
    "{git,push}", "g$@it push", "g${nothing}it push", "x=git; $x push", "x=git; ${x} push", "x=push; git $x", "${x:-git} push",
    "gi$()t push", "gi``t push", "$(echo git) push", "`which git` push", "x=gi; x+=t; $x push", "x=abgit; ${x:2} push",
    "f() { git $1; }; f push", "f() { git \"$@\"; }; f push", "alias g=git; g push", "a=(git push); \"${a[@]}\"",
    "set -- git push; \"$@\"", "for x in git; do $x push; done", "read x <<< git; $x push", "echo push | xargs git",
    "echo push | xargs -I% git %", "parallel git ::: push", "bash -c '\"$@\"' _ git push", "bash <(echo git push)",
    "git -c alias.p=push p", "IFS=,; x=git,push; $x", "e=eval; $e 'git push'", "printf -v x git; $x push",
    "{git,} push", "coproc X { git push; }", "read -ra a <<< 'git push'; \"${a[@]}\"", "mapfile -t a <<< $'git\\npush'; \"${a[@]}\"",
    "echo git push | tee x | bash", "echo git push | cat | sh", "split --filter='git push' x", "sort --compress-program='git push' x",
    "parallel ::: 'git push'", "/proc/self/exe -c 'git push'", "/proc/$$/exe -c 'git push'", "perl -e 'system qw(git push)'",
    "perl -e 'open F, \"git push|\"'", "python3 -c \"import os; os.execvp('git', ['git', 'push'])\"",
    "python3 -c \"import os; os.spawnlp(0, 'git', 'git', 'push')\"",
)  # fmt: skip
PREFIXES = (
    "", "env ", "env A=b ", "env -i ", "env -u X ", "env -- ", "A=b ", "A=b C='d e' ", "command ", "command -p ", "builtin ", "exec ",
    "nohup ", "time ", "time -p ", "sudo ", "sudo -u root ", "sudo -E -- ", "sudo --user root ", "sudo A=b ", "doas ", "nice ",
    "nice -n 5 ", "nice -10 ", "timeout 5 ", "timeout -k 1 5s ", "timeout --signal=KILL 5 ", "stdbuf -oL ", "setsid ", "ionice -c 3 ",
    "xargs ", "xargs -n1 ", "xargs -I{} ", "! ", ">/dev/null ", "2>&1 ", "</dev/null ", ">x ", "busybox ", "strace -f ", "unshare -r ",
    "sudo env A=b nohup ", "eval ", "watch -n 1 ", "ssh host ", "find . -exec ", "uv run ", "uv run --with x ", "npx ", "npx -y ",
    "npm exec -- ", "pnpm exec ", "pnpm dlx ", "yarn ", "bunx ", "poetry run ", "pipenv run ", "docker run --rm -v a:b image ",
    "docker exec -it box ", "docker compose exec web ", "podman run image ", "systemd-run --user ", "nsenter -t 1 -m ", "chroot /x ",
    "flatpak run ", "screen -dmS x ", "pkexec ", "f() { \"$@\"; }; f ", "kubectl exec pod -- ", "mise exec -- ",
    "proxychains ", "proxychains4 -q ", "torsocks ", "faketime x ", "cgexec -g cpu:x ", "lockf x ", "dtach -n x ", "abduco -n x ", "daemonize ",
    "devbox run ", "env - ", "env - A=b ", "setarch -R ", "setarch x86_64 ", "linux64 ", "heaptrack ", "nocache ", "dotenv -- ",
    "tox exec -- ", "adb shell ", "multipass exec x -- ", "just --command ", "eval -- ",
)  # fmt: skip
AROUND = (
    "{}", "ls; {}", "ls && {}", "ls || {}", "ls | {}", "ls |& {}", "{} | cat", "{} &", "({})", "( ( {} ) )", "{{ {}; }}", "ls\n{}", "$({})",
    "echo $({})", "echo `{}`", 'echo "a $({}) b"', "echo ${{x:-$({})}}", "cat <({})", "x=$({})", "if {}; then ls; fi", "if ls; then {}; fi",
    "for x in a b; do {}; done", "while ! {}; do ls; done", "until {}; do ls; done", "case $x in a) {};; *) ls;; esac",
    "case $x in (a|b) ls;; c) {};; esac", "f() {{ {}; }}; f", "function f {{ {}; }}", "ls # x\n{}", "cat <<E\n$({})\nE", "cat <<E\nx\nE\n{}",
    "[[ -f x ]] && {}", "[[ a > b ]] || {}", "coproc {}", "a=(1 2); {}", "echo $((1+2)); {}", "! {}", "time {}",
)  # fmt: skip
SHELLS = ("sh -c {}", "$SHELL -c {}", "sudo \"$SHELL\" -lc {}", "echo {} | $SHELL", "$BASH <<< {}", "${{SHELL:-sh}} -c {}", "bash -lc {}", "bash -x -c {}", "/bin/sh -c {}", "env bash -c {}", "sudo sh -c {}", "eval {}", "su -c {}", "bash <<< {}", "echo {} | sh", "dash -ec {}", "bash -c -x {}", "env -S {}", "fish -c {}", "trap {} EXIT", "script -c {} /dev/null", "tmux send-keys {} Enter", "tmux new -d {}", "npx -c {}", ". /dev/stdin <<< {}", "x={}; bash -c \"$x\"", "x={}; eval $x", "hyperfine {}", "while read l; do eval $l; done <<< {}", "source <(echo {})", "bash -c 'eval \"$0\"' {}", "sh -c 'shift; eval \"$1\"' _ x {}", "bash -c 'for a; do eval $a; done' _ {}", "exec 3<<<{}; bash <&3", "exec 3<<<{}; . /dev/fd/3", "exec <<<{}; bash", "{{ bash /dev/fd/7; }} 7<<<{}", "bash -s {} <<<'eval \"$1\"'")  # fmt: skip


def lines() -> list[str]:
    simple = [prefix + words for prefix, words in itertools.product(PREFIXES, WORDS[:20])]
    simple += [
        around.format(words)
        for around, words in itertools.product(AROUND, WORDS)
        if not ("`" in around and "`" in words)
    ]
    simple += [around.format(prefix + "git push") for around, prefix in itertools.product(AROUND, PREFIXES)]
    quoted = [
        shell.format(shlex.quote(line))
        for shell, line in itertools.product(SHELLS, ("git push", "ls; env git -C . push", "(git push)"))
    ]
    heard = [
        "bash <<E\ngit push\nE",
        "cat <<'E' | bash\ngit push\nE",
        "find . -exec git push +",
        "printf 'git push\\n' | bash -s",
    ]
    return list(dict.fromkeys([*simple, *quoted, *heard]))


@pytest.mark.parametrize("guard", GUARDS)
def test_no_spelling_of_a_denied_command_passes(guard: str, tmp_path: Path, attempt: Attempt) -> None:
    file, text = GUARDS[guard]
    (tmp_path / file).write_text(text)
    book = hookline.load(tmp_path / file)
    for line in lines():
        event = Event("tool.before", {"tool": {"name": "bash", "input": {"command": line}}})
        attempt("a denied command in another spelling", not book.decide_now(event).denied, f"{guard}: {line!r}")


@pytest.mark.parametrize(
    "when", ["{tool: bash, input: {command: {starts: 'ls *'}}}", "{runs: ls}", "{runs: {program: ls}}"]
)
def test_no_line_is_allowed_for_one_of_its_commands(when: str, tmp_path: Path, attempt: Attempt) -> None:
    (tmp_path / "guard.yaml").write_text(f"hooks: [{{id: g, on: tool.before, when: {when}, then: allow}}]")
    book = hookline.load(tmp_path / "guard.yaml")
    hidden = [around.format("rm x") for around in AROUND if around not in ("{}", "{} | cat")]
    hidden += [
        "ls > ~/.bashrc",
        "ls >> x",
        "ls &> x",
        "ls 2>x",
        "LD_PRELOAD=x ls",
        "PATH=. ls",
        "./ls",
        "/tmp/ls",
        "sudo ls",
        "xargs ls",
    ]
    hidden += [
        "env LD_PRELOAD=x ls",
        "ls;rm x",
        "ls\nrm x",
        "ls & rm x",
        "bash -c 'ls; rm x'",
        "$x",
        "`ls`",
        "eval ls; rm x",
        "find . -exec rm x +",
        "ls\x0brm x",
        "ls\u00a0rm",
    ]
    for line in hidden:
        event = Event("tool.before", {"tool": {"name": "bash", "input": {"command": line}}})
        attempt("allowed for one of its commands", book.decide_now(event).verdict.name == "ALLOW", repr(line))

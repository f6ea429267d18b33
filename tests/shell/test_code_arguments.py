"""Arguments that a program takes as code: refused in an argv list, a warning in shell text."""

from __future__ import annotations

import re
import shlex

import pytest

from hookline.shell.code_arguments import find_code_arguments, find_code_in_commands, is_code_variable
from hookline.shell.scanner import scan
from hookline.shell.word_scanner import Word


def argument(index: int, text: str) -> Word:
    lead, found, _ = text.partition("{{v}}")
    return Word(index, text.replace("{{v}}", ""), lead, static=not found, has_placeholder=bool(found))


def found_in(argv: list[str]) -> list[tuple[str, str]]:
    """Each word that is code, and the shell that reads it."""
    found = find_code_arguments([argument(index, text) for index, text in enumerate(argv)])
    return [(argv[each.word.position], each.shell) for each in found]


def split(command: str) -> list[str]:
    return shlex.split(command.replace("{{v}}", "\\{\\{v\\}\\}") if "'" not in command else command)


@pytest.mark.parametrize(
    ("argv", "code"),
    [
        ("bash -c 'wc -l {{v}}'", "wc -l {{v}}"),
        ("/bin/sh -ec {{v}}", "{{v}}"),
        ("bash -c -e 'echo {{v}}'", "echo {{v}}"),
        ("bash -euo pipefail -c 'echo {{v}}' _ {{v}}", "echo {{v}}"),
        ("bash -lc 'echo {{v}}'", "echo {{v}}"),
        ("bash --rcfile f -c 'echo {{v}}'", "echo {{v}}"),
        ("bash +x -c -- 'echo {{v}}'", "echo {{v}}"),
        ("env -i X=1 bash -c 'echo {{v}}'", "echo {{v}}"),
        ("sudo -u bob nohup timeout -k 1 5 bash -c 'echo {{v}}'", "echo {{v}}"),
        ("xargs -n 1 sh -c 'echo {{v}}'", "echo {{v}}"),
        ("docker run --rm x bash -c 'echo {{v}}'", "echo {{v}}"),
        ("uv run zsh -c 'echo {{v}}'", "echo {{v}}"),
    ],
)
def test_the_code_of_a_shell_is_shell_text(argv: str, code: str) -> None:
    ((word, shell),) = found_in(split(argv))
    assert word == code
    assert shell in ("bash", "sh", "zsh")


@pytest.mark.parametrize(
    "argv",
    [
        # the program
        "{{v}}", "./bin/{{v}}", "X={{v}} ls", "env {{v}}", "env {{v}} ls", "env X=1 {{v}}", "sudo {{v}}", "sudo -u bob {{v}}",
        "timeout 5 {{v}}", "timeout {{v}} ls", "nice -n 5 {{v}}", "xargs {{v}}", "npx {{v}}", "npx --yes {{v}}", "uvx {{v}}",
        "find . -exec {{v}} ;", "gosu bob {{v}}", "flock lock {{v}}", "sudo --weird bob ls {{v}}", "timeout 5 X={{v}} ls",
        # its code
        "python3 -c {{v}}", "python3 -c 'print({{v}})'", "python3.12 -uc {{v}}", "python3 -c{{v}}", "python3 -m {{v}}",
        "python3 -m timeit {{v}}", "python3 {{v}}", "python3 -- {{v}}", "python3 --weird {{v}}", "python3 -W {{v}} x.py",
        "env -S {{v}}", "env -S'{{v}} x'", "env --split-string={{v}}", "bash {{v}}", "bash -- {{v}}", "bash -n {{v}}",
        "bash -o {{v}} x.sh", "bash --rcfile {{v}} x.sh", "bash -{{v}}", "perl -e {{v}}", "perl -ne print {{v}}", "perl -ne print -- {{v}}",
        "perl -e 1 -e {{v}}", "perl -pe s/a/{{v}}/ f", "perl -I{{v}} x.pl", "ruby -e {{v}}", "ruby -r{{v}} x.rb",
        "node -e {{v}}", "node --eval={{v}}", "node -pe {{v}}", "node -r {{v}} x.js", "node --require={{v}} x.js",
        "php -r {{v}}", "deno eval {{v}}", "lua -e {{v}}", "osascript -e {{v}}", "julia --eval={{v}}", "Rscript -e {{v}}",
        "awk /{{v}}/ file", "awk -v {{v}} 1", "awk -f {{v}} x", "gawk -e {{v}}", "sed s/a/{{v}}/ file", "sed -n 1p {{v}}",
        "sed -i -e s/a/{{v}}/ file", "sed --expression={{v}} f", "jq .{{v}} f", "jq -f {{v}} f", "sqlite3 db {{v}}",
        "psql -c {{v}}", "psql --command={{v}}", "su -c {{v}}", "su bob -c {{v}}", "ssh host {{v}}", "watch {{v}}",
        "parallel echo {{v}}", "make {{v}}", "vim -c {{v}}", "emacs --eval {{v}}", "flock lock -c {{v}}",
        "git -c alias.x={{v}} x", "git -c {{v}} status", "git --config-env={{v}} x", "git --exec-path={{v}} x", "git {{v}}",
        "git config alias.x {{v}}", "git rebase -x {{v}}", "git rebase --exec {{v}}", "git bisect run {{v}}",
        "git submodule foreach {{v}}", "git clone -u {{v}} x", "git clone --upload-pack={{v}} x", "git grep -O{{v}} x",
        "tar cf a --to-command={{v}} b", "tar cf a --checkpoint-action=exec={{v}} b", "tar -I {{v}} -cf a b",
        "rsync -e {{v}} a b", "rsync --rsh={{v}} a b", "sort --compress-program={{v}} f", "split --filter {{v}} f",
        "rg --pre {{v}} x", "rake -e {{v}}", "rake --execute={{v}}", "find . -exec sh -c 'echo {{v}}' ;", "find . -ok sh -c {{v}} ;", "fd -x sh -c {{v}}",
        "xargs -I% sh -c 'echo % {{v}}'", "weird wrapper bash -c 'echo {{v}}'", "weird python3 -c {{v}}", "docker run x awk {{v}}",
        "jq -L lib .{{v}} f", "node -r ./x.js ./{{v}}", "awk -i inc {{v}}", "lua -l m ./{{v}}", "npx -c {{v}}", "npx --package x -c {{v}}",
        "uvx --from x {{v}}", "npx --yes -q {{v}}", "node20 -e {{v}}", "bash-5.2 -n {{v}}", "BASH {{v}}", "php -d a=b ./{{v}}",
        "docker run --entrypoint {{v}} x", "fish -c {{v}}", "pwsh -Command {{v}}", "busybox sh -c {{v}}",
        # a variable that decides what runs
        "env PATH={{v}} ls", "env LD_PRELOAD={{v}} ls", "sudo BASH_ENV={{v}} ls", "env A=1 GIT_SSH_COMMAND={{v}} git fetch",
    ],
)  # fmt: skip
def test_an_argument_that_is_code_is_found(argv: str) -> None:
    words = split(argv)
    found = found_in(words)
    assert found
    assert all("{{v}}" in word for word, _ in found)
    assert not any(shell for _, shell in found)


@pytest.mark.parametrize("argv", ["bash", "sh -s {{v}}", "python3", "python3 -", "sudo bash", "node", "perl -w"])
def test_an_interpreter_without_code_would_run_its_input(argv: str) -> None:
    assert found_in(split(argv))


@pytest.mark.parametrize(
    "argv",
    [
        "ruff check {{v}}", "ruff check -- {{v}}", "chmod a+r {{v}}", "python -m py_compile {{v}}", "python3 tools/check.py {{v}} -c {{v}}",
        "node check.js {{v}}", "node --check -- {{v}}", "bash -n -- {{v}}", "bash -n ./{{v}}", "bash check.sh -c {{v}}",
        "bash -c 'wc -l \"$1\"' _ {{v}}", "sh -ec 'echo \"$1\"' {{v}} {{v}}", "perl -wc -- {{v}}", "php -l -- {{v}}",
        "perl -ne print ./{{v}}", "sed -n 1,5p -- {{v}}", "awk -v name={{v}} '{print name}' {{v}}", "awk -F {{v}} '{print $1}' f",
        "jq --arg c {{v}} '.x = $c' state.json", "jq . {{v}}", "jq -r .a {{v}}", "grep -q {{v}} list.txt", "grep -e {{v}} f",
        "grep -c bash {{v}}", "grep python -c {{v}}", "curl -s -d {{v}} https://example.com/hook", "wc -c {{v}}", "gcc -c {{v}}",
        "git diff -- {{v}}", "git -C {{v}} status", "git commit -m {{v}}", "git push -u origin {{v}}", "git add {{v}}",
        "npx --yes prettier --write {{v}}", "npx --package=x prettier {{v}}", "python3 -Xutf8 x.py {{v}}", "perl -Ilib x.pl {{v}}",
        "node --max-old-space-size=99 x.js {{v}}", "npx prettier --write {{v}}", "npm run lint -- {{v}}", "uv run ruff format {{v}}", "uv run python tools/check.py {{v}}",
        "find . -name {{v}} -exec grep -l x {} +", "find {{v}} -type f", "env X={{v}} ./check", "sudo -u bob ls {{v}}",
        "timeout 5 ./check {{v}}", "flock lock ruff check {{v}}", "./check.sh --command {{v}}", "tar cf a.tar -- {{v}}",
        "rsync -a {{v}} b", "docker run -v {{v}}:/src x make", "command -v {{v}}", "echo bash -c {{v}}",
    ],
)  # fmt: skip
def test_an_argument_that_is_data_is_not(argv: str) -> None:
    assert found_in(split(argv)) == []


@pytest.mark.parametrize(
    "name",
    [
        "BASH_ENV",
        "ENV",
        "LD_PRELOAD",
        "LD_LIBRARY_PATH",
        "DYLD_INSERT_LIBRARIES",
        "PYTHONSTARTUP",
        "PYTHONPATH",
        "PYTHONHOME",
        "PERL5OPT",
        "PERL5LIB",
        "RUBYOPT",
        "RUBYLIB",
        "NODE_OPTIONS",
        "NODE_PATH",
        "GIT_SSH_COMMAND",
        "GIT_EXTERNAL_DIFF",
        "TAR_OPTIONS",
        "PATH",
        "IFS",
        "PROMPT_COMMAND",
        "EDITOR",
        "VISUAL",
        "PAGER",
        "GIT_PAGER",
        "MANPAGER",
        "LESSOPEN",
        "SHELLOPTS",
        "BASHOPTS",
        "PS4",
        "JAVA_TOOL_OPTIONS",
        "_JAVA_OPTIONS",
        "JDK_JAVA_OPTIONS",
        "MAVEN_OPTS",
        "CLASSPATH",
        "GCONV_PATH",
        "HOME",
        "XDG_CONFIG_HOME",
        "SHELL",
        "MAKEFLAGS",
        "RUSTC_WRAPPER",
        "GOFLAGS",
        "OPENSSL_CONF",
        "RSYNC_RSH",
        "SUDO_ASKPASS",
        "BASH_FUNC_ls%%",
        "ZDOTDIR",
        "CC",
        "CFLAGS",
        "LUA_INIT",
        "PHPRC",
        "DOTNET_STARTUP_HOOKS",
        "KUBECONFIG",
    ],
)
def test_a_variable_that_decides_what_runs_is_known(name: str) -> None:
    assert is_code_variable(name)


@pytest.mark.parametrize(
    "name", ["FILE", "INPUT_PATH", "X", "HOOK_FILE", "TOOL_NAME", "CODE", "LANG", "TMPDIR", "USER"]
)
def test_a_variable_of_your_own_is_not(name: str) -> None:
    assert not is_code_variable(name)


def warned(text: str) -> list[str]:
    commands = scan(text, {match.start(): match.end() for match in re.finditer(r"\{\{v\}\}", text)}).commands
    return [found.what for found in find_code_in_commands(commands)]


@pytest.mark.parametrize(
    "text",
    [
        "eval {{v}}", "eval \"echo {{v}}\"", "{{v}} foo", "true && {{v}}", "bash -c \"echo {{v}}\"", "echo {{v}} | sh",
        "echo {{v}} | sudo bash -s", "source {{v}}", ". {{v}}", "trap 'echo {{v}}' EXIT", "PATH={{v}} ls", "export PS4={{v}}",
        "let x={{v}}", "unset {{v}}", "read {{v}}", "declare -i x={{v}}", "export {{v}}", "test -v {{v}}", "printf -v {{v}} x",
        "time eval {{v}}", "command eval {{v}}", "echo {{v}} | xargs -I% sh -c 'echo %'; xargs sh -c {{v}}", "if {{v}}; then :; fi",
        "echo $(bash -c {{v}})", "ssh host {{v}}", "sed s/a/{{v}}/ f", "f={{v}}; [ -f $f ]", "f='a {{v}}'; cat x$f", "f={{v}}; echo $(ls $f)",
    ],
)  # fmt: skip
def test_a_use_as_code_in_shell_text_is_recognised(text: str) -> None:
    assert warned(text)


@pytest.mark.parametrize(
    "text",
    [
        "ruff check -- {{v}}", "for x in {{v}}; do echo \"$x\"; done", "X={{v}} ./check", "export X={{v}}", "[ -f {{v}} ]",
        "printf '%s' {{v}}", "cat {{v}} | wc -l", "local x={{v}}", "echo {{v}} | python3 check.py", "set -- {{v}}",
        'f={{v}}; [ -f "$f" ]', "f={{v}}; g=$f", "f={{v}}; echo $g",
    ],
)  # fmt: skip
def test_a_use_as_data_in_shell_text_is_not(text: str) -> None:
    assert warned(text) == []

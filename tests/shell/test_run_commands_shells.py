"""What bash and dash really run is what hookline sees: random lines with programs that note their arguments."""

from __future__ import annotations

import random
import shutil
import subprocess
from pathlib import Path

import pytest

from hookline.shell.command_query import CommandQuery
from hookline.shell.run_commands import read_commands

PROGRAMS = ("aa", "bb", "cc")
LINES = 60  # in one run of a shell
NOTE = '#!/bin/sh\nl=${0##*/}; for a; do l="$l $a"; done; printf "%s\\n" "$l" >> "$NOTES"\n'


class Lines:
    """Makes random lines that run the programs in roundabout ways."""

    def __init__(self, seed: int, shell: str) -> None:
        self.random = random.Random(seed)
        self.bash = shell == "bash"

    def pick(self, *options: str) -> str:
        return self.random.choice(options)

    def program(self) -> str:
        name = self.random.choice(PROGRAMS)
        quoted = (name, f'"{name}"', f"'{name}'", f"\\{name}", f"{name[0]}''{name[1]}", f'{name[0]}"{name[1]}"', f"{name[0]}$(){name[1]}",
                  f"$(echo {name})", f"`echo {name}`", f"$(printf %s {name})", f"{name[0]}\\\n{name[1]}", f"${{nothing-{name}}}")  # fmt: skip
        return self.pick(*quoted, *((f"$'{name}'", f"$'\\x{ord(name[0]):x}{name[1]}'") if self.bash else ()))

    def argument(self) -> str:
        word = self.pick("-r", "-f", "-rf", "-fr", "--force", "x", "push", "y z")
        return self.pick(f"'{word}'", f'"{word}"') if " " in word else self.pick(word, f"'{word}'", f'"{word}"', word)

    def simple(self) -> str:
        return " ".join((self.program(), *(self.argument() for _ in range(self.random.randrange(4)))))

    def indirect(self) -> str:
        name, argument = self.random.choice(PROGRAMS), self.argument()
        forms = [
            f"v={name}; $v {argument}", f"v={name} w={argument}; $v \"$w\"", f"f() {{ {name} \"$@\"; }}; f {argument}",
            f"f() {{ $1 $2; }}; f {name} x", f"set -- {name} x; \"$@\"", f"for v in {name} aa; do $v {argument}; done",
            f"eval '{name} x'", f"sh -c '{name} \"$1\"' _ {argument}", f"echo x -f | xargs {name}", f"echo {name} -r | sh",
            f"env A=b {name} {argument}", f"command {name} {argument}", f"nohup {name} x", f"timeout 5 {name} {argument}",
            f"nice -n 1 {name} x", f"sh <<E\n{name} -r\nE", f"v=x; sh <<E\n{name} $v\nE", f"cat <<'E' | sh\n{name} -f\nE", f"find / -maxdepth 0 -exec {name} -r {{}} +",
            f"v=$(echo {name}); $v {argument}", f"v='{name} -r -f'; $v", f"IFS=,; v={name},-r; $v", f"if true; then v={name}; fi; $v x",
            f"alias g={name}\ng {argument}", f"echo {name} x | while read l; do $l; done", f"v={name[0]}; v=$v{name[1]}; $v x",
            f"exec {name} {argument}", f"setsid -w {name} x", f"env -S '{name} -r'", f"trap '{name} x' EXIT", f"{name} $(echo -r) x",
            f"f() {{ $v -f; }}; v={name}; f", f"stdbuf -oL {name} x", f"echo -rf | xargs -I% {name} %", f"{{ echo {name} -f; }} | sh",
        ]  # fmt: skip
        if self.bash:
            forms += [
                f"a=({name} -r); \"${{a[@]}}\"", f"a=({name}); a+=(-f); ${{a[@]}}", f"v={name}; v+=; $v -r", f"{{{name},-r,x}}", f"v=zz{name}; ${{v:2}} x",
                f"bash <<< '{name} -r'", f"bash <(echo {name} -f)", f"read v <<< {name}; $v -r", f"printf -v v %s {name}; $v x", f"source <(echo {name} -r)",
                f"while read l; do eval \"$l\"; done <<< '{name} -r'", f"coproc {name} x; wait", f"time {name} x", f"v={name}; ${{v,,}} x", f"declare v={name}; $v -f",
            ]  # fmt: skip
        return self.random.choice(forms)

    def line(self, depth: int = 0) -> str:
        if depth > 2 or self.random.random() < 0.35:
            return self.pick(self.simple(), self.indirect())
        one, two = self.line(depth + 1), self.line(depth + 1)
        if "\n" in one + two or "`" in one + two:
            return f"{one}\n{two}"
        forms = [f"{one}; {two}", f"{one} && {two}", f"{one} | {two}", f"({one}; {two})", f"{{ {one}; }}", f"! {one}", f'echo "$({one})"',
                 f"if {one}; then {two}; fi", f"until {one}; do {two}; break; done", f"case x in a) {one};; *) {two};; esac", f": $({one})", f"v=$({one})"]  # fmt: skip
        if "'" not in one:
            forms += [f"sh -c '{one}'", f"eval '{one}'"]
        return self.random.choice(forms)


@pytest.mark.parametrize("shell", ["bash", "dash"])
@pytest.mark.parametrize("seed", range(3))
def test_every_program_that_a_shell_runs_is_seen(shell: str, seed: int, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    make = Lines(seed, shell)
    (tmp_path / "bin").mkdir()
    for name in PROGRAMS:
        (tmp_path / "bin" / name).write_text(NOTE)
        (tmp_path / "bin" / name).chmod(0o755)
    notes = tmp_path / "notes"
    environment = {"PATH": f"{tmp_path / 'bin'}:/usr/bin:/bin", "NOTES": str(notes), "HOME": str(tmp_path)}
    ran = 0
    for _ in range(LINES):
        line = make.line()
        notes.write_text("")
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([shell, "-c", line], cwd=tmp_path, env=environment, timeout=20, check=False, **options)  # type: ignore[call-overload]
        commands = [command for command in read_commands(line).commands if not command.is_written]
        for note in notes.read_text().splitlines():
            name, *arguments = note.split(" ")
            flags = {letter for each in arguments if each in ("-r", "-f", "-rf", "-fr") for letter in each[1:]}
            query = CommandQuery((name,), (), tuple(sorted(flags)))
            assert any(query.answer(command) is not False for command in commands), (line, note)
            ran += 1
    assert ran > LINES / 4

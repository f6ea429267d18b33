from __future__ import annotations

import pytest

from hookline.dialects.hook_interchange.handlers import shell_template
from hookline.hooks.event import Event

EVENT = Event("tool.before", {})


@pytest.mark.parametrize(
    ("command", "shown", "run"),
    [
        ("./check.sh", "hooks/a/check.sh", "/p/hooks/a/check.sh"),
        ("./check.sh --strict 'a b'", "hooks/a/check.sh --strict 'a b'", "/p/hooks/a/check.sh --strict 'a b'"),
        ("scripts/audit.py", "hooks/a/scripts/audit.py", "/p/hooks/a/scripts/audit.py"),
        ("../shared/x", "hooks/shared/x", "/p/hooks/shared/x"),
        ("grep -r TODO . | wc -l", "grep -r TODO . | wc -l", "grep -r TODO . | wc -l"),
        ("/bin/true", "/bin/true", "/bin/true"),
        ("sed s/a/b/", "sed s/a/b/", "sed s/a/b/"),
        ("$HOME/x.sh", "$HOME/x.sh", "$HOME/x.sh"),
    ],
)
def test_a_relative_path_as_the_first_word_is_a_script_of_the_manifest(command: str, shown: str, run: str) -> None:
    template = shell_template(command, "hooks/a/hook.json", "/p/hooks/a")
    assert (template.source, template.render(EVENT)) == (shown, run)


def test_a_manifest_in_the_project_s_root_leaves_the_command_as_it_is() -> None:
    assert shell_template("./check.sh -x", "hooks.json").source == "./check.sh -x"

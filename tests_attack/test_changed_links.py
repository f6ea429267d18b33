"""A link that changes between the decision and the tool never leads to a guarded file."""

import itertools
from pathlib import Path

import pytest
from attempts import Attempt

from hookline.hooks.path_spellings import ResolvingOnce, normalize_path, resolve_links
from hookline.runtime.tools.workspace import ToolError, Workspace

SPELLINGS = ("link", "./link", "d/../link", "dir/file", "dir/../dir/file", "{}/link", "{}/dir/file", "deep/up/link")


def _point(workspace: Path, name: str, target: str) -> None:
    link = workspace / name
    link.unlink(missing_ok=True)
    link.symlink_to(target)


def _aim(workspace: Path, aim: str) -> None:
    _point(workspace, "link", f"{aim}/file")
    _point(workspace, "dir", aim)


@pytest.mark.parametrize("follow", [True, False])
def test_no_changed_link_is_followed(tmp_path: Path, attempt: Attempt, follow: bool) -> None:
    for name in ("safe", "guarded", "d", "deep"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").write_text(name)
    _point(tmp_path, "deep/up", "..")
    for spelling, again in itertools.product(SPELLINGS, (False, True)):
        path = spelling.format(tmp_path)
        _aim(tmp_path, "safe")
        with ResolvingOnce() as judged:
            joined = f"{tmp_path}/{path}" if not path.startswith("/") else path
            parent = joined.rsplit("/", 1)[0]
            for each in (joined, parent):
                resolve_links(each, normalize_path(each), str(tmp_path))
            if again:  # there and back while hooks decide
                _aim(tmp_path, "guarded")
                resolve_links(joined, normalize_path(joined), str(tmp_path))
        _aim(tmp_path, "guarded")
        reached = ""
        try:
            with Workspace(tmp_path, judged).resolve(path, follow=follow) as target:
                reached = target.path
        except ToolError:
            pass
        attempt("a link changed after the decision", reached.startswith("guarded"), f"{path}, follow {follow}")

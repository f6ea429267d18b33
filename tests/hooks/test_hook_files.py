from __future__ import annotations

from hookline.hooks.hook import Scope
from hookline.hooks.hook_files import NO_FILES, HoldReason, HookFile, HookFiles
from hookline.lazy_dataclasses import replace

FILE = HookFile("/p/hookline.yaml", "hookline.yaml", "native", "project", "hooks: []\n", "accepted")


def test_files_are_parsed_from_their_data() -> None:
    assert HookFiles.parse(HookFiles((FILE,)).data).files == (FILE,)
    assert HookFiles.parse(NO_FILES.data).files == ()


def test_another_text_or_standing_is_another_hash() -> None:
    hashes = {
        HookFiles((HookFile("/p", "p", "native", "user", text, standing),)).hash
        for text in ("a", "b")
        for standing in ("own", "accepted", "restricted", "added")
    }
    assert len(hashes) == 8


def test_what_else_makes_the_hooks_is_kept() -> None:
    skill = replace(FILE, scope=Scope(session="s"), run_by="claude-code")
    hold = HoldReason("x:unreadable", "user", "Nobody can read it.", "x", 3, "native", False)
    kept = HookFiles((skill,), (hold,))
    parsed = HookFiles.parse(kept.data)
    assert (parsed.files, parsed.holds) == ((skill,), (hold,))
    assert len({kept.hash, HookFiles((skill,)).hash, HookFiles((FILE,)).hash, HookFiles((FILE,), (hold,)).hash}) == 4


def test_the_files_of_one_layer_are_replaced() -> None:
    other = replace(FILE, layer="session", text="x")
    files = HookFiles((FILE,)).with_files("session", (other,))
    assert files.files == (FILE, other)
    assert files.with_files("session", (replace(other, text="y"),)).files == (FILE, replace(other, text="y"))
    assert files.with_files("session", ()).files == (FILE,)

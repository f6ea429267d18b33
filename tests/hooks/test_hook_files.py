from __future__ import annotations

from hookline.hooks.hook_files import NO_FILES, HookFile, HookFiles

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

"""Finds, trusts, loads and watches hook files. The one place that joins config, dialects and engine.

Each public name is imported on first use: a process that loads one file needs neither trust nor the watcher.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.project.book_watcher import BookWatcher
    from hookline.project.loader import load, load_all, load_file, load_for_directory, load_text, own_record_settings
    from hookline.project.review import Review
    from hookline.project.sources import Source, SourceLayer, find_sources, named_source, project_directories
    from hookline.project.trust_store import Trust, trust_file_path

__all__ = [
    "BookWatcher",
    "Review",
    "Source",
    "SourceLayer",
    "Trust",
    "find_sources",
    "load",
    "load_all",
    "load_file",
    "load_for_directory",
    "load_text",
    "named_source",
    "own_record_settings",
    "project_directories",
    "trust_file_path",
]

_MODULES = {
    **dict.fromkeys(
        ("load", "load_all", "load_file", "load_for_directory", "load_text", "own_record_settings"), "loader"
    ),
    **dict.fromkeys(("Source", "SourceLayer", "find_sources", "named_source", "project_directories"), "sources"),
    **dict.fromkeys(("Trust", "trust_file_path"), "trust_store"),
    "BookWatcher": "book_watcher",
    "Review": "review",
}


def __getattr__(name: str) -> Any:
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    value = globals()[name] = getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)
    return value

"""Finds, trusts, loads and watches hook files. The one place that joins config, dialects and engine."""

from hookline.project.loader import load, load_all, load_file, load_for_directory, load_text
from hookline.project.review import Review
from hookline.project.sources import Source, SourceLayer, find_sources, named_source, project_directories
from hookline.project.trust_store import Trust, trust_file_path
from hookline.project.watch import BookWatcher

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
    "project_directories",
    "trust_file_path",
]

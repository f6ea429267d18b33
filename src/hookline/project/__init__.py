"""Files → book: find, trust, load, watch. The one place that joins config, dialects and engine."""

from hookline.project.loading import load, load_all, load_here, load_text
from hookline.project.review import Review
from hookline.project.sources import Layering, Source, find, named, project_directories
from hookline.project.trust import Trust, state_file
from hookline.project.watched import Watched

__all__ = [
    "Layering",
    "Review",
    "Source",
    "Trust",
    "Watched",
    "find",
    "load",
    "load_all",
    "load_here",
    "load_text",
    "named",
    "project_directories",
    "state_file",
]

"""Property tests try the same examples on every run, so that a change decides whether they pass, and not the day.

`make fuzz` lets them try others.
"""

import os

from hypothesis import settings

settings.register_profile("steady", derandomize=True, database=None)
settings.register_profile("random", print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

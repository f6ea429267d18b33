"""Property tests try the same examples on every run; `make fuzz` tries new ones.

They have no deadline: a busy machine must not make them fail.
"""

import os
import tempfile

from hypothesis import settings

settings.register_profile("steady", derandomize=True, database=None, deadline=None)
settings.register_profile("random", print_blob=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="hookline-state-")  # the tests' records are not the developer's

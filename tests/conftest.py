"""Property tests try the same examples on every run; `make fuzz` tries new ones, and more of them.

They have no deadline: a busy machine must not make them fail.

The 25,000 tests are some millions of objects, which live as long as the run. The garbage collector leaves them alone: it
would take a third of the time of collecting the tests, and half a second for each `gc.collect` in a test.
"""

import gc
import os
import signal
import tempfile

import pytest
from hypothesis import settings

gc.disable()
settings.register_profile("steady", max_examples=40, derandomize=True, database=None, deadline=None)
settings.register_profile("random", max_examples=500, print_blob=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp(prefix="hookline-state-")  # the tests' records are not the developer's

# A shell without job control starts what it runs in the background with these ignored, and programs inherit that.
for number in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


def pytest_collection_finish(session: pytest.Session) -> None:
    gc.collect()
    gc.freeze()
    gc.enable()

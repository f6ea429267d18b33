"""An interpreter that has already started, and forks itself for each call of a hook that is a Python file.

It is run by its path, by the very Python that would run the hook; neither this file nor those that it imports know
anything of hookline. Below a hook there is one frame, and it is this file's: hence nothing stands here that need not.
"""

# ruff: noqa: E402

import sys

names_of_main = {name: value for name, value in globals().items() if name.startswith("__")}
modules_at_start = dict(sys.modules)

from warm_modules import Preloaded  # type: ignore[import-not-found]

preloaded = Preloaded(modules_at_start)

from warm_child import as_if_alone, status_of  # type: ignore[import-not-found]
from warm_fork import call_of_a_child  # type: ignore[import-not-found]

if __name__ == "__main__":
    call = call_of_a_child(preloaded, names_of_main)
    try:
        exec(call.code, call.names)
    except SystemExit as error:
        call.status = status_of(error.code)
        raise
    except BaseException as error:
        sys.excepthook = as_if_alone(sys.excepthook, call, globals())
        call.status = 1 if isinstance(error, Exception) else None
        raise
    call.forget_file()
    call.status = 0

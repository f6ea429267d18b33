"""A running interpreter that forks itself for each call of a hook that is a Python file.

Run by path, by the same Python that would run the hook. Neither this file nor those it imports know anything of hookline.
This file's frame is the only one below a hook, so it contains only what it must.
"""

# ruff: noqa: E402

import sys

names_of_main = {name: value for name, value in globals().items() if name.startswith("__")}
modules_at_start = dict(sys.modules)

from warm_modules import PreloadedModules  # type: ignore[import-not-found]

preloaded = PreloadedModules(modules_at_start)

from warm_child import exit_status, hide_own_frame  # type: ignore[import-not-found]
from warm_fork import serve_until_call  # type: ignore[import-not-found]

if __name__ == "__main__":
    call = serve_until_call(preloaded, names_of_main)
    try:
        exec(call.code, call.names)
    except SystemExit as error:
        call.status = exit_status(error.code)
        raise
    except BaseException as error:
        sys.excepthook = hide_own_frame(sys.excepthook, call, globals())
        call.status = 1 if isinstance(error, Exception) else None
        raise
    call.forget_file()
    call.status = 0

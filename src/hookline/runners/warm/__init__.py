"""Warm interpreters: Python hooks run in forks of an interpreter that has already started.

An optional speed-up for Linux. Anything unusual is refused and spawned as usual: another system, a command that is more
than a Python file, a different environment, a module that the forked child could not have. `HOOKLINE_WARM=0` switches it
off.
"""

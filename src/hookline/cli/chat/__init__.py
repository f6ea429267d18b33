"""The terminal chat of `hookline run`."""

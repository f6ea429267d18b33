"""Reads config files of every format into one App."""

"""Hooks in the agents of Python frameworks: one module for each framework, and what they share.

`agent_run` turns what happens in a run into events and decisions into answers. An adapter passes both on in its framework's
own way.
"""

"""`hookline run`: the verb, the terminal chat, and one-shot and triggered runs. Needs the extra `agent`."""

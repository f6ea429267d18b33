"""What a coding agent calls, and the warm engine behind it.

The agent starts a client (`client.py`, or `client.c` compiled), which sends the agent's payload to the user's one
engine (`server`) and prints what it answers. Without an engine the client decides in a process of its own (`direct`):
slower, and the same, because both end in `decide`.
"""

"""What a coding agent calls, and the engine behind it.

The agent starts a client (`client.py`, or `client.c` compiled), which sends the agent's payload to the user's engine
(`server`) and prints the answer. Without an engine the client decides in its own process: slower, but with the same
result, because both end in `responder.respond`.
"""

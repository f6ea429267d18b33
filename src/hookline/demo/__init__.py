"""A scripted agent session, offline: real hooks decide about real tool calls in a scratch directory."""

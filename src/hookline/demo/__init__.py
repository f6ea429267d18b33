"""A scripted agent session, offline: real hooks decide real tool calls in a scratch directory."""

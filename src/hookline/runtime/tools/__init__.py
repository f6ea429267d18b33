"""The tools of an agent, limited to its workspace."""

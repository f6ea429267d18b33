"""What an agent can do, within its workspace."""

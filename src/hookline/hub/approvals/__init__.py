"""Questions that wait for a person: of other hosts, and of agents that run on the hub's own database."""

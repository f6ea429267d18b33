"""Open protocols through which other programs ask hookline: the local decide API and the Agent Hooks Protocol."""

"""The agents that the hub runs itself: one runtime for each workspace."""

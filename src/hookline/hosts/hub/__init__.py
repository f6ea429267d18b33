"""The hub that hosts of this user report to and ask."""

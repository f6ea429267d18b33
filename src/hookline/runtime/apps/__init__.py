"""Files → one App, whatever described it."""

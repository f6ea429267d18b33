"""Rules that are made in the console: versioned texts of the flo dialect, in force for the hub's own agents."""

"""What starts a turn by itself: a schedule, a changed file, an HTTP call."""

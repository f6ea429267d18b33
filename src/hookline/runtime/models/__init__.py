"""Models: one request in, pieces of an answer out."""

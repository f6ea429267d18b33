"""Language servers: what they say about a file."""

"""Models: a request goes in, chunks of an answer come out."""

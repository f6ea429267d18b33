"""Language servers: their diagnostics for a file."""

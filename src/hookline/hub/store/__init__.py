"""The hub's tables: one module for each, with its queries."""

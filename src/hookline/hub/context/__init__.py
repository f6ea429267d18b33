"""Everything that a running hub has, for its routes and namespaces."""

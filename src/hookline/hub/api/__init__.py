"""The HTTP API, one module for each thing. A route declares its roles beside its path: see `role_router`."""

"""Tools by module: `module.action`."""

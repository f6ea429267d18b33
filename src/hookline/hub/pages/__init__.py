"""Pages of browser agents: what runs in them, and what goes on at the hub without them."""

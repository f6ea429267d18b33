"""Our own agent, the reference host: sessions, threads, models, tools. Every event is real here."""

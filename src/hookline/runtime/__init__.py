"""hookline's own agent and reference host: sessions, threads, models and tools. It fires every event."""

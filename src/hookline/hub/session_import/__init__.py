"""Sessions that flo or another hub exported."""

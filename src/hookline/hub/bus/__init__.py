"""What happens, told to consoles and programs over Socket.IO."""

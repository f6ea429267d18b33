"""What the hook files of coding agents share. Each agent's own module has the values in which it differs."""

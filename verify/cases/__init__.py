"""Where instances come from."""

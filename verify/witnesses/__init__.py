"""Who computes the actual side."""

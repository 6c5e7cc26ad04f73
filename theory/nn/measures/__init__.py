"""What the papers measure on a network: each takes model, batch and loss from outside."""

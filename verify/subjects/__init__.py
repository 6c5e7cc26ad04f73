"""What statements are about: a unit's batch, a layer, maps, a descent, a random matrix."""

"""Examine statements from many seeds, on as many machines as there are."""

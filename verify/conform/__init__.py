"""Somebody's normalisation layer against the closed forms, in units of what rounding explains."""

"""Layers of frameworks that are not installed are not imported."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("jax") else ["wrong_in_jax.py"]

"""Who works: executors, how many calls run at once, and where to watch them."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass


@dataclass(frozen=True)
class Workers:
    """A way to make an executor, which breaks if its processes do, and what is known of it."""

    executor: Callable[[], Executor]
    width: Callable[[], int]
    """How many calls run at once, which may change."""
    dashboard: str = ""
    """Where to watch them."""

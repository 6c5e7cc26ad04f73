"""Who works, and at what: executors, how many calls run at once, and what a call is."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

ADDRESS = "'local', 'local:4' for four workers here, or the address of a Dask scheduler."
"""What an option says of where workers are."""


@dataclass(frozen=True)
class Workers:
    """A way to make an executor, which breaks if its processes do, and what is known of it."""

    executor: Callable[[], Executor]
    width: Callable[[], int]
    """How many calls run at once, which may change."""
    dashboard: str = ""
    """Where to watch them."""


@dataclass(frozen=True)
class Call:
    """A function of a module and what it is called with, which a process elsewhere can be sent."""

    name: str
    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    tries: int = 0

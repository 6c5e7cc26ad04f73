"""Which module writes a claim down."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType

import theory

BASE = "theory"


@cache
def modules() -> dict[str, ModuleType]:
    """Return the module of every claim, by identifier."""
    found: dict[str, ModuleType] = {}
    for module in _walked():
        if hasattr(module, "__path__"):
            continue
        for claim in getattr(module, "CLAIMS", ()):
            found.setdefault(claim.id, module)
    return found


def _walked() -> Iterator[ModuleType]:
    for info in pkgutil.walk_packages(theory.__path__, f"{BASE}."):
        if info.name in sys.modules or ".nn" not in info.name:
            yield importlib.import_module(info.name)

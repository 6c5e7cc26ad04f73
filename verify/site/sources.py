"""Which module writes a claim down."""

from __future__ import annotations

import importlib
import pkgutil
import sys
from collections.abc import Iterator
from functools import cache
from types import ModuleType

import theory
from theory.statement import Statement

BASE = "theory"


def module_of(claim: Statement) -> ModuleType | None:
    """Return the module whose list of statements has a claim: the paper's, or one of others."""
    ours = _ours().get(claim.id)
    if ours is not None and lists(ours, claim):
        return ours
    return next((m for m in list(sys.modules.values()) if lists(m, claim)), ours)


def lists(module: ModuleType, claim: Statement) -> bool:
    """Whether a module, and not a package that collects several, lists a claim."""
    listed = vars(module).get("CLAIMS") if isinstance(module, ModuleType) else None
    if not isinstance(listed, list | tuple) or hasattr(module, "__path__"):
        return False
    return any(known is claim for known in listed)


@cache
def _ours() -> dict[str, ModuleType]:
    """Return the module of every claim of the papers, by identifier."""
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

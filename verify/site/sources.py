"""Which module writes a claim down."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from functools import cache
from types import ModuleType

from theory import lange2022, santurkar2018
from theory.statement import Statement

PAPERS = tuple(f"{paper.__name__}." for paper in (santurkar2018, lange2022))


def module_of(claim: Statement) -> ModuleType | None:
    """Return the module whose list of statements has a claim: the paper's, or one of others."""
    ours = _ours().get(claim.id)
    if ours is not None and _lists(ours, claim):
        return ours
    return next((m for m in list(sys.modules.values()) if _lists(m, claim)), ours)


def of_papers() -> Iterator[tuple[ModuleType, Statement]]:
    """Yield every statement of the papers with the module that writes it down."""
    for name, module in list(sys.modules.items()):
        if name.startswith(PAPERS):
            yield from ((module, claim) for claim in _listed(module))


def _lists(module: ModuleType, claim: Statement) -> bool:
    return any(known is claim for known in _listed(module))


def _listed(module: ModuleType) -> Iterable[Statement]:
    """Return the statements of a module, none of a package, which collects those of several."""
    listed = vars(module).get("CLAIMS") if isinstance(module, ModuleType) else None
    is_list = isinstance(listed, list | tuple) and not hasattr(module, "__path__")
    return listed if is_list and listed else ()


@cache
def _ours() -> dict[str, ModuleType]:
    """Return the module of every claim of the papers, by identifier."""
    return {claim.id: module for module, claim in of_papers()}

"""Put a mutant in the place of the original: as a module of its own, or in the live functions."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any
from unittest.mock import patch

from mutants import ROOT, Mutant

from theory.arithmetic import sqrt
from theory.claim import Claim, Hypothesis


def loaded(mutant: Mutant) -> dict[str, Any]:
    """Return the names of the mutated module, run afresh; nothing else sees it."""
    return _run(mutant.source, str(mutant))


def _run(source: str, title: str) -> dict[str, Any]:
    names = {"__name__": title, "sqrt": sqrt}
    exec(compile(source, title, "exec"), names)
    return names


def claims_with(mutant: Mutant) -> list[Claim]:
    """Return the claims that compute with the mutated function, made afresh with it.

    A module without claims of its own is put in the place of the original while the modules that
    import from it are run.
    """
    names = loaded(mutant)
    if "CLAIMS" in names:
        return users(names, mutant.function)
    module = ModuleType(names["__name__"])
    vars(module).update(names)
    with patch.dict(sys.modules, {_name(mutant.file): module}):
        worlds = [_run((ROOT / file).read_text(), file) for file in importers(mutant.file)]
    return [claim for names in worlds for claim in users(names, mutant.function)]


def originals(file: str) -> dict[str, Claim]:
    """Return the claims of a module, or of those that import from it, by identifier."""
    names = vars(importlib.import_module(_name(file)))
    files = [file] if "CLAIMS" in names else importers(file)
    modules = [importlib.import_module(_name(file)) for file in files]
    return {claim.id: claim for module in modules for claim in module.CLAIMS}


@cache
def importers(file: str) -> list[str]:
    """Return the files next to a module whose claims are made with what they import from it."""
    found = []
    for path in sorted((ROOT / file).parent.glob("*.py")):
        source = path.read_text()
        if f"from {_name(file)} import " in source and "\nCLAIMS = [" in source:
            found.append(path.relative_to(ROOT).as_posix())
    return found


@contextmanager
def planted(mutant: Mutant) -> Iterator[None]:
    """Make the mistake in the live function for a while, whoever imported it under what name."""
    module = _module(mutant)
    function = live(mutant)
    original, had_sqrt = function.__code__, hasattr(module, "sqrt")
    module.__dict__.setdefault("sqrt", sqrt)
    function.__code__ = _code(compile(mutant.source, str(mutant), "exec"), mutant.function)
    try:
        yield
    finally:
        function.__code__ = original
        if not had_sqrt:
            del module.__dict__["sqrt"]


def live(mutant: Mutant) -> FunctionType:
    """Return the function of the imported module that a mutant has a mistake in."""
    module = _module(mutant)
    owners = [module, *(v for v in vars(module).values() if isinstance(v, type))]
    return next(f for o in owners if isinstance(f := vars(o).get(mutant.function), FunctionType))


def _module(mutant: Mutant) -> ModuleType:
    return importlib.import_module(_name(mutant.file))


def _name(file: str) -> str:
    return file.removesuffix(".py").replace("/", ".")


def _code(code: CodeType, name: str) -> CodeType:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    found = [c for c in inner if c.co_name == name]
    return found[0] if found else next(_code(c, name) for c in inner if _holds(c, name))


def _holds(code: CodeType, name: str) -> bool:
    return any(isinstance(c, CodeType) and c.co_name == name for c in code.co_consts)


def users(names: dict[str, Any], function: str) -> list[Claim]:
    """Return the module's claims that compute with a function, or with a hypothesis, of a name."""
    return [claim for claim in names["CLAIMS"] if function in _used(claim, names)]


def _used(claim: Claim, names: dict[str, Any]) -> set[str]:
    roots: list[Callable[..., Any] | None] = [claim.sides, claim.certificate]
    for hypothesis in claim.hypotheses:
        roots += [hypothesis.quantity, hypothesis.impose]
    held = {n for n, v in names.items() if isinstance(v, Hypothesis) and v in claim.hypotheses}
    return held.union(*(_reached(root, names) for root in roots if root is not None))


def _reached(function: Callable[..., Any], names: dict[str, Any]) -> set[str]:
    """Return the names that a function computes with, through other functions of the module too."""
    reached: set[str] = set()
    waiting: list[Any] = [function]
    while waiting:
        f = waiting.pop()
        reached.add(f.__qualname__.split(".")[0])
        found = {name: names.get(name) for name in _named(f.__code__) - reached}
        reached |= found.keys()
        held = [cell.cell_contents for cell in f.__closure__ or ()]
        waiting += [g for g in (*found.values(), *held) if isinstance(g, FunctionType)]
    return reached


def _named(code: CodeType) -> set[str]:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    return set(code.co_names).union(*map(_named, inner))

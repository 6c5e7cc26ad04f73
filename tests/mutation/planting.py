"""Put a mutant in the place of the original, in the live function, and see what it gives."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np
from mutants import Mutant

from theory.arithmetic import sqrt


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
    found = (vars(owner).get(mutant.function) for owner in owners)
    bare = (f.__func__ if isinstance(f, classmethod) else f for f in found)
    return next(f for f in bare if isinstance(f, FunctionType))


def _module(mutant: Mutant) -> ModuleType:
    return importlib.import_module(mutant.file.removesuffix(".py").replace("/", "."))


def _code(code: CodeType, name: str) -> CodeType:
    inner = [c for c in code.co_consts if isinstance(c, CodeType)]
    found = [c for c in inner if c.co_name == name]
    return found[0] if found else next(_code(c, name) for c in inner if _holds(c, name))


def _holds(code: CodeType, name: str) -> bool:
    return any(isinstance(c, CodeType) and c.co_name == name for c in code.co_consts)


def differs(actual: Any, expected: Any, within: float = 1e-9) -> bool:
    """Whether two values differ in numbers or in shape, axes of length one apart."""
    a, b = (np.squeeze(np.asarray(value)) for value in (actual, expected))
    return a.shape != b.shape or not np.allclose(a, b, rtol=within, atol=within)

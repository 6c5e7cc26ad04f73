"""Put a mutant in the place of the original: as a module of its own, or in the live functions."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType, FunctionType, ModuleType
from typing import Any

from mutants import Mutant

from theory.arithmetic import sqrt
from theory.claim import Claim, Hypothesis


def loaded(mutant: Mutant) -> dict[str, Any]:
    """Return the names of the mutated module, run afresh; nothing else sees it."""
    names = {"__name__": f"mutant of {mutant.file}", "sqrt": sqrt}
    exec(compile(mutant.source, str(mutant), "exec"), names)
    return names


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
    return importlib.import_module(mutant.file.removesuffix(".py").replace("/", "."))


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
    reached, waiting = {function.__name__}, [function.__code__]
    while waiting:
        code = waiting.pop()
        waiting += [c for c in code.co_consts if isinstance(c, CodeType)]
        for name in set(code.co_names) - reached:
            reached.add(name)
            if isinstance(f := names.get(name), FunctionType):
                waiting.append(f.__code__)
    return reached

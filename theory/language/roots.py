"""Whether a function's code reaches the square root, so that its value need not be real.

>>> from theory.batchnorm import standard_deviation, variance
>>> takes_a_root(standard_deviation), takes_a_root(variance)
(True, False)
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from functools import cache, partial
from types import CodeType, FunctionType, ModuleType
from typing import Any

from theory.language.expression import Operation

ROOT = "sqrt"
"""What every arithmetic calls it: a function, or a number's method."""


@cache
def takes_a_root(function: Callable[..., Any]) -> bool:
    """Return whether a function, or what it calls, takes a root."""
    met: set[FunctionType] = set()
    waiting: list[Any] = [function]
    while waiting:
        one = waiting.pop()
        one = getattr(one, "__wrapped__", one)  # what a decorator keeps
        if getattr(one, "__name__", "") == ROOT:
            return True
        match one:
            case Operation(meaning=meaning):
                waiting.append(meaning)
            case partial(func=called, args=arguments):
                waiting += [called, *arguments]
            case FunctionType() if one not in met:
                met.add(one)
                if ROOT in (names := set(_names(one.__code__))):
                    return True
                waiting += [cell.cell_contents for cell in one.__closure__ or ()]
                waiting += _named(names, one.__globals__)
    return False


def _named(names: Collection[str], known: Mapping[str, Any]) -> Iterator[Any]:
    """Yield what names stand for: globals, and what is in those that are modules."""
    for value in [known[name] for name in names if name in known]:
        yield value
        if isinstance(value, ModuleType):
            yield from (vars(value)[name] for name in names if name in vars(value))


def _names(code: CodeType) -> Iterator[str]:
    """Yield the names of globals and attributes in code, and in the functions inside of it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)

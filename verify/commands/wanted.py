"""What an audit is told by names, and which names would do where a whole file is given."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from torch import nn

from verify.audit.errors import AuditError
from verify.targets import load


@dataclass(frozen=True)
class Wanted:
    """What a target has to name."""

    expected: str
    may_be: Callable[[Any], bool]
    """Whether something may be that; whether it is one shows only once it is called."""


def refuse_unnamed(*asked: tuple[str, Wanted]) -> None:
    """Refuse targets that name a file or a module, and nothing in it.

    Raises:
        AuditError: one does; which names in there may do is said.
        TargetError: there is no such file or module.
    """
    for target, wanted in asked:
        place, _, name = target.partition(":")
        if not name:
            raise AuditError(_unnamed(place, wanted))


def _unnamed(place: str, wanted: Wanted) -> str:
    given = "file" if place.endswith(".py") else "module"
    offered = ", ".join(name for name, it in _made_in(load(place)) if wanted.may_be(it))
    return f"{place} names a whole {given}; expected {place}:NAME, {wanted.expected}; " + (
        f"NAME may be {offered}" if offered else f"nothing in that {given} is one"
    )


def _made_in(module: ModuleType) -> Iterable[tuple[str, Any]]:
    """Yield what a module has made, and not imported, but for what is its own."""
    for name, it in vars(module).items():
        is_imported = inspect.ismodule(it) or (
            (inspect.isclass(it) or inspect.isroutine(it)) and it.__module__ != module.__name__
        )
        if not name.startswith("_") and not is_imported:
            yield name, it


def _may_make_a_module(it: Any) -> bool:
    if inspect.isclass(it):
        return issubclass(it, nn.Module) and _takes(it)
    return isinstance(it, nn.Module) or (
        inspect.isroutine(it) and not inspect.isgeneratorfunction(it) and _takes(it)
    )


def _may_make_pairs(it: Any) -> bool:
    if inspect.isclass(it) or inspect.isroutine(it):
        return not (inspect.isclass(it) and issubclass(it, nn.Module)) and _takes(it)
    return isinstance(it, Iterable) and not isinstance(it, str | nn.Module)


def _may_be_a_loss(it: Any) -> bool:
    called = it.forward if isinstance(it, nn.Module) else it
    return callable(called) and not inspect.isclass(called) and _takes(called, None, None)


def _takes(it: Callable[..., Any], *arguments: None) -> bool:
    """Whether something may be called with so many arguments.

    >>> _takes(lambda: 1), _takes(lambda x: x), _takes(lambda x, y: x, None, None)
    (True, False, True)
    """
    try:
        inspect.signature(it).bind(*arguments)
    except (TypeError, ValueError):
        return False
    return True


MODEL = Wanted("a torch.nn.Module, or what makes one", _may_make_a_module)
PAIRS = Wanted("pairs (inputs, targets), or what makes them", _may_make_pairs)
LOSS = Wanted("a function of (outputs, targets)", _may_be_a_loss)

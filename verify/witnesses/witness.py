"""What a witness is: a name, the statements it can say something of, and how it examines them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from verify.record import Record
from verify.settings import READ, Settings

Applies = Callable[[Any], bool]
"""Whether something can be said of a statement."""
Examine = Callable[[Sequence[Any], Settings], Iterable[Record]]
"""What is found of statements, one record each."""
ExamineOne = Callable[[Any, Settings], Record]


@dataclass(frozen=True)
class Witness:
    """A name, which statements it can say something of, and how it examines them."""

    name: str
    applies: Applies
    examine: Examine
    together: int = 4
    """How many statements share a call: many where they share what is computed for a case."""
    reads: tuple[str, ...] = READ
    """What it reads of the settings and of the budget: it is given nothing else, and what it found
    is found again unless one of these changes."""


@dataclass(frozen=True)
class Later:
    """A function by its module and name, imported when it is called."""

    module: str
    name: str

    def __call__(self, *arguments: Any) -> Any:
        """Call the function."""
        return getattr(import_module(self.module), self.name)(*arguments)


def each(examine: ExamineOne, claims: Sequence[Any], settings: Settings) -> Iterator[Record]:
    """Yield what is found of statements one by one, with the time that each took."""
    for claim in claims:
        start = time.perf_counter()
        found = examine(claim, settings)
        yield replace(found, seconds=time.perf_counter() - start)


def timed(examine: Examine, claims: Sequence[Any], settings: Settings) -> Iterator[Record]:
    """Yield what is found of statements together, each with its share of the time."""
    start = time.perf_counter()
    found = list(examine(claims, settings))
    share = (time.perf_counter() - start) / len(claims)
    for record in found:
        yield replace(record, seconds=share)

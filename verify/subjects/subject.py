"""What has numbers of one arithmetic, known by their names."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from verify.results import Size

NOT_NUMBERS = ("stratum", "token", "calculus", "loss", "arguments", "rest")


@dataclass(frozen=True, kw_only=True)
class Subject:
    """What statements are about: its fields are its numbers, and say what it has besides."""

    truths: ClassVar[tuple[str, ...]] = ()
    """The numbers that are zero or one, and are never rounded."""
    positive: ClassVar[tuple[str, ...]] = ()
    """The numbers that are positive."""
    stratum: str = ""
    token: str = ""

    @property
    def size(self) -> Size:
        """The sizes that a reader would name, such as N and n."""
        raise NotImplementedError

    @classmethod
    def names(cls) -> list[str]:
        """Return the names of the numbers."""
        return [field.name for field in fields(cls) if field.name not in NOT_NUMBERS]

    @classmethod
    def real(cls) -> list[str]:
        """Return the names of the numbers that are any real ones, and no truths."""
        return [name for name in cls.names() if name not in cls.truths]

    def numbers(self) -> dict[str, Any]:
        """Return the numbers by their names."""
        return {name: getattr(self, name) for name in self.names()}

    def copied(self) -> Self:
        """Return a subject whose arrays may be changed in place."""
        arrays = {name: x for name, x in self.numbers().items() if isinstance(x, np.ndarray)}
        return self.with_numbers(np.copy, arrays)

    def out_of_range(self) -> dict[str, str]:
        """Return the numbers that no instance has: what they are here, and what in every one."""
        least = {name: min(np.ravel(getattr(self, name)), default=1) for name in self.positive}
        return {n: f"{x}, which is positive" for n, x in least.items() if x <= 0}

    def with_numbers(self, convert: Callable[[Any], Any], names: Iterable[str]) -> Self:
        """Return the same subject with the numbers of these names converted."""
        return replace(self, **{name: convert(getattr(self, name)) for name in names})

"""How much time an audit has, what it does now, and what it did not come to."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

Tell = Callable[[str, float, float], None]
"""Is told what is done now, the seconds that are behind, and those that all will take, about."""


@dataclass
class Clock:
    """The time of an audit."""

    budget: float
    """Seconds after which nothing more is begun that costs much."""
    tell: Tell
    started: float = field(default_factory=time.perf_counter)
    expected: float = 0.0
    """Seconds that all will take, about."""
    seconds: dict[str, float] = field(default_factory=dict)
    """What each part took."""
    notes: list[str] = field(default_factory=list)
    """What was not measured, and why."""

    @property
    def elapsed(self) -> float:
        """Seconds since the start."""
        return time.perf_counter() - self.started

    @property
    def left(self) -> float:
        """Seconds of the budget that are left."""
        return self.budget - self.elapsed

    def is_late(self, what: str) -> bool:
        """Whether the budget is spent; then it is noted what is not measured."""
        if self.left >= 0:
            return False
        self.notes.append(f"{what} not measured, the budget was spent")
        return True

    def say(self, what: str) -> None:
        """Tell what is begun."""
        self.tell(what, self.elapsed, min(max(self.expected, self.elapsed), self.budget))

    @contextmanager
    def part(self, name: str) -> Iterator[None]:
        """Count the time of a part."""
        start = time.perf_counter()
        yield
        self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start

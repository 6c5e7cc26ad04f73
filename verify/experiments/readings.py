"""Reading what metered trainings measured, as it comes back from a file of JSON.

What is not finite was written as None; here it is infinite, for only what overflows is not finite
(:mod:`theory.nn.measures`).  Trainings are compared at the steps at which both were measured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import inf
from statistics import fmean
from typing import Any

from verify.experiments.experiment import Measured, Numbers

Reader = Callable[[Any], Any]
"""From what a meter returned at one step to one number, or to None where it overflowed."""


def of(*path: str | int) -> Reader:
    """Return what reads a number at some place in what a meter returned.

    >>> of("layer5", "cosine")({"layer5": {"cosine": 0.5}})
    0.5
    """

    def read(value: Any) -> Any:
        for key in path:
            value = value[key]
        return value

    return read


def having(measured: Measured, **facts: Any) -> list[Numbers]:
    """Return the trainings of which some facts hold.

    >>> having({"a": {"seed": 0}, "b": {"seed": 1}}, seed=1)
    [{'seed': 1}]
    """
    return [
        numbers
        for numbers in measured.values()
        if all(fact in numbers and numbers[fact] == value for fact, value in facts.items())
    ]


def by_step(numbers: Numbers, meter: str, read: Reader) -> dict[int, float]:
    """Return what a meter measured as one number a step.

    >>> by_step({"loss": {"steps": [0, 5], "values": [2.0, None]}}, "loss", of())
    {0: 2.0, 5: inf}
    """
    kept = numbers[meter]
    read_all = (read(value) for value in kept["values"])
    known = (inf if number is None else float(number) for number in read_all)
    return dict(zip(kept["steps"], known, strict=True))


def losses(numbers: Numbers) -> dict[int, float]:
    """Return the loss by step."""
    return by_step(numbers, "loss", of())


def moment_changes(numbers: Numbers, layer: str, moment: str) -> dict[int, float]:
    """Return by how much a moment of a layer's units changes from each step to the next.

    It is the mean over the units of the absolute change, at the first of the two steps.

    >>> values = [{"a": {"means": [0.0, 1.0]}}, {"a": {"means": [0.5, 0.5]}}]
    >>> moment_changes({"moments": {"steps": [4, 5], "values": values}}, "a", "means")
    {4: 0.5}
    """
    at = dict(zip(numbers["moments"]["steps"], numbers["moments"]["values"], strict=True))
    return {
        step: fmean(
            abs(later - now)
            for now, later in zip(at[step][layer][moment], at[step + 1][layer][moment], strict=True)
        )
        for step in at
        if step + 1 in at
    }


def final_loss(numbers: Numbers) -> float:
    """Return the loss before the last step; infinite where training diverged."""
    return inf if numbers["diverged"] is not None else list(losses(numbers).values())[-1]


def pairs(
    measured: Measured, one: str, other: str, **facts: Any
) -> Iterator[tuple[Numbers, Numbers]]:
    """Yield the trainings of one normalisation and of another that agree in seed and facts."""
    for first in having(measured, normalization=one, **facts):
        for second in having(measured, normalization=other, seed=first["seed"], **facts):
            yield first, second


def ratios(first: Numbers, second: Numbers, meter: str, read: Reader) -> dict[int, float]:
    """Return first over second by step; where both are infinite or zero there is none.

    >>> one = {"m": {"steps": [0, 1, 2], "values": [3.0, None, 0.0]}}
    >>> other = {"m": {"steps": [0, 1, 2], "values": [2.0, 5.0, 0.0]}}
    >>> ratios(one, other, "m", of())
    {0: 1.5, 1: inf}
    """
    above, below = by_step(first, meter, read), by_step(second, meter, read)
    return {
        step: inf if below[step] == 0 else above[step] / below[step]
        for step in above
        if step in below and (above[step], below[step]) not in {(inf, inf), (0.0, 0.0)}
    }


def all_ratios(
    measured: Measured, one: str, other: str, meter: str, read: Reader, **facts: Any
) -> list[tuple[int, float]]:
    """Return the ratios of one normalisation over another at all steps of all seeds."""
    return [
        item
        for first, second in pairs(measured, one, other, **facts)
        for item in ratios(first, second, meter, read).items()
    ]


def share(held: Sequence[bool]) -> float:
    """Return the share that is true, zero of none.

    >>> share([True, True, False, True])
    0.75
    """
    return sum(held) / len(held) if held else 0.0


def listed(several: Iterable[Sequence[float]]) -> str:
    """Return a few numbers of each seed in words, such as "0.5, 1.25; 0.333, 2"."""
    return "; ".join(", ".join(f"{x:.3g}" for x in numbers) for numbers in several)

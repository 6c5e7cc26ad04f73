"""Subjects of small integers that nothing random is like.

Bounds are attained there, so that a strict one fails: where one entry of an array is left, or none,
where all are the same, or columns are proportional, and where free letters are numbers that a
statement names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np

from theory.language.letters import FREE
from theory.matrix_claim import Kind
from verify.subjects import matrix_lattice
from verify.subjects.matrices import Numbers
from verify.witnesses.search import Space, drawn

SIZE: dict[Kind, matrix_lattice.Size] = {
    Kind.LAYER: (3, 2, 2),
    Kind.MAPS: (1, 2, 2, 2, 1, 3),
    Kind.DESCENT: (2,),
}
START = 1
"""The seed of the subject that is changed."""
INVERTIBLE = "P"
"""A matrix that stays so, as what is positive does."""


def special_subjects(
    space: Space,
    kind: Kind,
    constants: Iterable[int | Fraction] = (),
    ends: Iterable[int | Fraction] = (),
) -> Iterator[Numbers]:
    """Yield a subject with one of its arrays changed at a time, or its free letters.

    Args:
        space: of subjects of small integers.
        kind: theirs.
        constants: what free letters are set to, one number or two in turns, and positive numbers.
        ends: what they are set to besides, one number at a time.
    """
    constants, ends = [*constants], [*ends]
    (places,) = drawn(space, SIZE[kind], 1, START)
    start = space.at(SIZE[kind], places)
    for name in (n for n in start.real() if n not in (*start.positive, INVERTIBLE)):
        for array in _degenerate(np.asarray(getattr(start, name), dtype=object)):
            yield replace(start, **{name: array})
    if INVERTIBLE in start.names():
        (d,) = SIZE[kind]
        yield replace(start, P=np.identity(d, dtype=object)[::-1])
    numbers = [name for name in start.positive if np.ndim(getattr(start, name)) == 0]
    for name, value in product(numbers, (*constants, *ends)):
        if value > 0:
            yield replace(start, **{name: value})
    for values in (*product(constants, repeat=2), *((value,) for value in ends)):
        yield replace(start, free=np.resize(np.array(values, dtype=object), FREE))


def _degenerate(array: Any) -> Iterator[Any]:
    """Yield arrays of the same shape as no random one is; nothing for a number."""
    if array.size < 2:
        return
    alone = 0 * array
    alone.flat[-1] = 1
    yield from (alone, 0 * array, 0 * array + 1)
    if array.ndim == 2:
        yield np.outer(array[:, 0], np.arange(1, array.shape[1] + 1)).astype(object)

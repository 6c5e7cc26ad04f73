"""Random subjects in named strata, in floats.  A token is a stratum, a seed and a number.

Subjects of one number are of the same sizes in every stratum, so that they can be examined in one
call.  With the number sizes take turns, so that a few numbers make many of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from math import prod
from typing import Any
from zlib import crc32

import numpy as np
from numpy.random import Generator

from theory.language.letters import FREE
from theory.matrix_claim import Kind
from verify.subjects.matrices import SHAPES, Descent, Layer, Maps, Numbers, Shapes
from verify.tolerance import Array

Inputs = Callable[[Generator, tuple[int, ...]], Array]


def gaussian(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Return independent normal numbers."""
    return rng.normal(size=shape)


def offset(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Return columns (channels) whose means are many times their deviations."""
    return rng.normal(size=shape) + 10 ** rng.uniform(0, 3, size=_features(shape))


def scaled(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Return columns (channels) whose scales differ by several powers of ten."""
    return (rng.normal(size=shape) + 1) * 10 ** rng.uniform(-3, 3, size=_features(shape))


def dependent(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Return columns (channels) that are nearly one another's multiples."""
    common = rng.normal(size=(shape[0], 1, *shape[2:]))
    return common * rng.normal(size=_features(shape)) + 1e-3 * rng.normal(size=shape)


def heavy_tailed(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Return numbers of Student's t distribution with two degrees of freedom."""
    return rng.standard_t(2, size=shape)


def rectified(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Return what ReLU lets through, of which some columns may be dead."""
    shift = rng.normal(size=_features(shape))
    return np.maximum(rng.normal(size=shape) + shift, 0)


def duplicated(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Return examples of which each stands there twice, so that the rank is low."""
    half = rng.normal(size=(-(-shape[0] // 2), *shape[1:]))
    return np.concatenate([half, half])[: shape[0]] + 0.5


def of_several_sizes(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Return examples of few entries, all of one size that differs by powers of ten."""
    sizes: Array = rng.choice([1.0, 10.0, 100.0, 1000.0], size=(shape[0], *(1 for _ in shape[1:])))
    signs: Array = rng.choice([-1.0, 0.0, 1.0], size=shape)
    return sizes * signs


def one_unlike_others(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Return examples that are all alike but for one."""
    found = np.repeat(rng.normal(size=(1, *shape[1:])), shape[0], axis=0)
    found[0] += 10 * rng.normal(size=shape[1:])
    return found


def orthonormal(rng: Generator, shape: tuple[int, ...]) -> Array:
    """Return columns (channels) that are orthonormal, or the rows where there are more columns."""
    features, others = shape[1], (shape[0], *shape[2:])
    left, _, right = np.linalg.svd(rng.normal(size=(features, prod(others))), full_matrices=False)
    return np.moveaxis((left @ right).reshape(features, *others), 0, 1)


DIMENSIONS = 4, 5, 16, 1, 2, 3
"""Of descents, in turn: many enough that what grows with them is seen to grow."""
FAR_SCALES = "far scales"
"""Each number of the subject is made larger or smaller on its own, as units seldom fit."""
ORDERS = 3
"""By so many powers of ten at most."""
GENERIC = "gaussian"
STRATA: dict[str, Inputs] = {
    GENERIC: gaussian,
    "large offset": offset,
    "badly scaled": scaled,
    "nearly dependent": dependent,
    "heavy tails": heavy_tailed,
    "rectified": rectified,
    "duplicates": duplicated,
    "several sizes": of_several_sizes,
    "one unlike others": one_unlike_others,
    FAR_SCALES: gaussian,
    "orthonormal": orthonormal,
}


def _features(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (1, shape[1], *(1 for _ in shape[2:]))


def draw(kind: Kind, stratum: str, seed: int, index: int) -> Numbers:
    """Return the subject that a token names."""
    token = f"matrices:{kind.value}:{stratum}:{seed}:{index}"
    of_sizes, rng = (
        np.random.default_rng([seed, index, crc32(name.encode())])
        for name in (kind.value, f"{kind.value}:{stratum}")
    )
    make, sizes = MADE[kind]
    made = make(rng, STRATA[stratum], *sizes(of_sizes, seed + index))
    if stratum == FAR_SCALES:
        made = made.with_numbers(
            lambda value: value * 10 ** rng.uniform(-ORDERS, ORDERS),
            (name for name in made.real() if name != "free"),
        )
        made = replace(made, free=made.free * 10 ** rng.uniform(-ORDERS, ORDERS, size=FREE))
    return replace(made, stratum=stratum, token=token)


def rebuild(token: str) -> Numbers:
    """Return the subject that a token names.

    Raises:
        ValueError: the token names none.
    """
    _, *parts = token.split(":")
    if len(parts) != 4 or parts[0] not in list(Kind) or parts[1] not in STRATA:
        raise ValueError(
            f"{token!r} names no subject; expected matrices:KIND:STRATUM:SEED:INDEX with a kind of"
            f" {', '.join(Kind)} and a stratum of {', '.join(STRATA)}"
        )
    kind, stratum, seed, index = parts
    if not (seed.isdecimal() and index.isdecimal()):
        raise ValueError(f"{token!r}: seed and index are whole numbers, not {seed} and {index}")
    return draw(Kind(kind), stratum, int(seed), int(index))


def random_subjects(kind: Kind, seed: int, count: int, first: int = 0) -> Iterator[Numbers]:
    """Yield ``count`` subjects of every stratum, the first of them the one of that number."""
    for stratum in STRATA:
        for index in range(first, first + count):
            yield draw(kind, stratum, seed, index)


def of_different_sizes(kind: Kind, seed: int, count: int) -> Iterator[Numbers]:
    """Yield ``count`` subjects of every stratum, each with a number of its own."""
    for number, stratum in enumerate([*STRATA] * count):
        yield draw(kind, stratum, seed, number)


def layer_sizes(rng: Generator, turn: int) -> tuple[int, int, int]:
    """Return numbers of examples (up to 40, at two of five turns up to 8), inputs and outputs."""
    most = (40, 8)[turn % 5 % 2]
    return int(rng.integers(2, most + 1)), 1 + (4 + 3 * turn) % 8, 1 + (1 + turn) % 3


def uniform(low: float, high: float) -> Callable[..., Any]:
    """Return what draws numbers between two: one, or an array of a shape."""
    return lambda rng, shape: rng.uniform(low, high, size=shape or None)


DRAWN: dict[str, Callable[..., Any]] = {
    "deviation": uniform(0.1, 2),
    "step": uniform(0.01, 2),
    "q": uniform(1, 3),
    "couples": lambda rng, _: rng.integers(0, 2) * 1.0,
}
"""What is not normal of numbers that are drawn."""


def generic(rng: Generator, shapes: Shapes, **drawn: Inputs) -> dict[str, Any]:
    """Return numbers by their names, normal where nothing else is said, in the order of shapes."""
    draws = DRAWN | drawn
    return {name: draws.get(name, gaussian)(rng, shape) for name, shape in shapes.items()}


def layer(rng: Generator, inputs: Inputs, N: int, n: int, p: int) -> Layer:
    """Return a layer of N examples, n inputs and p outputs."""
    half = rng.normal(size=(N, p, p))
    both = half + half.transpose(0, 2, 1)
    return Layer(**generic(rng, SHAPES[Kind.LAYER](N, n, p), H=inputs, quadratic=lambda *_: both))


def maps_sizes(rng: Generator, turn: int) -> tuple[tuple[int, int, int, int], int, int]:
    """Return sizes of inputs (N, c, r, s), up to 3 and 8, a number of outputs and a kernel's."""
    N, c, r, s, d = rng.integers(1, (4, 4, 9, 9, 4)).tolist()
    return (N, c, r, s), d, (3, 5, 1)[turn % 3]


def maps(
    rng: Generator,
    inputs: Inputs,
    of_inputs: tuple[int, int, int, int],
    d: int,
    k: int,
) -> Maps:
    """Return a convolution of inputs of these sizes, d outputs and a kernel of k by k."""
    _, c, *_ = of_inputs
    return maps_of(inputs(rng, of_inputs), rng.normal(size=(d, c, k, k)), rng)


def maps_of(h: Array, w: Array, rng: Generator) -> Maps:
    """Return a convolution of given inputs and kernels, with a generic loss of its outputs."""
    shapes = SHAPES[Kind.MAPS](*h.shape, len(w), w.shape[-1])
    return Maps(**generic(rng, shapes, h=lambda *_: h, w=lambda *_: w))


def descent_sizes(rng: Generator, turn: int) -> tuple[int, int]:
    """Return a dimension of up to 16, and of how many inputs the Hessian is the Gram matrix."""
    d = DIMENSIONS[turn % len(DIMENSIONS)]
    return d, int(rng.integers(1, d + 3))


def descent(rng: Generator, inputs: Inputs, d: int, rank: int) -> Descent:
    """Return a descent in d dimensions, whose Hessian is the Gram matrix of some inputs."""

    def invertible(rng: Generator, shape: tuple[int, ...]) -> Array:
        return rng.normal(size=shape) + 2 * np.eye(d)

    shapes = SHAPES[Kind.DESCENT](d) | {"factor": (rank, d)}
    return Descent(**generic(rng, shapes, factor=inputs, P=invertible))


MADE: dict[Kind, tuple[Callable[..., Numbers], Callable[[Generator, int], tuple[Any, ...]]]] = {
    Kind.LAYER: (layer, layer_sizes),
    Kind.MAPS: (maps, maps_sizes),
    Kind.DESCENT: (descent, descent_sizes),
}
"""What makes a subject, and what draws its sizes."""

"""Random subjects in named strata, in floats.  A token is a stratum, a seed and a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from zlib import crc32

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from theory.matrix_claim import Kind
from verify.matrices.subjects import Descent, Layer, Maps, Numbers

Array = NDArray[np.float64]
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


STRATA: dict[str, Inputs] = {
    "gaussian": gaussian,
    "large offset": offset,
    "badly scaled": scaled,
    "nearly dependent": dependent,
    "heavy tails": heavy_tailed,
    "rectified": rectified,
    "duplicates": duplicated,
}


def _features(shape: tuple[int, ...]) -> tuple[int, ...]:
    return (1, shape[1], *(1 for _ in shape[2:]))


def draw(kind: Kind, stratum: str, seed: int, index: int) -> Numbers:
    """Return the subject that a token names."""
    token = f"matrices:{kind.value}:{stratum}:{seed}:{index}"
    rng = np.random.default_rng([seed, index, crc32(f"{kind.value}:{stratum}".encode())])
    made = {Kind.LAYER: layer, Kind.MAPS: maps, Kind.DESCENT: descent}[kind]
    return made(rng, STRATA[stratum], stratum=stratum, token=token)


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


def layer(rng: Generator, inputs: Inputs, stratum: str, token: str) -> Layer:
    """Return a layer of up to 40 examples, 8 inputs and 3 outputs."""
    N, n, p = int(rng.integers(2, 41)), int(rng.integers(1, 9)), int(rng.integers(1, 4))
    half = rng.normal(size=(N, p, p))
    return Layer(
        H=inputs(rng, (N, n)),
        W=rng.normal(size=(p, n)),
        b=rng.normal(size=p),
        gamma=rng.normal(size=n),
        beta=rng.normal(size=n),
        mean=rng.normal(size=n),
        deviation=rng.uniform(0.1, 2, size=n),
        curvature=rng.normal(size=N),
        direction=rng.normal(size=n + 1),
        scaling=rng.normal(size=n + 1),
        step=rng.uniform(0.01, 2),
        q=rng.uniform(1, 3),
        couples=rng.integers(0, 2) * 1.0,
        linear=rng.normal(size=(N, p)),
        quadratic=half + half.transpose(0, 2, 1),
        fourth=rng.normal(size=(N, p)),
        stratum=stratum,
        token=token,
    )


def maps(rng: Generator, inputs: Inputs, stratum: str, token: str) -> Maps:
    """Return a convolution of up to 3 examples, 3 channels, maps of 8 by 8 and kernels to 5."""
    N, c, d = (int(rng.integers(1, 4)) for _ in range(3))
    r, s = (int(rng.integers(1, 9)) for _ in range(2))
    k = int(rng.choice([1, 3, 5]))
    return Maps(
        h=inputs(rng, (N, c, r, s)),
        w=rng.normal(size=(d, c, k, k)),
        b=rng.normal(size=d),
        direction=rng.normal(size=k * k * c + 1),
        q=rng.uniform(1, 3),
        linear=rng.normal(size=(N, d, r, s)),
        fourth=rng.normal(size=(N, d, r, s)),
        pooled=rng.normal(size=N),
        stratum=stratum,
        token=token,
    )


def descent(rng: Generator, inputs: Inputs, stratum: str, token: str) -> Descent:
    """Return a descent in up to 6 dimensions, whose Hessian is the Gram matrix of some inputs."""
    d = int(rng.integers(1, 7))
    return Descent(
        theta=rng.normal(size=d),
        direction=rng.normal(size=d),
        factor=inputs(rng, (int(rng.integers(1, d + 3)), d)),
        P=rng.normal(size=(d, d)) + 2 * np.eye(d),
        step=rng.uniform(0.01, 2),
        linear=rng.normal(size=d),
        fourth=rng.normal(size=d),
        stratum=stratum,
        token=token,
    )

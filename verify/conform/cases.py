r"""The inputs: each stratum hides no fault that another shows.

Cotangents and directions have parts of order one along the ones and along yhat: a plain Gaussian
vector has parts of order :math:`m^{-1/2}` there, and shrinks the terms that layers get wrong.
eps is the customary one, or another that no narrower dtype holds either: a layer that rounds it is
seen.  Values are drawn in float64 and rounded to the subject's dtype, so that the cases of two
dtypes are the same up to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from verify.conform.geometry import Geometry, geometry, shape_for
from verify.conform.oracle import PER_CHANNEL, PRECISIONS, rounded_to

EPS = 1e-5
"""The customary one."""
ALL = ("float64", "float32", "bfloat16", "float16")
BOTH, SINGLE, DOUBLE = ("float32", "float64"), ("float32",), ("float64",)
EXPANDED, ONE_NUMBER = "expanded", "one number"
"""Layouts that only an array of equal rows has, respectively one of equal entries."""
EXPANDED_X, PARAMETERS = "expanded x", "non-contiguous parameters"
OF_SOME: dict[str, tuple[str, tuple[str, ...]]] = {
    EXPANDED: (EXPANDED, ("g",)),
    EXPANDED_X: (EXPANDED, ("x",)),
    ONE_NUMBER: (ONE_NUMBER, ("g",)),
    PARAMETERS: ("non-contiguous", PER_CHANNEL),
    **{
        f"{layout} {name}": (layout, (name,))
        for layout in ("channels last", "transposed")
        for name in ("x", "g")
    },
}
"""Layouts of some arrays only: the adapter's layout behind it, and which arrays those are."""
PLAIN, SIZES, CHANNELS, OFFSET = "plain", "sizes", "channels", "mean/sd"
CONSTANT, SCALE, NOT_FINITE, LAYOUT = "constant", "scale", "inf and NaN", "layout"
WIDE = "parameters of all sizes"
"""A change of gamma, beta and the running statistics, not of x."""
AS_MADE = "gamma one, beta zero"
"""A change of gamma and beta."""
NO_GAMMA = "beta without gamma"
"""A call without gamma, as though that were one."""
FAR = "m = 1, far from zero"
"""Units of one entry, which is their mean whatever its size."""
MASKED, MASKED_UNIT = "cotangent zero", "cotangent zero in one unit"
"""Changes of the cotangent."""
ALIKE = "cotangent alike in all units"
"""A change of the cotangent: its parts along the ones and along yhat are the same in all units.

A parameter's gradient is then a sum of terms of one sign on the whole, across units as well.  What
is kept in a format of unit roundoff u stands still where it is 1/u times a term: of n equal terms
a part of 1 - 1/(n u) is lost, while the terms themselves lose a part of a few u.  Terms of either
sign stay near zero, and lose no more than they do already.
"""
HOLDS = {
    "NaN in the cotangent": ("g", np.nan),
    "infinite in the cotangent": ("g", np.inf),
    "NaN in gamma": ("gamma", np.nan),
    "NaN in beta": ("beta", np.nan),
}
"""Changes that put a number which is not finite into another array than x, and into which."""
NEED_SCALE = ("gamma zero", "gamma all zero", "gamma negative", AS_MADE, WIDE, "NaN in gamma")
NEED_SHIFT = ("NaN in beta",)
"""Changes that are nothing without gamma, and without beta."""
ORDINARY = 30
"""Entries of a case whose number is of no account: none of a map's axes has the length one."""
OF_VOLUMES = 60
"""The same for volumes."""
BLOCKS = (1024, 128)
"""Entries of a unit, and units, where a kernel for large arrays takes whole blocks."""
KINDS = (PLAIN, SIZES, CHANNELS, OFFSET, CONSTANT, SCALE, NOT_FINITE, LAYOUT)


@dataclass(frozen=True)
class Stratum:
    """A kind of input: how many entries a unit has, how many units, and how x is drawn."""

    name: str
    kind: str
    """The column of the report."""
    together: int = ORDINARY
    units: int = 5
    offset: float = 0.5
    """mean / standard deviation"""
    log_scale: int = 0
    """Base-two logarithm of the standard deviation."""
    eps: float = EPS
    axes: str = ""
    """A particular layout; none: the first that the subject takes."""
    layout: str = ""
    """How the arrays are stored: a layout of the adapter's; none: as it makes them."""
    single: str = ""
    """An axis of length one."""
    log_slope: int = 0
    """Base-two logarithm of the size of the cotangent."""
    change: str = ""
    """What is done to the drawn numbers: see :data:`CHANGES` for x and gamma."""
    order: int = 3
    """Highest derivative that is examined: some are too large, or leave the range on the way."""
    dtypes: tuple[str, ...] = ALL

    @property
    def stored_as(self) -> str:
        """The adapter's name of the way in which its arrays are stored."""
        return OF_SOME[self.layout][0] if self.layout in OF_SOME else self.layout


@dataclass(frozen=True)
class Case:
    """One input: arrays in float64, exact in the subject's dtype."""

    stratum: Stratum
    dtype: str
    axes: str
    place: Geometry
    eps: float
    inputs: dict[str, np.ndarray]
    touched: np.ndarray
    """Units where x, the cotangent, gamma or beta is not finite, shape (unit,)."""

    @property
    def together(self) -> int:
        """Entries of a unit."""
        return self.place.statistics.shape[0]

    def near_zero(self) -> Mapping[str, np.ndarray]:
        """Return the inputs, with units of one entry where they round least.

        The mean of one entry is that entry, without rounding: whatever is made of x less its mean
        has the same value and the same error there.
        """
        if self.stratum.name != FAR:
            return self.inputs
        return self.inputs | {"x": self.inputs["x"] * 2.0**-self.stratum.log_scale}


def strata(dtypes: tuple[str, ...], seed: int = 0) -> list[Stratum]:
    """Return the strata for a run in these dtypes, the most telling first.

    Sizes are drawn from the seed, so that no kernel is made for all that are examined.
    """
    channels, near_one = drawn_channels(seed), drawn_part_of_eps(seed)
    sizes = [
        Stratum("plain", PLAIN),
        Stratum("eps beside variance", PLAIN, 7, eps=near_one * 0.25),
        Stratum("m = 3", SIZES, 3, 7),
        Stratum("m = 2", SIZES, 2, 7, eps=near_one * 0.125),
        Stratum("m = 1", SIZES, 1, 7),
        Stratum(FAR, SIZES, 1, 7, log_scale=20, order=1, dtypes=BOTH),
        Stratum("m = 7", SIZES, 7),
        Stratum("m = 1000", SIZES, 1000, 3, order=1),
        Stratum("m = 4097", SIZES, 4097, 2, order=1),
        Stratum("m = 33", SIZES, 33, 3, order=1),
        Stratum("m = 129", SIZES, 129, 2, order=1),
        Stratum("m = 1025", SIZES, 1025, 2, order=2),
        *(Stratum(f"m = {m}, drawn", SIZES, m, 2, order=2) for m in drawn_sizes(seed)),
        Stratum("one channel", CHANNELS, ORDINARY, 1),
        Stratum("many channels", CHANNELS, 6, 257),
        Stratum(f"{channels} channels, drawn", CHANNELS, 6, channels, order=2),
        Stratum("1025 channels", CHANNELS, 2, 1025, eps=near_one * 0.125, order=1, dtypes=SINGLE),
        Stratum("channels = length", CHANNELS, 8, 8),
        Stratum("gamma zero", CHANNELS, change="gamma zero"),
        Stratum("gamma all zero", CHANNELS, change="gamma all zero"),
        Stratum(AS_MADE, CHANNELS, change=AS_MADE),
        Stratum(NO_GAMMA, CHANNELS, change=NO_GAMMA),
        Stratum("gamma of one sign", CHANNELS, change="gamma negative"),
        Stratum("gamma and beta of all sizes", CHANNELS, ORDINARY, 18, change=WIDE),
        # Whole blocks and vectors of any width, where kernels have paths of their own.
        Stratum("m = 64, 32 channels", CHANNELS, 64, 32, order=2),
        Stratum("512 channels", CHANNELS, 4, 512, eps=near_one * 0.125, order=1),
    ]
    offsets = [
        Stratum(f"mean/sd = 2^{power}", OFFSET, offset=2.0**power, dtypes=only)
        for power, only in [(4, ALL), (8, BOTH), (12, BOTH), (18, BOTH), (27, DOUBLE), (39, DOUBLE)]
    ]
    special = [
        Stratum("constant", CONSTANT, change="constant"),
        Stratum("near constant", CONSTANT, log_scale=-11, offset=4.0),
        Stratum("outlier", SCALE, change="outlier"),
        Stratum("eps zero", SCALE, eps=0.0, order=2, dtypes=DOUBLE),
        Stratum("tiny (2^-20)", SCALE, log_scale=-20, eps=near_one * 2.0**-40, dtypes=BOTH),
        Stratum(
            "tiny (2^-40)", SCALE, log_scale=-40, eps=near_one * 2.0**-80, order=1, dtypes=BOTH
        ),
        # eps stays within single precision, which some frameworks keep it in.
        Stratum("tiny (2^-60)", SCALE, log_scale=-60, eps=near_one * 2.0**-120, dtypes=DOUBLE),
        Stratum("huge (2^20)", SCALE, log_scale=20, dtypes=BOTH),
        Stratum("huge (2^40)", SCALE, log_scale=40, order=1, dtypes=BOTH),
        Stratum("huge (2^150)", SCALE, log_scale=150, dtypes=DOUBLE),
        Stratum("variance beyond the range", SCALE, 7, log_scale=9, dtypes=("float16",)),
        Stratum("subnormal", SCALE, change="subnormal", order=2),
        Stratum("small cotangent (2^-30)", SCALE, log_slope=-30, order=2, dtypes=BOTH),
        Stratum("large cotangent (2^30)", SCALE, log_slope=30, order=2, dtypes=BOTH),
        Stratum(MASKED, SCALE, change=MASKED, order=1),
        Stratum(MASKED_UNIT, SCALE, change=MASKED_UNIT, order=2),
        Stratum("infinite", NOT_FINITE, change="infinite"),
        Stratum("NaN", NOT_FINITE, change="nan"),
        *(Stratum(change, NOT_FINITE, change=change, order=1) for change in HOLDS),
    ]
    large = [Stratum("m = 2^16", SIZES, 2**16, 4, order=1, dtypes=BOTH)]
    every = [*sizes, *offsets, *special, *large]
    return [stratum for stratum in every if set(stratum.dtypes) & set(dtypes)]


DRAWN = (8, 65, 129, 513, 2101)
"""Between each of these and the next a size is drawn, as likely in each half of the octaves."""
BLOCK, MOST_BLOCKS = 128, 32
"""One more is so many times 128, at most, as hidden sizes are."""
POWERS = (8, 12)
"""And one is two to a power of these, the last left out."""


def drawn_sizes(seed: int) -> list[int]:
    """Return how many entries are normalised together at the cases that a seed draws.

    >>> drawn_sizes(0)
    [18, 94, 288, 712, 3584, 256]
    """
    generator = np.random.default_rng([seed, *b"sizes"])
    ends = np.log2(DRAWN)
    any_size = [int(np.exp2(generator.uniform(*pair))) for pair in pairwise(ends)]
    blocks = int(np.exp2(generator.uniform(1, np.log2(MOST_BLOCKS))))
    return list(dict.fromkeys([*any_size, BLOCK * blocks, 2 ** int(generator.integers(*POWERS))]))


CHANNELS_DRAWN = (258, 1024)
"""Between these a number of channels is drawn, as likely in each half of the powers of two."""


def drawn_channels(seed: int) -> int:
    """Return how many channels the case has that a seed draws."""
    generator = np.random.default_rng([seed, *b"channels"])
    return int(np.exp2(generator.uniform(*np.log2(CHANNELS_DRAWN))))


def drawn_part_of_eps(seed: int) -> float:
    """Return a number from 0.7 to 2 by which an eps is multiplied that is not the customary one.

    It is a third of an integer times a power of two, whose binary digits end in 0101...: rounded to
    any format, it loses a third of a spacing.

    >>> drawn_part_of_eps(0) * 48
    58.0
    """
    return (3 * int(np.random.default_rng([seed, *b"eps"]).integers(11, 32)) + 1) / 48


def draw(
    stratum: Stratum,
    dtype: str,
    family: str,
    axes: str,
    seed: int = 0,
    groups: int = 1,
    eps: float | None = None,
    is_affine: bool = True,
    has_shift: bool = True,
) -> Case:
    """Return the stratum's case in a dtype, the same for the same seed.

    Args:
        stratum: what to draw.
        dtype: the subject's.
        family: the member of the family.
        axes: the axes' letters.
        seed: another one draws other numbers.
        groups: how many groups of channels, for group normalisation.
        eps: the eps of a layer that has its own; None: the stratum's.
        is_affine: without it gamma is one, beta zero, and neither is differentiated.
        has_shift: without it beta is zero.

    >>> case = draw(Stratum("plain", PLAIN), "float32", "batch", "NC")
    >>> case.inputs["x"].shape, case.inputs["gamma"].shape, case.eps == 1e-5
    ((30, 5), (5,), True)
    """
    is_volume = len(axes) == len("NCDHW") and stratum.together == ORDINARY
    together = OF_VOLUMES if is_volume else stratum.together
    shape = shape_for(family, axes, together, stratum.units, groups, stratum.single)
    place = geometry(family, axes, shape, groups)
    size, channels = place.statistics.shape, place.channels
    # The name is part of the seed, so that strata of one shape share no numbers.
    generator = np.random.default_rng([seed, *stratum.name.encode()])
    scale = 2.0**stratum.log_scale
    noise = generator.standard_normal(size) * generator.uniform(0.5, 2.0, size[1])
    x = scale * (noise + stratum.offset * generator.choice([-1.0, 1.0], size[1]))
    parameters = {name: _signed(generator, channels) for name in PER_CHANNEL}
    parameters["variance"] = np.abs(parameters["variance"])
    if stratum.kind == OFFSET and place.is_by_unit:
        # As in a trained layer: evaluation subtracts what is as large as x.
        parameters["mean"] = parameters["mean"] + x.mean(axis=0)
    if stratum.change == WIDE:
        sizes = np.exp2(np.linspace(-12, 12, channels).round())
        parameters["gamma"], parameters["beta"] = (
            generator.permutation(sizes) * parameters[name] for name in ("gamma", "beta")
        )
        # No output of an evaluation leaves the range of half precision so.
        size = np.abs(parameters["gamma"])
        parameters["variance"] = size * parameters["variance"]
        parameters["mean"] = parameters["mean"] / size
    else:
        x, parameters["gamma"] = CHANGES[stratum.change](generator, x, parameters["gamma"], dtype)
    if stratum.change == AS_MADE:
        parameters |= {"gamma": np.ones(channels), "beta": np.zeros(channels)}
    if stratum.change == NO_GAMMA:
        parameters |= _without_gamma(channels)
    x = rounded_to(x, dtype)
    eps = stratum.eps if eps is None else eps
    step = _power_of_two_near(x, eps)
    cotangent = _alike if stratum.change == ALIKE else _generic
    entries = {
        "x": x,
        "g": 2.0**stratum.log_slope * cotangent(generator, x),
        "u": step * _generic(generator, x),
        "w": step * _generic(generator, x),
    }
    if stratum.change in (MASKED, MASKED_UNIT):
        entries["g"][:, : 1 if stratum.change == MASKED_UNIT else None] = 0
    holder, held = HOLDS.get(stratum.change, ("", 0.0))
    if holder in entries:
        entries[holder][len(x) // 2, 0] = held
    elif holder:
        parameters[holder][0] = held
    parameters |= _without(parameters, is_affine, has_shift)
    inputs = {name: _in_place(rounded_to(matrix, dtype), place) for name, matrix in entries.items()}
    inputs |= {name: rounded_to(values, dtype) for name, values in parameters.items()}
    for name in OF_SOME[stratum.layout][1] if stratum.stored_as in (EXPANDED, ONE_NUMBER) else ():
        equal = slice(0, 1) if stratum.stored_as == EXPANDED else (slice(0, 1),) * len(axes)
        inputs[name] = np.broadcast_to(inputs[name][equal], shape).copy()
    of_channels = (place.spread(inputs[name]) for name in ("gamma", "beta"))
    holds = (x, place.matrix(inputs["g"]), *of_channels)
    touched = ~np.all([np.isfinite(matrix).all(axis=0) for matrix in holds], axis=0)
    return Case(stratum, dtype, axes, place, eps, inputs, touched)


def _without(
    parameters: dict[str, np.ndarray], is_affine: bool, has_shift: bool
) -> dict[str, np.ndarray]:
    """Return the parameters that a layer does not have, and their directions."""
    channels = len(parameters["gamma"])
    missing = () if is_affine and has_shift else ("b", "beta")
    without_beta = {name: np.zeros(channels) for name in missing}
    return without_beta if is_affine else without_beta | _without_gamma(channels)


def _without_gamma(channels: int) -> dict[str, np.ndarray]:
    """Return a gamma of one, and that it does not move."""
    return {"gamma": np.ones(channels), "a": np.zeros(channels), "c": np.zeros(channels)}


def _in_place(matrix: np.ndarray, place: Geometry) -> np.ndarray:
    array = np.empty(place.statistics.size)
    array[place.statistics] = matrix
    return array.reshape(place.shape)


def _generic(generator: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Return a matrix of x's shape with parts of order one along the ones and along yhat."""
    along_ones, along_yhat = (_signed(generator, x.shape[1]) for _ in range(2))
    return _with_parts(generator, x, along_ones, along_yhat)


def _alike(generator: np.random.Generator, x: np.ndarray) -> np.ndarray:
    """Return a matrix of x's shape with the same such parts in all units."""
    ones = np.ones(x.shape[1])
    return _with_parts(generator, x, ones, ones)


def _with_parts(
    generator: np.random.Generator, x: np.ndarray, along_ones: np.ndarray, along_yhat: np.ndarray
) -> np.ndarray:
    finite = np.where(np.isfinite(x), x, 0)
    centred = finite - finite.mean(axis=0)
    spread = np.sqrt(np.mean(centred**2, axis=0))
    yhat = np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 0)
    return generator.standard_normal(x.shape) + along_ones + along_yhat * yhat


def _signed(generator: np.random.Generator, count: int) -> np.ndarray:
    """Return numbers of size 1/2 to 3/2 and of either sign; the first is negative."""
    signs = generator.choice([-1.0, 1.0], count)
    signs[0] = -1.0
    return signs * generator.uniform(0.5, 1.5, count)


def _power_of_two_near(x: np.ndarray, eps: float) -> np.ndarray:
    """Return a power of two near each unit's sigma, so that derivatives are of order one."""
    finite = np.where(np.isfinite(x), x, 0)
    largest = np.max(np.abs(finite), axis=0)
    largest = np.where(largest > 0, largest, 1)
    variance = np.mean(((finite - finite.mean(axis=0)) / largest) ** 2, axis=0)
    sigma = np.hypot(np.sqrt(variance) * largest, np.sqrt(eps))
    return np.exp2(np.rint(np.log2(sigma)))


Change = Callable[[np.random.Generator, np.ndarray, np.ndarray, str], tuple[Any, Any]]


def _unchanged(_: Any, x: Any, gamma: Any, __: str) -> tuple[Any, Any]:
    return x, gamma


def _gamma_zero(_: Any, x: Any, gamma: np.ndarray, __: str) -> tuple[Any, Any]:
    return x, np.where(np.arange(len(gamma)) % 2 == 0, 0.0, gamma)


def _gamma_all_zero(_: Any, x: Any, gamma: np.ndarray, __: str) -> tuple[Any, Any]:
    return x, np.zeros_like(gamma)


def _gamma_negative(_: Any, x: Any, gamma: np.ndarray, __: str) -> tuple[Any, Any]:
    return x, -np.abs(gamma)


def _outlier(_: Any, x: np.ndarray, gamma: Any, __: str) -> tuple[Any, Any]:
    changed = x.copy()
    changed[1 % len(x)] = 64.0
    return changed, gamma


def _constant(generator: np.random.Generator, x: np.ndarray, gamma: Any, _: str) -> Any:
    return np.broadcast_to(_signed(generator, x.shape[1]), x.shape).copy(), gamma


def _subnormal(_: Any, x: np.ndarray, gamma: Any, dtype: str) -> tuple[Any, Any]:
    return x * PRECISIONS[dtype].smallest * 2.0**-5, gamma


def _with_entry(value: float) -> Change:
    def changed(_: Any, x: np.ndarray, gamma: Any, __: str) -> tuple[Any, Any]:
        replaced = x.copy()
        replaced[len(x) // 2, 0] = value
        return replaced, gamma

    return changed


CHANGES: dict[str, Change] = {
    **dict.fromkeys(("", AS_MADE, NO_GAMMA, MASKED, MASKED_UNIT, ALIKE, *HOLDS), _unchanged),
    "gamma zero": _gamma_zero,
    "gamma all zero": _gamma_all_zero,
    "gamma negative": _gamma_negative,
    "outlier": _outlier,
    "constant": _constant,
    "subnormal": _subnormal,
    "infinite": _with_entry(np.inf),
    "nan": _with_entry(np.nan),
}

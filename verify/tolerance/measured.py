r"""What rounding and underflow explain at the units of a network that somebody else computed.

**Rounding.**  The network computes the gradient w in its own precision, u.  Each entry of w is a
difference of g, its mean, and a multiple of :math:`\hat y`, whose entries carry errors of
:math:`u|\mu|/\sigma`; so that w is off by at most

.. math:: \rho_w = k\,u\,\frac{|\gamma|}\sigma\|g\|\Big(1 + \frac{|\mu|}\sigma\Big), \qquad
          k = 64(1 + \log_2 m),

:func:`verify.tolerance.factor`; second derivatives likewise, by the sizes of their terms.
Inner products are taken in float64 and off by :math:`2^{-53} k\|a\|\|b\|`.  A side is off by no
more than the sum of what it changes when one inner product after the other is moved by its own
error.

**Underflow.**  A product or quotient that underflows is off by up to half of the smallest number
above zero, :math:`\eta`, however small it is; sums are not, and a sum of m products is a mean by
the time that it meets an entry.  So k, which grows with m and covers a measurement by chance, has
no part in it: what counts is how many products and quotients a term passes through, 32 at most
where a layer is written out and differentiated twice, :math:`16\eta`.  If one is a power of
:math:`1/\sigma` on its own, at most the third, that is :math:`16\eta\sigma^3` of it, which is added
to :math:`k\,u`.  Otherwise it is a part of a term, linear in g, and meets some of the term's other
factors afterwards: one :math:`\gamma`; one :math:`y - \mu`, of the size of :math:`\sigma`, where
the :math:`1/\sigma` are in it already; or :math:`\sigma^{-3}` where they are still to come.  So w
is off by

.. math:: \eta_w = 16\,\eta\,\sqrt m\,\max(1, |\gamma|)\max(1, \sigma, \sigma^{-3})

as well.  In second derivatives it is :math:`\sigma^{-5}`, and the other one of g and w may come.
Where that may be a large part of the terms that a vector is made of, it says nothing, and a
statement is undecided there: both sides may be what is left of other numbers.

Shapes: ``numbers`` holds m, gamma, mean, sigma, ``roundoff`` (u) and ``least``
(:math:`\eta`) of many units, ``products`` the inner products of their vectors by pairs of names,
all of them arrays ``(unit,)``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from math import sqrt
from typing import Any

import numpy as np

from verify.tolerance import SAFETY, UNIT_ROUNDOFF, Array, factor

UNDERFLOWS = 16
"""What 32 products and quotients may lose, in the smallest number above zero."""
BLURRED = 2.0**-6
"""A unit decides nothing where rounding may be a larger part of the sides."""
SMALLEST = 2.0**-22
"""What the norm of a difference can be told from zero by, over the norms: inner products are its
square, and known to 2^-53 and some."""
SINGLE = 2.0**-24
"""The unit roundoff of single precision."""
OF_ROUNDED = 8
"""How many times the root of the squares of rounding errors their sum may be."""

Numbers = Mapping[str, Array]
Products = Mapping[tuple[str, str], Array]


def error_of_output(
    numbers: Mapping[str, Any], yhat: Any, gamma: Any = 1.0, beta: Any = 0.0
) -> Any:
    r"""Return how far an entry of :math:`\gamma\hat y + \beta` can be from exact arithmetic's.

    .. math:: \Big(k\,u + \frac{16\eta}{\sigma^2}\Big)
              \Big(|\gamma|(1 + |\hat y|)\Big(1 + \frac{|\mu|}\sigma\Big) + |\beta|\Big)

    Squares that underflow are that much of the variance.
    """
    sigma = numbers["sigma"]
    relative = factor(numbers["m"]) * numbers["roundoff"] + UNDERFLOWS * numbers["least"] / sigma**2
    return relative * (
        abs(gamma) * (1 + abs(yhat)) * (1 + abs(numbers["mean"]) / sigma) + abs(beta)
    )


def share_that_is_zero(roundoff: float, rows: int) -> float:
    r"""Return what :math:`|\sum_i g_i|/(\sqrt N\|g\|)` may be where the sum is zero.

    .. math:: 64\min(u, 2^{-24}) + \frac{8u}{\sqrt N}

    A layer that subtracts a mean computes it in single precision at least, and that error, k u of
    the sizes, is the same in all entries.  Each entry is then rounded by itself, to u of it, where
    sums of N such errors are beyond :math:`8u\|g\|` with a probability of :math:`2e^{-32}` at most
    (Hoeffding's inequality).  In half precision the first alone would be as large as a generic sum.
    """
    return SAFETY * min(roundoff, SINGLE) + OF_ROUNDED * roundoff / sqrt(rows)


def norms(numbers: Numbers, products: Products) -> dict[str, Array]:
    """Return the norms of the vectors of ones and of those with a known product by themselves."""
    known = {a: np.sqrt(products[a, b]) for a, b in products if a == b}
    return known | {"one": np.sqrt(numbers["m"])}


@np.errstate(all="ignore")
def errors_of_products(numbers: Numbers, products: Products) -> dict[tuple[str, str], Array]:
    """Return the errors of inner products; of those that left the range, nothing finite."""
    sizes = norms(numbers, products)
    own, off = factor(numbers["m"]) * UNIT_ROUNDOFF, errors_of_vectors(numbers, products)

    def error(a: str, b: str) -> Array:
        x, y = off.get(a, np.float64(0)), off.get(b, np.float64(0))
        return own * sizes[a] * sizes[b] + x * sizes[b] + sizes[a] * y + x * y

    return {(a, b): error(a, b) for a, b in products if "yhat" not in (a, b) or {"g", "w"} & {a, b}}


def errors_of_vectors(numbers: Numbers, products: Products) -> dict[str, Array]:
    """Return how far vectors can be from what exact arithmetic would give."""
    offset = np.abs(numbers["mean"]) / numbers["sigma"]
    of_powers = UNDERFLOWS * numbers["least"] * numbers["sigma"] ** 3
    relative = (factor(numbers["m"]) * numbers["roundoff"] + of_powers) * (1 + offset)
    lost = _underflow(numbers, products)
    return {name: relative * size + lost[name] for name, size in _terms(numbers, products).items()}


def is_underflown(names: Iterable[str], numbers: Numbers, products: Products) -> Array:
    """Return at which units underflow may be a large part of one of the named vectors.

    What has no terms at all, where no gradient arrives, is zero rather than too small.
    """
    terms, lost = _terms(numbers, products), _underflow(numbers, products)
    parts = [(terms[n] > 0) & (lost[n] > BLURRED * terms[n]) for n in {*names} & terms.keys()]
    return np.logical_or.reduce(parts)


def _terms(numbers: Numbers, products: Products) -> dict[str, Array]:
    """Return the sizes of the terms that vectors are differences of."""
    of_g, of_w = (np.sqrt(products[name, name]) for name in ("g", "w"))
    scale, m = np.abs(numbers["gamma"]) / numbers["sigma"], numbers["m"]
    found = {"w": scale * of_g}
    if ("hessian", "hessian") in products:
        image = np.sqrt(products["H", "H"])
        bent = 4 * scale / numbers["sigma"] * of_g * of_w / np.sqrt(m)
        found["hessian"] = scale * image + bent
    return found


def _underflow(numbers: Numbers, products: Products) -> dict[str, Array]:
    """Return how far underflow can move vectors, however small their terms are."""
    of_g, of_w = (np.sqrt(products[name, name]) for name in ("g", "w"))
    sigma, gamma = numbers["sigma"], np.abs(numbers["gamma"])
    each = UNDERFLOWS * numbers["least"] * np.sqrt(numbers["m"]) * np.maximum(1, gamma)

    def left(power: int) -> Array:
        found: Array = np.maximum(np.maximum(1, sigma), sigma**-power)
        return found

    return {"w": each * left(3), "hessian": each * left(5) * np.maximum(1, np.maximum(of_g, of_w))}

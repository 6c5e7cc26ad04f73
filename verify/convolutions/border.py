r"""How far the mean of a column can be from that of its channel: (19) against (21).

Both are averages of the same map's entries, with other weights: over a window of r' s' entries,
some of them zeros of the padding, and over all r s of the map.  With W the number of entries of
the map in the window,

.. math:: \theta = \sum |\text{difference of the weights}|
          = W\Big|\frac1{r's'} - \frac1{rs}\Big| + 1 - \frac W{rs}

and :math:`|\mu(t, a, p) - \mu(p)| \le \theta M`, :math:`M = \max |h(\cdot, \cdot, p)|`, attained by
a map of entries M and -M.  With stride 1, :math:`\theta` is the excluded part of the map,
:math:`1 - (1 - i/r)(1 - j/s)` for i rows and j columns, largest at the kernel's corners: there it
is the factor of Prop. 10 if one of r, s is at least (k - 1)/2.

The variance is not in the paper.  Mean squares differ by at most :math:`\theta M^2` and squared
means by twice that; with stride 1, the two averages are over nested sets, and

.. math:: -3\theta(1-\theta)M^2 \le \sigma^2(t, a, p) - \sigma^2(p) \le \theta(1-\theta)M^2
          \qquad (\theta \le \tfrac12)

with :math:`-((1-\theta)^2 + \theta)M^2` on the left for larger :math:`\theta`.

Source: Lange, Helfrich and Ye 2022, Prop. 10; the stride and the variance are ours.
"""

from __future__ import annotations

import numpy as np

from verify.subjects.convolutions import Shape
from verify.tolerance import Array


def printed_factor(shape: Shape) -> float:
    """Return what Prop. 10 multiplies max |h| by.

    >>> printed_factor(Shape("", "", 1, 1, 3, 1, 4))  # 7 of 16 entries
    0.4375
    """
    k, r = shape.kernel, shape.size
    return (k - 1) * (1 / (2 * r) + 1 / (2 * r) - (k - 1) / (4 * r * r))


def theta(shape: Shape) -> Array:
    """Return the largest difference of the means over max |h|, ``(k, k)``.

    >>> theta(Shape("", "", 1, 1, 3, 1, 4))
    array([[0.4375, 0.25  , 0.4375],
           [0.25  , 0.    , 0.25  ],
           [0.4375, 0.25  , 0.4375]])
    """
    inside = _inside(shape)
    window, whole = shape.output_size**2, shape.size**2
    met = inside[:, None] * inside[None, :]
    return met * abs(1 / window - 1 / whole) + 1 - met / whole


def variance_bounds(shape: Shape) -> tuple[Array, Array]:
    """Return how much less and how much more the variance can be, over max h^2, ``(k, k)``.

    >>> less, more = variance_bounds(Shape("", "", 1, 1, 3, 1, 4))
    >>> print(less[0, 1], more[0, 1])
    0.5625 0.1875
    """
    share = theta(shape)
    if shape.stride > 1:
        return 3 * share, 3 * share
    both = share * (1 - share)
    return np.where(share <= 0.5, 3 * both, (1 - share) ** 2 + share), both


def _inside(shape: Shape) -> Array:
    """Return how many rows of the map each row of the kernel meets."""
    outputs = np.arange(shape.output_size) * shape.stride
    met = outputs + np.arange(-shape.padding, shape.padding + 1)[:, None]
    return np.sum((met >= 0) & (met < shape.size), axis=1)

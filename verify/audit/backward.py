r"""Whether the gradient in a layer's batch is that of its output.

.. math:: w = \frac\gamma\sigma\Big(g - \bar g - \hat y\,\frac{\langle\hat y, g\rangle}m\Big),

without :math:`\bar g` where no mean is subtracted, as in RMS normalisation, and :math:`w = \gamma
g/\sigma`, with the running variance's :math:`\sigma`, where a layer is frozen.  No statement of the
ledger is about these two.
"""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from theory.language.values import Sides
from verify import tolerance
from verify.audit.spanned import Space
from verify.audit.statements import numbers_of, vectors
from verify.audit.units import Units
from verify.tolerance import Outcome, measured


@np.errstate(all="ignore")
def off(units: Units) -> Tensor:
    r"""Return how far w is from what g makes it, over :math:`|\gamma/\sigma||g|`, ``(unit,)``.

    Zero where rounding explains it; NaN where rounding or underflow may explain anything.
    """
    numbers, products = numbers_of(units)
    space = Space(numbers["m"], products)
    one, yhat, g, w = map(space.vector, ("one", "yhat", "g", "w"))
    of_mean = g.mean() * one if units.normalization.is_centred else 0 * g
    scale = numbers["gamma"] / units.divisor.cpu().numpy()
    of_statistics = of_mean + yhat * (yhat.inner(g) / numbers["m"])
    right = scale * (g if units.normalization.is_frozen else g - of_statistics)
    actual, claimed, excess, allowed = vectors(Sides(w, right), numbers, products)
    size = np.maximum(actual, claimed)
    outcomes = tolerance.outcomes(excess, allowed, size, is_strict=False, blurred=measured.BLURRED)
    shares = excess / (np.abs(scale) * np.sqrt(products["g", "g"]))
    shares = np.where([outcome is Outcome.VIOLATED for outcome in outcomes], shares, 0.0)
    is_unclear = np.array([outcome is Outcome.UNDECIDED for outcome in outcomes])
    is_unclear |= measured.is_underflown(["w"], numbers, products)
    return torch.from_numpy(np.where(is_unclear, np.nan, shares))

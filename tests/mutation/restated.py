"""Printed formulas once more, in matrices of NumPy, where a proof would not see another formula.

A claim that is refuted stays refuted with almost any formula in the place of the printed one, and
an identity of operators stays true when it is applied to a special direction.  For those the two
sides are written here from the statement alone; nothing of ``theory`` or ``verify`` is used.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from paper_numbers import Numbers, Sides
from restated_minima import MINIMA
from restated_remarks import REMARKS
from restated_version_1 import VERSION_1, VERSION_1_QUANTITIES
from restated_version_1_entries import ENTRIES, ENTRIES_QUANTITIES
from restated_version_1_hessian import HESSIAN, HESSIAN_QUANTITIES
from restated_version_1_labels import LABELS, LABELS_QUANTITIES
from restated_version_1_remarks import REMARKS_VERSION_1, REMARKS_VERSION_1_QUANTITIES
from restated_weights import WEIGHTS


def fact_c2_normalized(n: Numbers) -> Sides:
    """Equation (1)."""
    return n.dense(n.normalize, n.y) @ n.u, n.P @ n.u / n.sigma


def fact_c2_scaled(n: Numbers) -> Sides:
    """Equations (2) and (33)."""
    return n.dense(n.layer, n.y) @ n.u, n.gamma / n.sigma * n.P @ n.u


def theorem_4_1_supplement(n: Numbers) -> Sides:
    """Theorem 4.1 and line (9) with one over the root of m."""
    right = n.g @ n.g - (n.one @ n.g) ** 2 / n.m - (n.g @ n.yhat) ** 2 / n.m**0.5
    return n.gradient @ n.gradient, n.gamma**2 / n.sigma**2 * right


def two_networks(n: Numbers) -> Sides:
    """Theorem 4.1 with the gradient of the other network."""
    g = n.gradient_of_loss(n.y)
    right = g @ g - (n.one @ g) ** 2 / n.m - (g @ n.yhat) ** 2 / n.m
    return n.gradient @ n.gradient, n.gamma**2 / n.sigma**2 * right


def identification(n: Numbers) -> Sides:
    """The same loss's gradient in two points."""
    return n.g, n.gradient_of_loss(n.y)


def descent(n: Numbers) -> Sides:
    """The inner product that is to be positive."""
    return n.yhat @ n.g, 0.0


def hessian_in_y(n: Numbers) -> Sides:
    """Equations (41) and (42), multiplied by gamma."""
    bent = (
        np.outer(n.centred, n.yhat)
        + np.outer(n.yhat, n.centred)
        - 3 / n.m * (n.g @ n.yhat) * np.outer(n.yhat, n.yhat)
        + (n.g @ n.yhat) * n.off_mean
    )
    matrix = n.gamma**2 * n.P @ n.H @ n.P - n.gamma / n.m * bent
    return n.hessian @ n.u, matrix @ n.u / n.sigma**2


def mean_of_gradient(n: Numbers) -> Sides:
    """Equation (24)."""

    def averaged(z: torch.Tensor) -> torch.Tensor:
        return torch.func.grad(n.L)(z).mean() * torch.ones_like(z)

    return n.dense(averaged, n.z) @ n.u, np.outer(n.one, n.one) @ n.H @ n.u / n.m


def part_along_yhat(n: Numbers) -> Sides:
    """Equations (25) to (27)."""

    def along(z: torch.Tensor) -> torch.Tensor:
        yhat = (z - n.beta) / n.gamma
        return yhat * (yhat @ torch.func.grad(n.L)(z))

    matrix = n.I * (n.g @ n.yhat) / n.gamma
    matrix = matrix + np.outer(n.yhat, n.yhat) @ n.H + np.outer(n.yhat, n.g) / n.gamma
    return n.dense(along, n.z) @ n.u, matrix @ n.u


def line_44_corrected(n: Numbers) -> Sides:
    """Idempotence up to what eps leaves."""
    left = n.eps / (n.m * n.sigma**2) * np.outer(n.yhat, n.yhat)
    return n.P @ n.P @ n.u, (n.P - left) @ n.u


def midpoint(n: Numbers) -> Sides:
    """The loss between two points around the layer's output, against their average."""
    ends = [n.L(torch.as_tensor(n.z + sign * n.v)) for sign in (1, -1)]
    return n.L(torch.as_tensor(n.z)).numpy(), (sum(ends) / 2).numpy()


RESTATED: dict[str, Callable[[Numbers], Sides]] = {
    **MINIMA,
    **REMARKS,
    **WEIGHTS,
    **VERSION_1,
    **LABELS,
    **HESSIAN,
    **ENTRIES,
    **REMARKS_VERSION_1,
    "S-fact-C2-eq-1": fact_c2_normalized,
    "S-fact-C2-eq-2": fact_c2_scaled,
    "S-thm-4.1-supp": theorem_4_1_supplement,
    "S-thm-4.1/two-networks": two_networks,
    "S-thm-4.1-identification": identification,
    "S-thm-4.2-discussion/descent": descent,
    "S-thm-4.2-discussion/psd": lambda n: (n.u @ n.H @ n.u, 0.0),
    "S-thm-4.2-discussion/kink": midpoint,
    "S-thm-4.2-discussion/later-batchnorm": lambda n: (n.u @ n.H @ n.u, 0.0),
    "S-eq-9-supp": theorem_4_1_supplement,
    "S-eq-24": mean_of_gradient,
    "S-eq-25": part_along_yhat,
    "S-eq-26": part_along_yhat,
    "S-eq-27": part_along_yhat,
    "S-eq-33": fact_c2_scaled,
    "S-eq-41-42": hessian_in_y,
    "S-eq-41-42/shipped": hessian_in_y,
    "S-eq-43": lambda n: (n.m * (n.I - n.off_mean) @ n.centred, np.zeros(n.m)),
    "S-eq-44": lambda n: (n.P @ n.P @ n.u, n.P @ n.u),
    "S-eq-44/corrected": line_44_corrected,
    "S-eq-45": lambda n: (n.yhat @ n.off_yhat, np.zeros(n.m)),
    "S-eq-46": lambda n: (n.off_mean @ n.off_yhat @ n.centred, n.off_yhat @ n.centred),
}
"""By identifier, without what the reading adds to it."""
QUANTITIES: dict[str, Callable[[Numbers], tuple[Any, ...]]] = {
    **VERSION_1_QUANTITIES,
    **LABELS_QUANTITIES,
    **HESSIAN_QUANTITIES,
    **ENTRIES_QUANTITIES,
    **REMARKS_VERSION_1_QUANTITIES,
    "S-eq-10": lambda n: (n.u @ n.v,),
    "S-lemma-4.5/trainable": lambda n: (n.u @ n.v,),
    "S-thm-C1/kappa/at-most": lambda n: ((n.H @ n.g - n.g) @ (n.H @ n.g - n.g),),
    "S-thm-C1/kappa/linear/at-most": lambda n: ((n.H @ n.g) @ (n.H @ n.g),),
    "S-remark-predictive/smoothness": lambda n: ((n.z - n.y) @ (n.z - n.y), n.yhat @ n.u),
    "S-remark-predictive/gradient": lambda n: (
        (n.H @ n.g) @ (n.H @ n.g), (n.z - n.y) @ (n.z - n.y), n.yhat @ n.g
    ),
}  # fmt: skip
"""By identifier: the quantities of hypotheses, of which any other vector would do as well."""

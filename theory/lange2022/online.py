r"""Online learning: one example, and the variance from the running mean.

A dense layer's :math:`\hat H` is one row :math:`\hat h^\top` then, of condition number one, and so
is the Hessian :math:`L''\hat h\hat h^\top`, and whatever a preconditioner makes of them: a matrix M
of rank one has :math:`M^2 = \operatorname{tr}(M) M`.

The variance is estimated by :math:`(h - \mu)^2` with a running mean of factor :math:`\rho`.  For
independent h of one law with variance v, :math:`\mathbb{E}(h - \mu)^2` is the sum of v and the
variance of the running mean, which after k steps from the true mean is

.. math:: v\Big(1 + \frac{1 - \rho}{1 + \rho}(1 - \rho^{2k})\Big)

for the mean before the new example, and :math:`\rho^2` times that with the example in it.  In the
long run that is 2/(1 + rho), 200/199 for rho = 0.99, and 9801/9950: either is nearly unbiased.  The
text does not say which mean is meant; Algorithm 2 has the variance before the running mean.
"""

from typing import Any

from theory.arithmetic.spectra import squared_condition_number
from theory.lange2022.spectral import augmented
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def one_row(layer: Layer) -> Any:
    """The first example."""
    return augmented(layer.H[:1, :])


def condition(layer: Layer) -> Sides:
    """One row."""
    found = squared_condition_number(one_row(layer))
    return Sides(found, 1 + 0 * found)


def after_preconditioning(layer: Layer) -> Sides:
    """One row, centred and scaled by other statistics."""
    G = augmented((layer.H[:1, :] - layer.mean) / layer.deviation)
    found = squared_condition_number(G)
    return Sides(found, 1 + 0 * found)


def hessian(layer: Layer) -> Any:
    """The Hessian of one example, of any curvature."""
    h = one_row(layer)
    return layer.curvature[0] * (h.T @ h)


def rank_one(layer: Layer) -> Sides:
    """The square of the Hessian, and its trace times itself."""
    M, h = hessian(layer), one_row(layer)
    return Sides(M @ M, layer.curvature[0] * (h * h).sum() * M)


def drawn(layer: Layer) -> tuple[Any, Any, Any]:
    """At most four equally likely numbers, their mean and their variance."""
    h = layer.H[:4, 0]
    mean = h.sum() / h.shape[0]
    return h, mean, ((h - mean) * (h - mean)).sum() / h.shape[0]


def kept(layer: Layer) -> Any:
    """The factor rho of the running mean, between 0 and 1."""
    return layer.step / (layer.step + layer.q)


def squared_distances(layer: Layer, includes_the_new: bool) -> Any:
    """The mean of (h - mu)^2 over all draws of two earlier examples and a new one."""
    h, mean, _ = drawn(layer)
    rho = kept(layer)
    first = rho * mean + (1 - rho) * h[:, None, None]
    running = rho * first + (1 - rho) * h[:, None]
    used = rho * running + (1 - rho) * h if includes_the_new else running
    distances = (h - used + 0 * running) * (h - used + 0 * running)
    return distances.sum() / h.shape[0] ** 3


def unbiased(layer: Layer) -> Sides:
    """The variance itself."""
    return Sides(squared_distances(layer, False), drawn(layer)[2])


def factor(layer: Layer) -> Any:
    """What two steps from the true mean make of the variance."""
    rho = kept(layer)
    return 1 + (1 - rho) * (1 - rho**4) / (1 + rho)


def biased(layer: Layer) -> Sides:
    """The mean before the new example."""
    return Sides(squared_distances(layer, False), factor(layer) * drawn(layer)[2])


def biased_with_new(layer: Layer) -> Sides:
    """The mean with the new example."""
    right = kept(layer) ** 2 * factor(layer) * drawn(layer)[2]
    return Sides(squared_distances(layer, True), right)


ONE = MatrixClaim(
    id="L-online",
    row="L-online",
    locations=at(
        406, "Sect. 4, last paragraph", "has 1 row only and hence a condition number of 1"
    ),
    statement=r"\kappa(\hat H)^2 \le 1,\quad N = 1",
    sides=condition,
    subject=Kind.LAYER,
    relation=Relation.AT_MOST,
    expected=Verdict.SUPPORTED,
    falsified_by="one example",
    remark="kappa over the nonzero singular values, of which there is one.",
)

UNBIASED = MatrixClaim(
    id="L-online/variance",
    row="L-online",
    locations=at(242, "Sect. 3.3, after Algorithm 2", "to estimate the variance"),
    statement=r"\mathbb{E}(h - \mu)^2 = \operatorname{var}(h)",
    sides=unbiased,
    subject=Kind.LAYER,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    corrected_by="L-online/variance/corrected",
    falsified_by="one law and factor of the running mean",
    remark="'Estimate' read as unbiased, which the text does not say: two steps from the true "
    "mean, every draw enumerated.",
)

CLAIMS = [
    ONE,
    ONE.sharpened(
        "preconditioned",
        statement=r"\kappa(\hat H P)^2 \le 1,\quad N = 1, \text{ any means and deviations}",
        sides=after_preconditioning,
        expected=Verdict.SUPPORTED,
    ),
    ONE.sharpened(
        "rank-one",
        statement=r"M^2 = \operatorname{tr}(M)\,M,\quad M = L''\hat h\hat h^\top",
        sides=rank_one,
        relation=Relation.EQUAL,
        remark="So the trace is the only eigenvalue that is not zero.",
    ),
    UNBIASED,
    UNBIASED.corrected(
        statement=r"\mathbb{E}(h - \mu)^2 ="
        r" \operatorname{var}(h)\Big(1 + \frac{1 - \rho}{1 + \rho}(1 - \rho^4)\Big)",
        sides=biased,
        corrected_by=None,
        remark="The mean before the new example.",
    ),
    UNBIASED.corrected(
        "with-new",
        statement=r"\mathbb{E}(h - \mu)^2 = \rho^2"
        r" \operatorname{var}(h)\Big(1 + \frac{1 - \rho}{1 + \rho}(1 - \rho^4)\Big)",
        sides=biased_with_new,
        corrected_by=None,
        remark="The mean with the new example in it.",
    ),
]

r"""Batch renormalization: both formulas of (3).

They have the same values,

.. math:: \frac{h - \mu_H}{\sigma_H}\cdot\frac{\sigma_H}{\sigma} + \frac{\mu_H - \mu}{\sigma}
          = \frac{h - \mu}{\sigma},

and with an epsilon in the denominators as long as s has it too.  They have different derivatives:
with s and d fixed the formula for training has

.. math:: \frac\gamma\sigma\Big(u - \bar u\,1 - \tfrac1N\hat y\langle\hat y, u\rangle\Big),

the one for inference :math:`\gamma u/\sigma`.  So for N = 2, where 1 and :math:`\hat y` span every
direction, training passes nothing to the layers below.
"""

from typing import Any

from theory import batchnorm
from theory.lange2022.algorithm_1 import claim
from theory.lange2022.literal import SPREAD, means, variances
from theory.matrix_claim import Layer
from theory.statement import Reading, Sides, Verdict


def training(layer: Layer, H: Any, s: Any, d: Any, eps: Any = 0) -> Any:
    """The second formula of (3)."""
    return layer.gamma * ((H - means(H)) / layer.sqrt(variances(H) + eps) * s + d) + layer.beta


def corrections(layer: Layer, eps: Any = 0) -> tuple[Any, Any]:
    """The numbers s and d."""
    s = layer.sqrt(variances(layer.H) + eps) / layer.deviation
    return s, (means(layer.H) - layer.mean) / layer.deviation


def inference(layer: Layer) -> Any:
    """The first formula of (3)."""
    return layer.gamma * (layer.H - layer.mean) / layer.deviation + layer.beta


def values(layer: Layer) -> Sides:
    """Both formulas."""
    return Sides(training(layer, layer.H, *corrections(layer)), inference(layer))


def values_unguarded(layer: Layer) -> Sides:
    """An epsilon, q, in the denominator only."""
    return Sides(training(layer, layer.H, *corrections(layer), layer.q), inference(layer))


def values_guarded(layer: Layer) -> Sides:
    """The same epsilon in s."""
    s, d = corrections(layer, layer.q)
    return Sides(training(layer, layer.H, s, d, layer.q), inference(layer))


def slope(layer: Layer, u: Any) -> Any:
    """The derivative of the formula for training along u, with s and d fixed."""
    s, d = corrections(layer)
    return layer.derivative(lambda H: training(layer, H, s, d), layer.H, u)


def generic(layer: Layer) -> Any:
    """A direction for the batch."""
    return layer.curvature[:, None] * layer.deviation


def slopes(layer: Layer) -> Sides:
    """Both derivatives along a direction."""
    u = generic(layer)
    return Sides(slope(layer, u), layer.gamma / layer.deviation * u)


def slopes_corrected(layer: Layer) -> Sides:
    """Fact C.2 times s."""
    u = generic(layer)
    s, _ = corrections(layer)
    return Sides(slope(layer, u), s * batchnorm.jvp(layer.H, u, layer.gamma))


def slope_in_plane(layer: Layer) -> Sides:
    """The derivative along a combination of 1 and yhat."""
    u = layer.q + layer.step * (layer.H - means(layer.H))
    return Sides(slope(layer, u), 0 * u)


RENORMALIZED = claim(
    "/renormalization", 62, r"\gamma\left(\frac{h^{(\ell-1)}-\mu_{H}}{\sigma_{H}}s+d\right)+\beta",
    r"\gamma\frac{h-\mu}{\sigma}+\beta = \gamma\Big(\frac{h-\mu_H}{\sigma_H}s+d\Big)+\beta",
    values, hypotheses=(SPREAD,),
)  # fmt: skip

UNGUARDED = claim(
    "/renormalization-eps", 62, RENORMALIZED.locations[0].quote,
    r"\gamma\frac{h-\mu}{\sigma}+\beta = \gamma\Big(\frac{h-\mu_H}{\sqrt{\sigma_H^2+\epsilon}}s+d"
    r"\Big)+\beta,\quad s = \sigma_H/\sigma", values_unguarded,
    reading=Reading.SHARED_EPSILON, expected=Verdict.REFUTED,
    falsified_by="one batch where an epsilon in the denominators alone (line 49) makes them differ",
)  # fmt: skip

SLOPES = claim(
    "/renormalization-gradients", 64, "with gradients passing through them",
    r"\frac{\partial}{\partial H}\gamma\Big(\frac{h-\mu_H}{\sigma_H}s+d\Big)[u] ="
    r" \frac\gamma\sigma u", slopes,
    hypotheses=(SPREAD,), expected=Verdict.REFUTED,
    falsified_by="one batch where the formulas of (3), equal in value, have other derivatives",
    remark="The text does not say that the gradients are equal; equal formulas suggest it.",
)  # fmt: skip

CLAIMS = [
    RENORMALIZED,
    UNGUARDED,
    UNGUARDED.corrected(
        sides=values_guarded, falsified_by="",
        statement=UNGUARDED.statement.replace(
            r"\sigma_H/\sigma", r"\sqrt{\sigma_H^2+\epsilon}/\sigma"
        ),
    ),
    SLOPES,
    SLOPES.corrected(
        sides=slopes_corrected, falsified_by="", remark="",
        statement=r"\frac{\partial}{\partial H}\gamma\Big(\frac{h-\mu_H}{\sigma_H}s+d\Big)[u] ="
        r" \frac\gamma\sigma\Big(u-\bar u 1-\frac1N\hat y\langle\hat y,u\rangle\Big)",
    ),
    SLOPES.sharpened(
        "two-examples", sides=slope_in_plane, falsified_by="",
        statement=r"\frac{\partial}{\partial H}\gamma\Big(\frac{h-\mu_H}{\sigma_H}s+d\Big)[u] = 0"
        r"\ \text{for } u \in \operatorname{span}(1, \hat y),\ \text{for } N = 2\text{ every } u",
        remark="With two examples batch renormalization sends no gradient to the layers below.",
    ),
]  # fmt: skip

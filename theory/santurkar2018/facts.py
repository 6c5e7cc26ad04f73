r"""Facts C.1 and C.2: the gradient through Batch Normalization, and its Jacobian.

Fact C.1 names the batch A, the normalised batch B, the layer's output C and the loss f.  A Jacobian
is an operator: both sides are applied to any direction u.
"""

from theory import batchnorm
from theory.claim import Claim
from theory.language.expression import Primitive, Sort, along, equal, named
from theory.language.operations import dot
from theory.santurkar2018.chosen import with_hints
from theory.santurkar2018.letters import EPS, MOVED
from theory.santurkar2018.texts import final, supplement
from theory.statement import PROVED, REFUTED
from theory.unit import g as slope
from theory.unit import gamma, grad, m, normalize, one, sigma, u, variable, y, yhat

B, IN_C = named("B", yhat), named(r"\frac{\partial f}{\partial C}", slope)
IN_A = named(r"\frac{\partial f}{\partial A}", grad.body)  # type: ignore[attr-defined]
library_gradient = Primitive(
    "batchnorm.gradient", lambda unit, y, g: batchnorm.gradient(y, g, unit.gamma, unit.eps),
    r"\mathtt{{batchnorm.gradient}}({0}, {1}, \gamma, \epsilon)", gives=Sort.VECTOR,
    reads=("gamma", "eps"),
)  # fmt: skip
"""The formula that this library ships."""

NORMALIZED_MOVED = named(
    r"\frac{\partial\hat y}{\partial y} u", along(normalize(variable), variable, u, at=y)
)
THIRTY_THREE = "App. C.2, proof of Theorem 4.2, eq. (33)"
PROJECTED = u - dot(one, u) / m * one - dot(yhat, u) / m * yhat

CLAIMS = with_hints([
    *(GRADIENT := Claim(
        id="S-fact-C1", title="the gradient through BatchNorm",
        locations=(
            final(378, "App. C.1, Fact C.1", r"-{B}^{(b)}\sum_{k=1}^{m}"),
            supplement(129, "App. C.1, Fact C.1", r"- B^{(b)} \sum_{k=1}^{m}"),
        ),
        says=equal(
            IN_A, gamma / (m * sigma) * (m * IN_C - dot(one, IN_C) * one - B * dot(IN_C, B))
        ),
        expected=PROVED,
    )).with_epsilon(PROVED, REFUTED),
    GRADIENT.under(EPS, PROVED).sharpened(
        "shipped", title="the gradient, by this project's function",
        says=equal(IN_A, library_gradient(y, slope)),
    ),
    *Claim(
        id="S-fact-C2-eq-1", title="the Jacobian of the normalised batch",
        locations=(
            final(383, "App. C.1, eq. (1)", r"\frac{1}{m}\hat{y}^{(b)}\hat{y}^{(k)}"),
            supplement(133, "App. C.1, eq. (1)", r"\frac{1}{m} \hat{y}^{(b)} \hat{y}^{(k)}"),
        ),
        says=equal(NORMALIZED_MOVED, 1 / sigma * PROJECTED),
        result="S-fact-C2", expected=PROVED,
    ).with_epsilon(PROVED, REFUTED),
    *Claim(
        id="S-fact-C2-eq-2", title="the Jacobian of the layer",
        locations=(
            final(387, "App. C.1, eq. (2)", r"\frac{\gamma}{\sigma}\left(\textbf{1}[b=k]"),
            supplement(137, "App. C.1, eq. (2)", r"\frac{\gamma}{\sigma} \left(\mathbf{I}[b=k]"),
            final(495, THIRTY_THREE, r"\left(\bm{I}-\frac{1}{m}\bm{1}"),
            supplement(291, THIRTY_THREE, r"\left(\boldsymbol{I} - \frac{1}{m}"),
        ),
        says=equal(MOVED, gamma / sigma * PROJECTED),
        result="S-fact-C2", expected=PROVED,
    ).with_epsilon(PROVED, REFUTED),
])  # fmt: skip

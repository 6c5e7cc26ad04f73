r"""Sect. 3.4: re-scaling and re-centring are an over-parametrisation.

.. math:: W(\gamma v + \beta) + b = \hat W v + \hat b, \qquad
          \hat W = W\operatorname{diag}(\gamma), \quad \hat b = W\beta + b,

for whatever v, normalized or not; conversely :math:`\gamma = 1, \beta = 0` give every
:math:`\hat W, \hat b`.  A step of gradient descent in :math:`W, b, \gamma, \beta` moves the hats,
to first order in the learning rate, by

.. math:: -\alpha\Big(\nabla_{\hat W}\mathcal L\operatorname{diag}(\gamma)^2
          + \nabla_{\hat b}\mathcal L\,(\beta\gamma)^\top
          + W\operatorname{diag}(\operatorname{diag}(W^\top\nabla_{\hat W}\mathcal L))\Big), \qquad
          -\alpha\Big((1 + \|\beta\|^2)\,I + W W^\top\Big)\nabla_{\hat b}\mathcal L
          - \alpha\,\nabla_{\hat W}\mathcal L\,(\gamma\beta)

in place of :math:`-\alpha\nabla_{\hat W}\mathcal L` and :math:`-\alpha\nabla_{\hat b}\mathcal L`.
"""

from typing import Any

from theory import preconditioning
from theory.lange2022.literal import outputs, parameters
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def hats(W: Any, b: Any, gamma: Any, beta: Any) -> tuple[Any, Any]:
    """Return the parameters of the layer without re-scaling and re-centring."""
    return W * gamma, (W * beta).sum(1) + b


def equivalent(layer: Layer) -> Sides:
    """The layer's output for the inputs v = h."""
    actual = outputs(layer.gamma * layer.H + layer.beta, layer.W, layer.b)
    nothing = 0 * layer.mean
    What, bhat = preconditioning.folded(
        layer.W, layer.b, layer.gamma, layer.beta, nothing, nothing + 1
    )
    return Sides(actual, outputs(layer.H, What, bhat))


def equivalent_normalized(layer: Layer) -> Sides:
    """The same with the normalization by any statistics folded in."""
    v = (layer.H - layer.mean) / layer.deviation
    actual = outputs(layer.gamma * v + layer.beta, layer.W, layer.b)
    What, bhat = preconditioning.folded(
        layer.W, layer.b, layer.gamma, layer.beta, layer.mean, layer.deviation
    )
    return Sides(actual, outputs(layer.H, What, bhat))


def speed(layer: Layer) -> Any:
    """Return how fast descent in all four parameters moves the hats at first, (n + 1, p)."""
    W, b, gamma, beta = layer.W, layer.b, layer.gamma, layer.beta

    def loss(W: Any, b: Any, gamma: Any, beta: Any) -> Any:
        return layer.loss(outputs(gamma * layer.H + beta, W, b))

    in_W = layer.gradient(lambda W: loss(W, b, gamma, beta), W)
    in_b = layer.gradient(lambda b: loss(W, b, gamma, beta), b)
    in_gamma = layer.gradient(lambda gamma: loss(W, b, gamma, beta), gamma)
    in_beta = layer.gradient(lambda beta: loss(W, b, gamma, beta), beta)

    def after(step: Any) -> Any:
        moved = W - step * in_W, b - step * in_b, gamma - step * in_gamma, beta - step * in_beta
        return parameters(*hats(*moved))

    return layer.derivative(after, 0 * layer.step, 0 * layer.step + 1)


def gradients(layer: Layer) -> tuple[Any, Any]:
    """Return the gradients in the hats."""
    What, bhat = hats(layer.W, layer.b, layer.gamma, layer.beta)
    in_What = layer.gradient(lambda W: layer.loss(outputs(layer.H, W, bhat)), What)
    return in_What, layer.gradient(lambda b: layer.loss(outputs(layer.H, What, b)), bhat)


def descent(layer: Layer) -> Sides:
    """The same by the gradients in the hats."""
    (in_What, in_bhat), W, gamma, beta = gradients(layer), layer.W, layer.gamma, layer.beta
    weights = in_What * (gamma * gamma) + in_bhat[:, None] * (beta * gamma)
    weights = weights + W * (W * in_What).sum(0)
    bias = in_bhat * (1 + beta @ beta) + W @ (W.T @ in_bhat) + in_What @ (gamma * beta)
    return Sides(speed(layer), -parameters(weights, bias))


def claim(name: str, quote: str, statement: str, sides: Any, **other: Any) -> MatrixClaim:
    """Return an equation of this section."""
    settled: dict[str, Any] = {"expected": Verdict.PROVED}
    return MatrixClaim(
        id="L-overparam" + name, row="L-overparam", locations=at(256, "Sect. 3.4", quote),
        statement=statement, sides=sides, subject=Kind.LAYER, relation=Relation.EQUAL,
        **settled | other,
    )  # fmt: skip


EQUIVALENT = claim(
    "", r"\widehat{b}=W^{(\ell)}\beta+b^{(\ell)}",
    r"W(\gamma v + \beta) + b = W\operatorname{diag}(\gamma)\,v + (W\beta + b)", equivalent,
)  # fmt: skip

CLAIMS = [
    EQUIVALENT,
    EQUIVALENT.sharpened(
        "normalized", sides=equivalent_normalized,
        statement=r"W\Big(\gamma\frac{h-\mu}{\sigma} + \beta\Big) + b ="
        r" W\operatorname{diag}\Big(\frac\gamma\sigma\Big)h"
        r" + b + W\Big(\beta - \frac{\gamma\mu}\sigma\Big)",
    ),
    EQUIVALENT.sharpened(
        "descent", sides=descent, remark="How different the iterations are, to first order.",
        locations=at(256, "Sect. 3.4", "their training iterations through gradient descent"),
        statement=r"-\frac{d\hat W}{d\alpha}\Big|_{\alpha=0} = \nabla_{\hat W}\mathcal L"
        r"\operatorname{diag}(\gamma)^2 + \nabla_{\hat b}\mathcal L\,(\beta\gamma)^\top + W"
        r"\operatorname{diag}(\operatorname{diag}(W^\top\nabla_{\hat W}\mathcal L)),\quad"
        r" -\frac{d\hat b}{d\alpha}\Big|_{\alpha=0} = \big((1+\|\beta\|^2)I + WW^\top\big)"
        r"\nabla_{\hat b}\mathcal L + \nabla_{\hat W}\mathcal L\,(\gamma\beta)",
    ),
]  # fmt: skip

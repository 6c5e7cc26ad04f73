r"""The proof of Proposition 7: (33), (34), and line 678.

.. math:: W\mathcal B_{0,1}(h) + b = W\operatorname{diag}(1/\sigma_H)(h - \mu_H) + b
          = \hat W h + \hat b, \qquad
          [\hat b^\top; \hat W^\top] = U[b^\top; \hat W^\top] = UD[b^\top; W^\top]

with :math:`\hat b = b - W(\mu_H/\sigma_H)`.  (Lines 668 and 676 print it with
:math:`\operatorname{diag}(\mu_H/\sigma_H)`, see :mod:`theory.lange2022.proposition_7`.)
"""

from typing import Any

from theory import batchnorm, preconditioning
from theory.lange2022.literal import SPREAD, means, outputs, parameters, variances
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def hats(layer: Layer) -> tuple[Any, Any]:
    """Return the vanilla layer's weights and bias, literally."""
    mean, deviation = means(layer.H), layer.sqrt(variances(layer.H))
    weights = layer.W / deviation
    return weights, layer.b - (weights * mean).sum(1)


def line_33(layer: Layer) -> Sides:
    """The normalization as a product."""
    centred = layer.H - preconditioning.means(layer.H)
    weights = layer.W / preconditioning.standard_deviations(layer.H)
    actual = outputs(batchnorm.normalize(layer.H), layer.W, layer.b)
    return Sides(actual, outputs(centred, weights, layer.b))


def line_34(layer: Layer) -> Sides:
    """The vanilla layer."""
    actual = outputs(batchnorm.normalize(layer.H), layer.W, layer.b)
    return Sides(actual, outputs(layer.H, *hats(layer)))


def line_678_left(layer: Layer) -> Sides:
    """The product with U."""
    weights, bias = hats(layer)
    U = preconditioning.centring(preconditioning.means(layer.H))
    return Sides(parameters(weights, bias), U @ parameters(weights, layer.b))


def line_678_right(layer: Layer) -> Sides:
    """The product with P = UD."""
    P = preconditioning.preconditioner(
        preconditioning.means(layer.H), preconditioning.standard_deviations(layer.H)
    )
    return Sides(parameters(*hats(layer)), P @ parameters(layer.W, layer.b))


def step(name: str, line: int, quote: str, statement: str, sides: Any) -> MatrixClaim:
    """Return a step of the proof."""
    return MatrixClaim(
        id="L-steps/" + name, row="L-steps", statement=statement, sides=sides,
        locations=at(line, "App. A, proof of Prop. 7", quote), subject=Kind.LAYER,
        relation=Relation.EQUAL, hypotheses=(SPREAD,), expected=Verdict.PROVED,
    )  # fmt: skip


CLAIMS = [
    step(
        "33", 673, r"\left(h^{(\ell-1)}-\mu_{H}\right)+b^{(\ell)}",
        r"W\mathcal B_{0,1}(h) + b = W\operatorname{diag}(1/\sigma_H)(h - \mu_H) + b", line_33,
    ),
    step(
        "34", 674, r"\left(\widehat{W}h^{(\ell-1)}+\widehat{b}\right). (34)",
        r"W\mathcal B_{0,1}(h) + b = \hat W h + \hat b,\quad \hat b = b - W(\mu_H/\sigma_H)",
        line_34,
    ),
    step(
        "678-U", 678, r"=U\begin{bmatrix}b^{(\ell)^{T}}\\ \widehat{W}^{T}\end{bmatrix}",
        r"[\hat b^\top; \hat W^\top] = U[b^\top; \hat W^\top]", line_678_left,
    ),
    step(
        "678-P", 678, r"=P\begin{bmatrix}b^{(\ell)^{T}}\\ W^{(\ell)^{T}}\end{bmatrix}",
        r"[\hat b^\top; \hat W^\top] = P[b^\top; W^\top]", line_678_right,
    ),
]  # fmt: skip

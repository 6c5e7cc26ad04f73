r"""Equation (15) and Algorithm 2: steps 4 and 5 are the product with :math:`PP^\top/q^2`.

With :math:`P = UD`, for one output's gradients :math:`G_b` and :math:`G_w`,

.. math:: PP^\top\begin{bmatrix}G_b\\ G_w\end{bmatrix}
          = \begin{bmatrix}G_b - \mu^\top v\\ v\end{bmatrix}, \qquad
          v = \operatorname{diag}(\tilde\sigma^2)^{-1}(G_w - \mu G_b):

step 4 takes the old :math:`G_b` and step 5 the new :math:`G_w`, as their order says.  With the old
:math:`G_w` in step 5 it is another vector.  The layer's numbers W and b stand for any gradients
here, its ``mean`` and ``deviation`` for any :math:`\mu` and :math:`\tilde\sigma`.

(The gradient in W is printed with the size n x n_{l-1} in line 225, for n_l x n_{l-1}.)
"""

from typing import Any

from array_api_compat import array_namespace

from theory import preconditioning
from theory.lange2022.literal import outputs, parameters, transformed, variances
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Relation, Sides, Verdict


def steps(layer: Layer, *, with_old_weights: bool = False) -> Any:
    """Return what steps 4 and 5 make of the gradients W and b, output by output, (n + 1, p)."""
    xp, q_squared, square = array_namespace(layer.W), layer.q * layer.q, layer.deviation**2
    columns = []
    for i in range(layer.W.shape[0]):
        old, bias = layer.W[i, :], layer.b[i : i + 1]
        new = (old - layer.mean * bias) / square / q_squared
        used = old if with_old_weights else new
        bias = bias / q_squared - xp.sum(used * layer.mean, axis=0, keepdims=True)
        columns.append(xp.concat([bias, new]))
    return xp.stack(columns).T


def product(layer: Layer) -> Any:
    """Return the product with PP'/q^2 as matrices."""
    P = preconditioning.preconditioner(layer.mean, layer.deviation)
    return P @ (P.T @ parameters(layer.W, layer.b)) / (layer.q * layer.q)


def sequential(layer: Layer) -> Sides:
    """Step 5 with the new weights' gradient."""
    return Sides(steps(layer), product(layer))


def simultaneous(layer: Layer) -> Sides:
    """Step 5 with the old weights' gradient."""
    return Sides(steps(layer, with_old_weights=True), product(layer))


def in_place(layer: Layer) -> Sides:
    """The library's form, with 1/q^2 in the variances."""
    bias, weights = preconditioning.preconditioned_gradient(
        layer.b, layer.W, layer.mean, layer.deviation * layer.deviation, q_squared=layer.q * layer.q
    )
    return Sides(steps(layer), parameters(weights, bias))


def descent(layer: Layer) -> Sides:
    """A step of gradient descent in z, with (1/q)P, against a step by Algorithm 2."""
    mean, deviation = layer.mean, layer.deviation
    W, b = layer.W, layer.b
    # Pz/q = [b'; W'] for the z that undoes P, entry by entry.
    weights = W * deviation * layer.q
    z = parameters(weights, (b + (W * mean).sum(1)) * layer.q)

    def loss(z: Any) -> Any:
        moved = transformed(z, mean, deviation) / layer.q
        return layer.loss(moved[0, :] + layer.H @ moved[1:, :])

    after = z - layer.step * layer.gradient(loss, z)
    grad_W = layer.gradient(lambda W: layer.loss(outputs(layer.H, W, b)), W)
    grad_b = layer.gradient(lambda b: layer.loss(outputs(layer.H, W, b)), b)
    grad_b, grad_W = preconditioning.preconditioned_gradient(
        grad_b, grad_W, mean, deviation * deviation, q_squared=layer.q * layer.q
    )
    return Sides(
        transformed(after, mean, deviation) / layer.q,
        parameters(W - layer.step * grad_W, b - layer.step * grad_b),
    )


def guards(layer: Layer) -> Sides:
    """The regularized variances against both bounds, eps_1 and eps_2 free."""
    variance = variances(layer.H)
    largest = max(variance[j] for j in range(variance.shape[0]))
    found = preconditioning.regularized_variance(variance, layer.step, layer.q)
    bounds = array_namespace(layer.H).stack([layer.step * largest, layer.q])
    return Sides(found, bounds[:, None])


def claim(
    name: str, line: int, quote: str, statement: str, sides: Any, **other: Any
) -> MatrixClaim:
    """Return an equation of Algorithm 2."""
    settled: dict[str, Any] = {"expected": Verdict.PROVED, "relation": Relation.EQUAL}
    return MatrixClaim(
        id="L-eq-15" + name, row="L-eq-15", statement=statement, sides=sides, subject=Kind.LAYER,
        locations=at(line, "Sect. 3.3, Algorithm 2", quote), **settled | other,
    )  # fmt: skip


SEQUENTIAL = claim(
    "", 242, "Steps 4 and 5 implement the gradient transformation in",
    r"\text{steps 4 and 5, in this order: }[G_b; G_w^\top] \mapsto"
    r" \frac1{q^2} P P^\top [G_b; G_w^\top]", sequential,
    falsified_by="one pair of gradients; step 5 reads the G_w that step 4 has written",
)  # fmt: skip

SIMULTANEOUS = claim(
    "/simultaneous", 242, SEQUENTIAL.locations[0].quote,
    r"\text{steps 4 and 5 at once: }[G_b; G_w^\top] \mapsto \frac1{q^2} P P^\top [G_b; G_w^\top]",
    simultaneous, expected=Verdict.REFUTED, corrected_by="L-eq-15",
    falsified_by="one pair of gradients; step 5 reads the old G_w",
)  # fmt: skip

DESCENT = claim(
    "/descent", 227, r"\alpha\frac{1}{q^{2}}PP^{T}",
    r"\begin{bmatrix}b^\top\\ W^\top\end{bmatrix} - \frac{\alpha}{q^2}PP^\top"
    r"\begin{bmatrix}\nabla_b\mathcal L\\ \nabla_{W^\top}\mathcal L\end{bmatrix} = \frac1q P"
    r"(z - \alpha\nabla_z\mathcal L),\quad"
    r" \frac1q P z = \begin{bmatrix}b^\top\\ W^\top\end{bmatrix}",
    descent,
)  # fmt: skip

GUARDS = claim(
    "/guards", 242, "to prevent division by a number smaller than",
    r"\tilde\sigma_j^2 \ge \epsilon_1\max\sigma^2,\quad \tilde\sigma_j^2 \ge \epsilon_2", guards,
    relation=Relation.AT_LEAST, expected=Verdict.SUPPORTED,
    remark="A sum of three terms, none negative; symbols have no maximum.",
)  # fmt: skip

CLAIMS = [
    SEQUENTIAL,
    SEQUENTIAL.sharpened(
        "in-place", sides=in_place, falsified_by="",
        statement=r"G_w \leftarrow (G_w - G_b\mu^\top)\operatorname{diag}(q^2\tilde\sigma^2)^{-1},"
        r"\ G_b \leftarrow G_b/q^2 - G_w\mu\text{: the same as steps 4 and 5}",
        remark="1/q^2 goes into the variances, which saves a multiplication for each weight.",
    ),
    SIMULTANEOUS,
    DESCENT,
    GUARDS,
]  # fmt: skip

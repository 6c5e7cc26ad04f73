r"""Proposition 9: the Hessian in one output channel's bias and weights, and its proof.

.. math:: \nabla_{\hat w}^2\mathcal L = \hat{\mathcal H}^\top S\hat{\mathcal H}, \qquad
          S = \tfrac1N\operatorname{diag}\big(\nabla^2 L(v_a^{(1)}), \dots,
          \nabla^2 L(v_a^{(N)})\big),

with full blocks of r s rows, since the pixels of an example may interact.  Outputs are linear in
:math:`\hat w`, so it is the chain rule.  It needs a loss of single examples: if a later layer
normalizes over the batch, the Hessian in the outputs has blocks off the diagonal, and they count.

A symmetric matrix is known by its quadratic form, so both sides are taken at a generic vector.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory.convolution import gramian, unfolded
from theory.lange2022.texts import at
from theory.lange2022.unfolding import augmented, convolution, stacked, unstacked, unvec, vec
from theory.matrix_claim import Kind, Maps, MatrixClaim
from theory.statement import Relation, Sides, Verdict

Loss = Callable[[Any], Any]


def forward(maps: Maps, column: Any) -> Any:
    """The outputs, with other bias and weights in the first channel."""
    xp = array_namespace(maps.h)
    w, b = unstacked(column, maps.w.shape[-1])
    weights = xp.concat([w, maps.w[1:, ...]], axis=0)
    return convolution(maps.h, weights, xp.concat([b, maps.b[1:]], axis=0))


def first(maps: Maps) -> Any:
    """The bias and weights of the first channel."""
    return stacked(maps.w, maps.b)[:, 0]


def second(maps: Maps, f: Loss, x: Any, u: Any) -> Any:
    """The second derivative of f at x along u."""
    return maps.derivative(lambda y: maps.derivative(f, y, u), x, u)


def moved(maps: Maps) -> Any:
    """The product of the unfolded matrix and the generic vector, in the first channel's place."""
    change = unvec(augmented(maps.h, maps.w.shape[-1]) @ maps.direction, maps.h)
    others = 0 * convolution(maps.h, maps.w, maps.b)[:, 1:, :, :]
    return array_namespace(maps.h).concat([change, others], axis=1)


def batch_coupled(maps: Maps) -> Loss:
    """The loss of what a later layer leaves that subtracts the mean over the batch."""
    return lambda A: maps.loss(A - A.sum(0) / A.shape[0])


def in_parameters(maps: Maps, loss: Loss) -> Any:
    """The Hessian's quadratic form, by differentiating the loss of the convolution."""
    return second(maps, lambda z: loss(forward(maps, z)), first(maps), maps.direction)


def by_blocks(maps: Maps, loss: Loss) -> Any:
    """The formula's, S having a block for each example and nothing else."""
    xp, outputs, change = array_namespace(maps.h), forward(maps, first(maps)), moved(maps)
    N = outputs.shape[0]
    each = [
        xp.concat([change[j : j + 1, ...] * (1 if i == j else 0) for i in range(N)], axis=0)
        for j in range(N)
    ]
    return sum(second(maps, loss, outputs, V) for V in each)


def single_examples(maps: Maps) -> Sides:
    """A loss that is a mean over the examples."""
    return Sides(in_parameters(maps, maps.loss), by_blocks(maps, maps.loss))


def coupled_examples(maps: Maps) -> Sides:
    """A loss that sees the batch."""
    loss = batch_coupled(maps)
    return Sides(in_parameters(maps, loss), by_blocks(maps, loss))


def coupled_by_whole(maps: Maps) -> Sides:
    """The same with the whole Hessian in the outputs for S."""
    loss, outputs = batch_coupled(maps), forward(maps, first(maps))
    return Sides(in_parameters(maps, loss), second(maps, loss, outputs, moved(maps)))


def shipped(maps: Maps) -> Sides:
    """The shipped matrix, for a loss that is a weighted sum of squares over two."""
    k, weights = maps.w.shape[-1], maps.h[:, 0, :, :]
    w, b = unstacked(maps.direction, k)
    x = unfolded.flatten(w, b)[:, 0]

    def loss(A: Any) -> Any:
        return (weights * A[:, 0, :, :] * A[:, 0, :, :]).sum() / 2

    return Sides(in_parameters(maps, loss), x @ (gramian.weighted_gram(maps.h, weights, k) @ x))


def gradient(maps: Maps) -> Sides:
    """The gradient along the generic vector, and the sum over the examples."""
    outputs = forward(maps, first(maps))
    slope = maps.derivative(lambda z: maps.loss(forward(maps, z)), first(maps), maps.direction)
    return Sides(slope, (maps.gradient(maps.loss, outputs) * moved(maps)).sum())


def outputs_linear(maps: Maps) -> Sides:
    """The derivative of the outputs along the generic vector, by the convolution's definition."""
    rate = maps.derivative(lambda z: forward(maps, z), first(maps), maps.direction)
    return Sides(vec(rate)[:, 0], augmented(maps.h, maps.w.shape[-1]) @ maps.direction)


HESSIAN = MatrixClaim(
    id="L-prop-9",
    row="L-prop-9",
    locations=(
        *at(341, "Sect. 4, Prop. 9", r"\nabla_{\widehat{w}}^{2}\mathcal{L}=\mathcal{\widehat{H}}"),
        *at(343, "Sect. 4, Prop. 9", r"S=\frac{1}{N}\text{diag}"),
    ),
    statement=r"\nabla_{\hat w}^2\mathcal L = \hat{\mathcal H}^\top S\hat{\mathcal H},"
    r"\quad S = \tfrac1N\operatorname{diag}\big(\nabla^2 L(v_a^{(1)}), \dots,"
    r" \nabla^2 L(v_a^{(N)})\big)",
    sides=single_examples,
    subject=Kind.MAPS,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one convolution and loss of single examples with another Hessian",
    remark="The blocks of S are full: unlike (10), S is not diagonal where pixels interact.",
)

COUPLED = replace(
    HESSIAN,
    id="L-prop-9/batch-coupled",
    sides=coupled_examples,
    statement=HESSIAN.statement + r",\ \text{the loss that of } a - \bar a,"
    r"\ \bar a \text{ the mean over the batch}",
    expected=Verdict.REFUTED,
    falsified_by="one batch below a layer that normalizes over the batch",
    remark="With Batch Normalization later in the network a loss of a single example (line 335)"
    " does not exist; here a later layer subtracts the batch's mean.",
)

PROOF = MatrixClaim(
    id="L-steps/705",
    row="L-steps",
    locations=at(705, "App. A, proof of Prop. 9", r"=\mathcal{\widehat{H}}^{T}S\mathcal"),
    statement=r"\frac{\partial\hat a}{\partial\hat w} = \hat{\mathcal H}",
    sides=outputs_linear,
    subject=Kind.MAPS,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one direction in which the outputs move otherwise",
    remark="Lines 703 and 704 stack the examples; with this derivative they are Prop. 9.",
)

CLAIMS = [
    HESSIAN,
    HESSIAN.sharpened(
        "shipped", sides=shipped, remark="",
        statement=r"\nabla_{\hat w}^2\,\tfrac12\sum S a^2 = \text{weighted\_gram}(h, S)",
    ),
    COUPLED,
    COUPLED.corrected(
        sides=coupled_by_whole, remark="S is then a full matrix of N r s rows.",
        statement=r"\nabla_{\hat w}^2\mathcal L = \hat{\mathcal H}^\top"
        r"\frac{\partial^2\mathcal L}{\partial\hat a^2}\hat{\mathcal H}",
    ),
    replace(
        PROOF, id="L-steps/698", sides=gradient, remark="",
        locations=at(698, "App. A, proof of Prop. 9", r"\frac{\partial L}{\partial v_{a}}(v_{a}"),
        statement=r"\frac{\partial\mathcal L}{\partial\hat w} = \frac1N\sum_j"
        r"\frac{\partial L}{\partial v_a}(v_a^{(j)})\frac{\partial v_a^{(j)}}{\partial\hat w}",
        falsified_by="one direction in which the loss moves otherwise",
    ),
    PROOF,
]  # fmt: skip

r"""Proposition 9: the Hessian in one output channel's bias and weights, and its proof.

.. math:: \nabla_{\hat w}^2\mathcal L = \hat{\mathcal H}^\top S\hat{\mathcal H}, \qquad
          S = \tfrac1N\operatorname{diag}\big(\nabla^2 L(v_a^{(1)}), \dots,
          \nabla^2 L(v_a^{(N)})\big) .

Outputs are linear in :math:`\hat w`, so it is the chain rule.  It needs a loss of single examples.

A symmetric matrix is known by its quadratic form, so both sides are taken at any vector x.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from array_api_compat import array_namespace

from theory import maps
from theory.convolution import gramian
from theory.convolution import unfolded as shipped
from theory.lange2022.texts import about, at
from theory.language.arrays import column, dot, entrywise
from theory.language.expression import (
    Expression,
    Letter,
    Operation,
    Primitive,
    Sort,
    along,
    equal,
    gradient,
    named,
)
from theory.maps import Hhat, h, k, outputs, parameters, twice_along, vec, what, x
from theory.matrix_claim import Kind
from theory.statement import REFUTED, Form

_N, _V, _MAPS = Sort.NUMBER, Sort.VECTOR, Sort.MAPS


Loss = Callable[[Any, Any], Any]
"""A loss of the outputs of all channels."""


def _of_examples(subject: Any, outputs: Any) -> Any:
    return subject.loss(outputs)


def _of_batch(subject: Any, outputs: Any) -> Any:
    return subject.loss(outputs - outputs.sum(0) / outputs.shape[0])


def _of_first_channel(loss: Loss, subject: Any) -> Callable[[Any], Any]:
    """Return a loss as a function of the vec of the first channel's outputs."""
    others = maps.convolution(subject.h, subject.w[1:], subject.b[1:])
    xp = array_namespace(subject.h)

    def of_column(column: Any) -> Any:
        return loss(subject, xp.concat([maps.maps_of(column, subject.h), others], axis=1))

    return of_column


def _as_primitive(loss: Loss) -> Callable[[Any, Any], Any]:
    return lambda subject, column: _of_first_channel(loss, subject)(column)


def _block_form(loss: Loss) -> Callable[[Any, Any, Any], Any]:
    """Return the form of the Hessian's blocks of single examples, and of nothing else."""

    def form(subject: Any, column: Any, vector: Any) -> Any:
        xp, N = array_namespace(vector), subject.h.shape[0]
        of_column = _of_first_channel(loss, subject)
        each = xp.reshape(vector, (N, -1))

        def of_example(j: int) -> Any:
            alone = [each[i : i + 1, :] * (1 if i == j else 0) for i in range(N)]
            moved = xp.reshape(xp.concat(alone, axis=0), (-1,))
            return subject.derivative(
                lambda y: subject.derivative(of_column, y, moved), column, moved
            )

        return sum(map(of_example, range(N)))

    return form


_READS = "h", "w", "b"
L = Primitive("L", _as_primitive(_of_examples), r"\mathcal L({0})", takes=(_V,), reads=_READS)
"""The loss as a function of the first channel's outputs: a mean over the examples."""
L_batch = Primitive(
    "loss of what a batch's mean leaves", _as_primitive(_of_batch),
    r"\mathcal L\big({0} - \overline{{{0}}}\big)", takes=(_V,), reads=_READS,
)  # fmt: skip
"""A loss below a layer that subtracts the mean over the batch."""
_DIAGONAL = (
    r"{{1:atom}}^\top \tfrac1N\operatorname{{{{diag}}}}"
    r"\big(\nabla^2 {loss}({{0:atom}}^{{{{(1)}}}}), \dots,"
    r" \nabla^2 {loss}({{0:atom}}^{{{{(N)}}}})\big)"
    r" {{1:product}}"
)
S = Primitive(
    "S", _block_form(_of_examples), _DIAGONAL.format(loss="L"), takes=(_V, _V), reads=_READS
)
S_batch = Primitive(
    "S of what a batch's mean leaves", _block_form(_of_batch), _DIAGONAL.format(loss=r"\bar L"),
    takes=(_V, _V), reads=_READS,
)  # fmt: skip
y = Letter("y", "y", _V)
MOVED = Hhat @ x


def form(loss: Operation) -> Expression:
    r"""Return :math:`x^\top\nabla_{\hat w}^2\mathcal L\,x`, by differentiating the convolution."""
    return twice_along(loss(outputs(parameters)), parameters, x, at=what)


def hessian_of(loss: Operation, latex: str) -> Expression:
    r"""The same with the abbreviation :math:`x^\top\nabla_{\hat w}^2\mathcal L\,x`."""
    return named(latex, form(loss))


IN_PARAMETERS = hessian_of(L, r"x^\top \nabla_{\hat w}^2\mathcal L\, x")
IN_PARAMETERS_BATCH = hessian_of(L_batch, r"x^\top \nabla_{\hat w}^2\mathcal L(a - \bar a)\, x")
A = outputs(what)
V_A = named("v_a", A)

weights = Letter("S", "S", _MAPS, lambda subject: subject.linear[:, :1, :, :])
"""Any weight for each output of the channel: the entries of a diagonal S."""
WEIGHED = column(vec(weights))
gram_form = Operation(
    "weighted_gram", lambda h, S, k, x: _gram_form(h, S, k, x),
    r"{3:atom}^\top \operatorname{{weighted\_gram}}({0}, {1}, {2})\, {3:atom}",
    takes=(_MAPS, _MAPS, _N, _V),
)  # fmt: skip


def _gram_form(h: Any, S: Any, k: int, x: Any) -> Any:
    column = shipped.flatten(maps.kernel_of(x, k), x[:1])[:, 0]
    return column @ (gramian.weighted_gram(h, S[:, 0, :, :], k) @ column)


proposition = about(Kind.MAPS, "L-prop-9", "Sect. 4, Prop. 9")
proof = about(
    Kind.MAPS, "L-proof-prop-9", "App. A, proof of Prop. 9", result="L-steps", form=Form.STEP
)


CLAIMS = [
    HESSIAN := proposition(
        "", 341, r"\nabla_{\widehat{w}}^{2}\mathcal{L}=\mathcal{\widehat{H}}",
        "the Hessian in a channel's bias and weights",
        equal(IN_PARAMETERS, S(V_A, MOVED)),
        also=at(343, "Sect. 4, Prop. 9", r"S=\frac{1}{N}\text{diag}"),
        remark="S has full blocks: unlike that of (10), it is not diagonal where pixels interact.",
    ),
    HESSIAN.sharpened(
        "shipped",
        says=equal(
            twice_along(
                dot(WEIGHED, entrywise(outputs(parameters), outputs(parameters))) / 2,
                parameters, x, at=what,
            ),
            gram_form(h, weights, k, x),
        ),
        title="the Hessian in a channel's parameters, by the"
        " library", remark="For half a weighted sum of squares of the outputs.",
    ),
    COUPLED := replace(
        HESSIAN, id="L-prop-9/batch-coupled",
        title="the Hessian in a channel's parameters below a layer that normalizes over the batch",
        says=equal(IN_PARAMETERS_BATCH, S_batch(V_A, MOVED)),
        form=Form.BOUNDARY, expected=REFUTED,
        remark="With Batch Normalization later in the network the loss of a single example, which"
        " the proposition has, does not exist; here a later layer subtracts the batch's mean. At"
        " each place ā is the mean over the examples, and (1/N) ∇²L̄ of an example is its diagonal"
        " block of the Hessian of 𝓛(a - ā) in a.",
    ),
    COUPLED.corrected(
        says=equal(IN_PARAMETERS_BATCH, twice_along(L_batch(y), y, MOVED, at=A)),
        title="the Hessian in a channel's parameters, with a full matrix for S",
        remark="S is then a full matrix of N r s rows. At each place ā is the mean over the"
        " examples.",
    ),
    proof(
        "/gradient", 698, r"\frac{\partial L}{\partial v_{a}}(v_{a}",
        "the gradient in a channel's parameters by the chain rule",
        equal(
            along(L(outputs(parameters)), parameters, x, at=what),
            dot(gradient(L(y), y, at=A), MOVED),
        ),
    ),
    proof(
        "/outputs", 705, r"=\mathcal{\widehat{H}}^{T}S\mathcal",
        "the derivative of a channel's outputs",
        equal(along(outputs(parameters), parameters, x, at=what), MOVED),
        remark="The lines above it stack the examples; with this derivative they are Prop. 9.",
    ),
]  # fmt: skip

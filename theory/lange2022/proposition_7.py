r"""Proposition 7: post-activation BN is a vanilla layer, and a step of it a step of BNP.

.. math:: W\,\frac{h - \mu_H}{\sigma_H} + b = \hat W h + \hat b, \qquad
          \hat W = W\operatorname{diag}(1/\sigma_H), \quad \hat b = b - W\,(\mu_H/\sigma_H),

an identity for any means and positive deviations.  (The text prints
:math:`W\operatorname{diag}(\mu_H/\sigma_H)`, a p x n matrix, in lines 264, 266, 668 and 676.)
So :math:`[\hat b^\top; \hat W^\top] = P\,[b^\top; W^\top]`, and with the statistics held fixed
gradient descent in :math:`W, b` is the iteration (8) in :math:`\hat W, \hat b`.

BNP is preconditioned by (1/q)P, :math:`q^2 = \max\{n/N, 1\}`: the steps agree at one learning rate
if q = 1, and else at :math:`\alpha_{BNP} = q^2\alpha_{BN}`, another one for each layer.  They agree
under the statistics of the batch before the step, those of BNP being the same as those of BN.
"""

from typing import Any

from theory import preconditioning
from theory.lange2022.literal import SPREAD, means, outputs, parameters, variances
from theory.lange2022.texts import at
from theory.matrix_claim import Kind, Layer, MatrixClaim
from theory.statement import Hypothesis, Relation, Sides, Verdict


def own(layer: Layer) -> tuple[Any, Any]:
    """The batch's own statistics."""
    return means(layer.H), layer.sqrt(variances(layer.H))


def printed_bias(layer: Layer) -> Sides:
    """The number of columns of what is subtracted from the bias, a vector."""
    return Sides((layer.W * (layer.mean / layer.deviation)).shape[1], 1)


def network(layer: Layer, W: Any, b: Any, mean: Any, deviation: Any) -> Any:
    """Return what the layer passes to the activation, example by example with (2)."""
    return outputs((layer.H - mean) / deviation, W, b)


def vanilla(layer: Layer) -> Sides:
    """The vanilla layer's output."""
    mean, deviation = own(layer)
    weights, bias = preconditioning.folded(
        layer.W, layer.b, 1, 0, preconditioning.means(layer.H),
        preconditioning.standard_deviations(layer.H),
    )  # fmt: skip
    actual = network(layer, layer.W, layer.b, mean, deviation)
    return Sides(actual, outputs(layer.H, weights, bias))


def vanilla_with_others(layer: Layer) -> Sides:
    """The same with any statistics."""
    weights, bias = preconditioning.folded(layer.W, layer.b, 1, 0, layer.mean, layer.deviation)
    actual = network(layer, layer.W, layer.b, layer.mean, layer.deviation)
    return Sides(actual, outputs(layer.H, weights, bias))


def after_descent(layer: Layer, mean: Any, deviation: Any) -> Any:
    """Return the vanilla parameters of the BN layer after its step, (n + 1, p)."""

    def loss(W: Any, b: Any) -> Any:
        return layer.loss(network(layer, W, b, mean, deviation))

    W = layer.W - layer.step * layer.gradient(lambda W: loss(W, layer.b), layer.W)
    b = layer.b - layer.step * layer.gradient(lambda b: loss(layer.W, b), layer.b)
    return parameters(W / deviation, b - (W / deviation * mean).sum(1))


def after_bnp(layer: Layer, start: Any, statistics: Any, q_squared: Any = 1, step: Any = 1) -> Any:
    """Return the vanilla layer's parameters after a step of BNP, (n + 1, p).

    It starts where it is the BN layer with the statistics ``start``; P has those that come next.
    """
    What, bhat = preconditioning.folded(layer.W, layer.b, 1, 0, *start)

    def loss(W: Any, b: Any) -> Any:
        return layer.loss(outputs(layer.H, W, b))

    grad_b, grad_W = preconditioning.preconditioned_gradient(
        layer.gradient(lambda b: loss(What, b), bhat),
        layer.gradient(lambda W: loss(W, bhat), What),
        statistics[0],
        statistics[1] * statistics[1],
        q_squared=q_squared,
    )
    return parameters(What - step * grad_W, bhat - step * grad_b)


def steps(layer: Layer) -> Sides:
    """With the batch's own statistics, and q = 1."""
    ours = own(layer)
    return Sides(after_descent(layer, *ours), after_bnp(layer, ours, ours, step=layer.step))


def steps_with_others(layer: Layer) -> Sides:
    """With any statistics, and q = 1."""
    ours = layer.mean, layer.deviation
    return Sides(after_descent(layer, *ours), after_bnp(layer, ours, ours, step=layer.step))


def steps_with_q(layer: Layer) -> Sides:
    """With a q of its own."""
    ours, q_squared = (layer.mean, layer.deviation), layer.q * layer.q
    step = after_bnp(layer, ours, ours, q_squared, layer.step)
    return Sides(after_descent(layer, *ours), step)


def steps_at_own_rates(layer: Layer) -> Sides:
    """The learning rate of BNP being q^2 times that of BN."""
    ours, q_squared = (layer.mean, layer.deviation), layer.q * layer.q
    step = after_bnp(layer, ours, ours, q_squared, q_squared * layer.step)
    return Sides(after_descent(layer, *ours), step)


def steps_by_running_averages(layer: Layer) -> Sides:
    """BNP with other statistics than the batch's, as in Algorithm 2."""
    ours, running = own(layer), (layer.mean, layer.deviation)
    return Sides(after_descent(layer, *ours), after_bnp(layer, ours, running, step=layer.step))


OTHER_Q = Hypothesis(r"q > 1", lambda layer: layer.q - 1, Relation.MORE_THAN)


def claim(
    name: str, line: int, quote: str, statement: str, sides: Any, **other: Any
) -> MatrixClaim:
    """Return an equation of this proposition."""
    settled: dict[str, Any] = {"expected": Verdict.PROVED, "relation": Relation.EQUAL}
    return MatrixClaim(
        id="L-prop-7" + name, row="L-prop-7", statement=statement, sides=sides, subject=Kind.LAYER,
        locations=at(line, "Sect. 3.4, Prop. 7", quote), **settled | other,
    )  # fmt: skip


BIAS = claim(
    "", 264, r"b^{(\ell)}-W^{(\ell)}\text{diag}\left(\frac{\mu_{H}}{\sigma_{H}}\right)",
    r"\hat b = b - W\operatorname{diag}(\mu_H/\sigma_H)\text{: the columns of }"
    r"W\operatorname{diag}(\mu_H/\sigma_H)\text{ are as many as those of }b", printed_bias,
    expected=Verdict.REFUTED,
    falsified_by="a layer with more than one input, where a matrix is taken from a vector",
)  # fmt: skip

STEP = r"\text{BN's step in }(W, b)\text{, folded} = \text{a step of BNP in }(\hat W, \hat b)"
STEP_QUOTE = "is equivalent to one step of BNP training of the vanilla network"

STEPS = claim(
    "/step", 264, STEP_QUOTE, STEP + r",\quad q = 1", steps, hypotheses=(SPREAD,),
    remark="q = 1 if the layer has at most as many inputs as the batch has examples.",
)  # fmt: skip

WITH_Q = claim(
    "/step-with-q", 264, STEP_QUOTE, STEP, steps_with_q, hypotheses=(OTHER_Q,),
    expected=Verdict.REFUTED,
    falsified_by="one layer with more inputs than examples, q^2 = n/N, and one learning rate",
    remark="Line 225 calls the preconditioning by (1/q)P BNP. N = 2, n = 3: q^2 = 3/2.",
)  # fmt: skip

RUNNING = claim(
    "/step-by-running-averages", 242, "or some averages of them", STEP + r",\quad q = 1",
    steps_by_running_averages, hypotheses=(SPREAD,), expected=Verdict.REFUTED,
    corrected_by="L-prop-7/step/any-statistics",
    falsified_by="one batch; BN with the batch's statistics, BNP with those of Algorithm 2",
)  # fmt: skip

VANILLA = r"W\frac{h-\mu_H}{\sigma_H}+b = \hat W h + b - W\frac{\mu_H}{\sigma_H}"

CLAIMS = [
    BIAS,
    BIAS.corrected(
        sides=vanilla, hypotheses=(SPREAD,), statement=VANILLA, falsified_by="",
    ),
    BIAS.sharpened(
        "any-statistics", sides=vanilla_with_others, falsified_by="",
        statement=VANILLA.replace("_H", "") + r"\text{, any }\mu,\ \sigma > 0",
        remark="An epsilon in sigma changes nothing, if it is the same on both sides.",
    ),
    STEPS,
    STEPS.sharpened(
        "any-statistics", sides=steps_with_others, hypotheses=(), remark="",
        statement=STEPS.statement + r",\text{ any }\mu,\ \sigma > 0\text{ held fixed}",
    ),
    WITH_Q,
    WITH_Q.corrected(
        sides=steps_at_own_rates, hypotheses=(), falsified_by="",
        statement=STEP + r",\quad \alpha_{BNP} = q^2\alpha_{BN}",
        remark="q belongs to the layer: no one rate serves layers of different q.",
    ),
    RUNNING,
]  # fmt: skip

r"""Fact C.1: the gradient through Batch Normalization."""

from theory import batchnorm
from theory.arithmetic import inner
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict, gradient_in_y
from theory.santurkar2018.texts import final, supplement


def sides(network: Network, at: Letters) -> Sides:
    """The printed formula, term by term; f is the loss, A the batch, B and C what follows."""
    m, g, yhat = at.m, at.g, at.yhat
    printed = m * g - inner(at.one, g) * at.one - yhat * inner(g, yhat)
    return Sides(gradient_in_y(network), at.gamma / (m * at.sigma) * printed)


def shipped(network: Network, at: Letters) -> Sides:
    """The formula that this library ships, eps included."""
    return Sides(
        gradient_in_y(network),
        batchnorm.gradient(network.y, at.g, at.gamma, network.eps),
    )


PRINTED = Claim(
    id="S-fact-C1",
    row="S-fact-C1",
    locations=(
        final(378, "App. C.1, Fact C.1", r"-{B}^{(b)}\sum_{k=1}^{m}"),
        supplement(129, "App. C.1, Fact C.1", r"- B^{(b)} \sum_{k=1}^{m}"),
    ),
    statement=r"\frac{\partial f}{\partial A^{(b)}} = \frac{\gamma}{m\sigma}\Big("
    r"m\frac{\partial f}{\partial C^{(b)}} - \sum_k \frac{\partial f}{\partial C^{(k)}}"
    r" - B^{(b)}\sum_k \frac{\partial f}{\partial C^{(k)}} B^{(k)}\Big)",
    sides=sides,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one batch and loss whose gradient differs from the formula in one entry",
)

CLAIMS = [
    PRINTED,
    PRINTED.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    PRINTED.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by="S-fact-C1/eps"),
    PRINTED.under(Reading.SHARED_EPSILON, Verdict.PROVED).sharpened("shipped", sides=shipped),
]

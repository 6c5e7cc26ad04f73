"""Right statements of Fact C.1, eq. (41) and Theorem 4.1, the slips one makes, and empty ones."""

from dataclasses import replace

from by_functions import worth

from theory import batchnorm, unit
from theory.arithmetic import inner, norm_squared, sqrt
from theory.claim import Verdict
from theory.language.expression import Sort, equal
from theory.language.operations import norm2
from theory.santurkar2018 import CLAIMS, facts, theorem_4_1
from theory.statement import assume
from verify.witnesses import abstract, polynomial

BY_ID = {claim.id: claim for claim in CLAIMS}
GRADIENT, HESSIAN = BY_ID["S-fact-C1/eps/shipped"], BY_ID["S-eq-41-42/eps/shipped"]
DEVIATION, NORMALIZED = BY_ID["S-eq-30/eps"], BY_ID["S-fact-C2-eq-1"]
BOUND, SHARED_BOUND = theorem_4_1.PRINTED, theorem_4_1.SHARED
RIGHT = {
    claim.id: claim
    for claim in (facts.GRADIENT, GRADIENT, HESSIAN, DEVIATION, NORMALIZED, BOUND, SHARED_BOUND)
}


def claiming(claim, formula):
    """The same equation with another formula, a function of the letters, on the right."""
    return replace(claim, says=equal(claim.says.actual, worth(formula, Sort.VECTOR)))


def gradient(formula):
    """The gradient with another formula, times gamma/sigma."""
    return claiming(GRADIENT, lambda at: at.gamma / at.sigma * formula(at))


def hessian(change):
    """The Hessian plus a multiple of the part through the layer's curvature."""

    def changed(at):
        right = batchnorm.hvp(at.y, at.g, at.H, at.direction, at.gamma, at.eps)
        bent = batchnorm.curvature(at.y, at.g, at.direction, at.gamma, at.eps)
        return right + change(at) * bent

    return claiming(HESSIAN, changed)


def without_outer_jacobian(at):
    """The part through the loss with its left factor forgotten."""
    y, u, eps = at.y, at.direction, at.eps
    through_loss = at.H(batchnorm.jvp(y, u, at.gamma, eps))
    return through_loss - batchnorm.curvature(y, at.g, u, at.gamma, eps)


def bound(formula):
    """Theorem 4.1 with another formula: a function of the letters for the whole bound."""
    claimed = worth(lambda at: at.gamma**2 / at.sigma**2 * formula(at))
    return replace(BOUND, says=BOUND.says.actual <= claimed)


def mean(at):
    return inner(at.one, at.g) / at.m * at.one


def along(at):
    return inner(at.yhat, at.g) / at.m * at.yhat


def off_ones(at):
    """The squared norm of the centred gradient."""
    return norm_squared(at.g) - inner(at.one, at.g) ** 2 / at.m


EQUATIONS = {
    "gradient, missing centring": gradient(lambda at: at.g - along(at)),
    "gradient, dropped part along yhat": gradient(lambda at: at.g - mean(at)),
    "gradient, m - 1": gradient(lambda at: at.g - mean(at) - at.m / (at.m - 1) * along(at)),
    "gradient, 1/sqrt(m)": gradient(lambda at: at.g - mean(at) - sqrt(at.m) * along(at)),
    "gradient, a factor 2": gradient(lambda at: 2 * (at.g - mean(at) - along(at))),
    "gradient, no sigma": gradient(lambda at: at.sigma * (at.g - mean(at) - along(at))),
    "Hessian, dropped term": hessian(lambda at: 1),
    "Hessian, m - 1": hessian(lambda at: 1 - at.m / (at.m - 1)),
    "Hessian, dropped factor": claiming(HESSIAN, without_outer_jacobian),
}
BOUNDS = {
    "bound, missing centring": bound(lambda at: off_ones(at) - norm_squared(at.g - mean(at))),
    "bound, 1/sqrt(m)": bound(lambda at: off_ones(at) - inner(at.g, at.yhat) ** 2 / sqrt(at.m)),
    "bound, a factor 1/2": bound(lambda at: (off_ones(at) - norm_squared(along(at))) / 2),
    "bound, relation turned": replace(
        BOUND, says=BOUND.says.actual >= bound(off_ones).says.claimed, because=None
    ),
}
SLIPS = EQUATIONS | BOUNDS
FOR_EVERY_M = {
    "abstract": lambda claim: abstract.prove(claim) is not None,
    "polynomial": lambda claim: not polynomial.shortcoming(claim),
}
"""The witnesses that prove a statement for every batch size."""

IMPOSSIBLE = assume(-1 - norm2(unit.g) >= 0, words="-1 - |g|^2 >= 0")
VACUOUS = replace(
    BOUND,
    id="S-vacuous",
    says=1 + norm2(unit.g) <= 0,
    hypotheses=(IMPOSSIBLE,),
    because=None,
    expected=Verdict.UNDECIDED,
)
"""Zero is at least one plus a square, where minus that is not negative."""
VACUOUSLY_PROVED = replace(VACUOUS, because=IMPOSSIBLE.slack)
"""With the hypothesis that no instance satisfies as a proof of one less than nothing."""


def unbiased(y, m, eps, sqrt):
    """The deviation over m - 1."""
    deviation = y - y.sum() / m
    return sqrt((deviation @ deviation) / (m - 1) + eps)


def eps_outside(y, m, eps, sqrt):
    """The deviation with eps outside of its root."""
    deviation = y - y.sum() / m
    return sqrt((deviation @ deviation) / m) + eps

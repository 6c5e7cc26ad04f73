"""Right statements of Fact C.1 and Theorem 4.1, the slips one makes in them, and an empty one."""

from dataclasses import replace

from theory.arithmetic import inner, norm_squared, sqrt
from theory.claim import Hypothesis, Relation, Sides, Term, Verdict, gradient_in_y
from theory.santurkar2018 import facts, theorem_4_1

GRADIENT = replace(facts.GRADIENT_SHARED, says=None)
BOUND = replace(theorem_4_1.PRINTED, says=None, because=None)
SHARED_BOUND = replace(theorem_4_1.SHARED, says=None, because=None)
RIGHT = {claim.id: claim for claim in (*facts.CLAIMS[:2], BOUND, SHARED_BOUND)}


def gradient(formula):
    """Fact C.1 with another formula: a function of the letters for what gamma/sigma multiplies."""

    def sides(network, at):
        return Sides(gradient_in_y(network), at.gamma / at.sigma * formula(at))

    return replace(GRADIENT, sides=sides)


def bound(formula):
    """Theorem 4.1 with another formula: a function of the letters for the whole bound."""

    def sides(network, at):
        return Sides(norm_squared(gradient_in_y(network)), formula(at))

    return replace(BOUND, sides=sides)


def mean(at):
    return inner(at.one, at.g) / at.m


def along(at):
    return inner(at.yhat, at.g) / at.m


def scale(at):
    return at.gamma**2 / at.sigma**2


def off_ones(at):
    """The squared norm of the centred gradient."""
    return norm_squared(at.g) - inner(at.one, at.g) ** 2 / at.m


GRADIENT_SLIPS = {
    "sign of the mean": gradient(lambda at: at.g + mean(at) * at.one - along(at) * at.yhat),
    "sign of the part along yhat": gradient(
        lambda at: at.g - mean(at) * at.one + along(at) * at.yhat
    ),
    "missing centring": gradient(lambda at: at.g - along(at) * at.yhat),
    "dropped part along yhat": gradient(lambda at: at.g - mean(at) * at.one),
    "1/sqrt(m) for 1/m": gradient(
        lambda at: at.g - mean(at) * at.one - sqrt(at.m) * along(at) * at.yhat
    ),
    "a factor 2": gradient(lambda at: 2 * (at.g - mean(at) * at.one - along(at) * at.yhat)),
    "sigma left out": gradient(
        lambda at: at.sigma * (at.g - mean(at) * at.one - along(at) * at.yhat)
    ),
}
BOUND_SLIPS = {
    "missing centring": bound(
        lambda at: scale(at) * (off_ones(at) - norm_squared(at.g - mean(at) * at.one))
    ),
    "1/sqrt(m) for 1/m": bound(
        lambda at: scale(at) * (off_ones(at) - inner(at.g, at.yhat) ** 2 / sqrt(at.m))
    ),
    "a factor 1/2": bound(
        lambda at: scale(at) * (off_ones(at) - inner(at.g, at.yhat) ** 2 / at.m) / 2
    ),
    "relation turned": replace(
        bound(lambda at: scale(at) * off_ones(at)), relation=Relation.AT_LEAST, certificate=None
    ),
}
SLIPS = {
    **{f"gradient, {name}": claim for name, claim in GRADIENT_SLIPS.items()},
    **{f"bound, {name}": claim for name, claim in BOUND_SLIPS.items()},
}

IMPOSSIBLE = Hypothesis("-1 - |g|^2 >= 0", lambda network, at: -1 - norm_squared(at.g))


def never(network, at):
    """The hypothesis that no instance satisfies, as a proof of one less than nothing."""
    return [Term(1, (IMPOSSIBLE,))]


VACUOUS = replace(
    BOUND,
    id="S-vacuous",
    sides=lambda network, at: Sides(1 + norm_squared(at.g), 0 * norm_squared(at.g)),
    hypotheses=(IMPOSSIBLE,),
    certificate=None,
    expected=Verdict.UNDECIDED,
)
"""Zero is at least one plus a square, where minus that is not negative."""
VACUOUSLY_PROVED = replace(VACUOUS, certificate=never)

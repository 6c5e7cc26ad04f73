"""Wrong formulas for the gradient and the Hessian, which a witness should see."""

from dataclasses import replace

from slips import SHARED_BOUND

from theory.batchnorm import centre, curvature, gradient, hvp, jvp, normalize
from theory.claim import Relation, Sides, gradient_in_y, hessian_in_y
from theory.santurkar2018 import CLAIMS

(GRADIENT,) = (claim for claim in CLAIMS if claim.id == "S-fact-C1/eps/shipped")
(HESSIAN,) = (claim for claim in CLAIMS if claim.id == "S-eq-41-42/eps/shipped")


def part_along_yhat(network, at):
    """What centring alone leaves out of the gradient."""
    y, g, eps = network.y, at.g, network.eps
    yhat = normalize(y, eps)
    return at.gamma / at.sigma * yhat * (yhat @ centre(g)) / at.m


def wrong_gradient(change):
    """The gradient plus a multiple of one of its terms."""

    def sides(network, at):
        right = gradient(network.y, at.g, at.gamma, network.eps)
        return Sides(gradient_in_y(network), right + change(at) * part_along_yhat(network, at))

    return replace(GRADIENT, says=None, sides=sides)


def wrong_hessian(change):
    """The Hessian plus a multiple of one of its terms."""

    def sides(network, at):
        u = network.direction
        right = hvp(network.y, at.g, at.H, u, at.gamma, network.eps)
        bent = curvature(network.y, at.g, u, at.gamma, network.eps)
        return Sides(hessian_in_y(network, u), right + change(at) * bent)

    return replace(HESSIAN, says=None, sides=sides)


def without_outer_jacobian(network, at):
    """The part through the loss with its left factor forgotten."""
    y, u, eps = network.y, network.direction, network.eps
    through_loss = at.H(jvp(y, u, at.gamma, eps))
    return Sides(hessian_in_y(network, u), through_loss - curvature(y, at.g, u, at.gamma, eps))


WRONG = {
    "gradient, sign": wrong_gradient(lambda at: 2),
    "gradient, dropped term": wrong_gradient(lambda at: 1),
    "gradient, m - 1": wrong_gradient(lambda at: 1 - at.m / (at.m - 1)),
    "Hessian, sign": wrong_hessian(lambda at: 2),
    "Hessian, dropped term": wrong_hessian(lambda at: 1),
    "Hessian, m - 1": wrong_hessian(lambda at: 1 - at.m / (at.m - 1)),
    "Hessian, dropped factor": replace(HESSIAN, says=None, sides=without_outer_jacobian),
}


def at_least_zero(quantity, terms, hypotheses=(), relation=Relation.AT_LEAST):
    """The claim that a quantity of the letters is not negative, with a certificate."""
    return replace(
        SHARED_BOUND,
        sides=lambda network, at: Sides(quantity(at), 0 * quantity(at)),
        relation=relation,
        hypotheses=hypotheses,
        certificate=lambda network, at: terms(at),
    )

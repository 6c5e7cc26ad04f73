r"""Theorem C.1, what is right: betahat at each X, and a bound of its last term.

For every X, with v = XX'h and PX the inputs without their parts along 1 and yhat,

    betahat(X) = (gamma/sigma)^4 beta(PX) - (gamma/(m sigma^2)) <g, yhat> |Pv|^2
                 - 2/(m sigma) <h, v> <yhat, v>,

and the last term is at most (3 sqrt(3)/8) lambda^4 |h|^3/(sigma sqrt(m)) in size, a bound that
a linear loss with <g, yhat> = 0 attains.  So max betahat is at most (gamma/sigma)^4 max beta, plus
that, plus the middle term where gamma <g, yhat> < 0: nothing is subtracted for free.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.claim import Letters, Network, Relation, Sides, Term, gradient_in_y
from theory.santurkar2018.hessian import project
from theory.santurkar2018.theorem_c1 import STRICT, beta_hat


def exact_form(network: Network, at: Letters) -> Sides:
    """Every X of rank one: the form above, beta(PX) included."""
    u, h, bound = network.direction, gradient_in_y(network), network.bound
    v = bound**2 * inner(u, h) / norm_squared(u) * u
    pu, pv = project(at, u), project(at, v)
    normal = bound**4 * inner(pu, at.g) ** 2 * inner(pu, at.H(pu)) / norm_squared(u) ** 2
    bent = at.gamma / (at.m * at.sigma**2) * inner(at.g, at.yhat) * norm_squared(pv)
    cross = 2 / (at.m * at.sigma) * inner(h, v) * inner(at.yhat, v)
    return Sides(beta_hat(network), (at.gamma / at.sigma) ** 4 * normal - bent - cross)


def cross_factor(network: Network, at: Letters) -> Sides:
    """The square of the last term's factor, to what <h, v> leaves for it."""
    h, v = gradient_in_y(network), on_boundary(network)
    along = inner(h, v)
    return Sides(inner(at.yhat, v) ** 2, at.m * (along - along**2 / norm_squared(h)))


def on_boundary(network: Network) -> Any:
    r"""Return v = XX'h/lambda^2 for X = lambda u e1'/|u|."""
    u = network.direction
    return u * (inner(u, gradient_in_y(network)) / norm_squared(u))


def cross_slack(network: Network, at: Letters) -> list[Term]:
    """What of Pv is not along h, and the mean of v."""
    h, v = gradient_in_y(network), on_boundary(network)
    aside = project(at, v) - h * (inner(h, v) / norm_squared(h))
    return [Term(at.m, (aside,)), Term(1, (inner(at.one, v),))]


CORRECTED = STRICT[0].corrected(
    sides=exact_form,
    relation=Relation.EQUAL,
    hypotheses=(),
    statement=r"\hat\beta(X) = \frac{\gamma^4}{\sigma^4}\beta(PX) - \frac{\gamma}{m\sigma^2}"
    r"\langle g, \hat y\rangle\|Pv\|^2"
    r" - \frac{2}{m\sigma}\langle h, v\rangle\langle\hat y, v\rangle,"
    r"\quad v = XX^\top h,\ X = \lambda u e_1^\top/\|u\|",
    corrected_by=None,
)

CROSS = STRICT[0].sharpened(
    sides=cross_factor,
    relation=Relation.AT_MOST,
    hypotheses=(),
    certificate=cross_slack,
    statement=r"\langle\hat y, v\rangle^2 \le m\Big(\langle h, v\rangle"
    r" - \frac{\langle h, v\rangle^2}{\|h\|^2}\Big),\quad v = u\langle u, h\rangle/\|u\|^2",
    corrected_by=None,
    remark="With <h, v> = t|h|^2 and t^3(1 - t) <= 27/256 the last term's square is at most"
    " (27/64)|h|^6/(m sigma^2) times lambda^8, attained at t = 3/4 where <g, 1> = 0.",
)

CLAIMS = [CORRECTED, CROSS]

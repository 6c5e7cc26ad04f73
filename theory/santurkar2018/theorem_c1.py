r"""Theorem C.1: the minimax bound on smoothness in the weights.

As in Theorem 4.4, g, H, sigma and yhat are fixed while X varies.  Let h and Hh be the gradient and
Hessian of Lhat in y.  A maximum over X is one over X = lambda u e1'/|u|, u any vector
(:mod:`theory.maxima`), so "max betahat < R" says betahat < R for every u.  On the right the loss
is chosen so that its maximum is known: H = I, where it is lambda^4 |g|^2 (at X = lambda g e1'/|g|),
or linear, where it is zero; both preserve relative norms, as "the same conditions" ask.

kappa, "the separation given in the previous theorem", can be what the brackets of Theorem 4.2
subtract (``kappa``, second display: <g, yhat>|h|^2/(m gamma); ``first-display``: gamma^2/sigma^2
times that), what Theorem 4.4 subtracts (``weights``), or the difference g'Hg - (sigma^2/gamma^2)
h'Hh h itself (``difference``).  None makes the theorem true, nor "<=" for "<".

The proof breaks at (58): X = lambda I does not maximise betahat.  Since <yhat, Hh h> =
-|h|^2/sigma while <yhat, h> = 0, h is no eigenvector of Hh unless it is zero.  Nor does anything
there give "<": with gamma = 0 both sides are zero.

What is right, for every X: with v = XX'h and PX the inputs without their parts along 1 and yhat,

    betahat(X) = (gamma/sigma)^4 beta(PX) - (gamma/(m sigma^2)) <g, yhat> |Pv|^2
                 - 2/(m sigma) <h, v> <yhat, v>,

and the last term is at most (3 sqrt(3)/8) lambda^4 |h|^3/(sigma sqrt(m)) in size, a bound that
a linear loss with <g, yhat> = 0 attains.  So max betahat is at most (gamma/sigma)^4 max beta, plus
that, plus the middle term where gamma <g, yhat> < 0: nothing is subtracted for free.
"""

from collections.abc import Callable
from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.claim import (
    Claim,
    Hypothesis,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Term,
    Verdict,
    gradient_in_y,
)
from theory.maxima import quadratic_along
from theory.santurkar2018.hessian import project
from theory.santurkar2018.texts import final, supplement

Kappa = Callable[[Network, Letters], Any]


def beta_hat(network: Network) -> Any:
    """The left side at X = lambda u e1'/|u|."""
    h = gradient_in_y(network)
    return quadratic_along(h, lambda u: bending(network, u), network.direction, network.bound)


def bending(network: Network, u: Any) -> Any:
    r""":math:`u^\top\hat H u`, the second derivative along u."""

    def slope(y: Any) -> Any:
        return network.derivative(network.normalized_loss, y, u)

    return network.derivative(slope, network.y, u)


def second_display(network: Network, at: Letters) -> Any:
    r""":math:`\frac{1}{m\gamma}\langle g, \hat y\rangle\|h\|^2`, times gamma^2 over gamma^2."""
    h = gradient_in_y(network)
    return inner(at.g, at.yhat) * norm_squared(h) / (at.m * at.gamma)


def first_display(network: Network, at: Letters) -> Any:
    r""":math:`\frac{\gamma}{m\sigma^2}\langle g, \hat y\rangle\|h\|^2`."""
    h = gradient_in_y(network)
    return at.gamma / (at.m * at.sigma**2) * inner(at.g, at.yhat) * norm_squared(h)


def weights(network: Network, at: Letters) -> Any:
    r""":math:`m\mu_g^2 + \lambda^2\langle g, \hat y\rangle^2`, what Theorem 4.4 subtracts."""
    mean_part = inner(at.one, at.g) ** 2 / at.m
    return mean_part + network.bound**2 * inner(at.g, at.yhat) ** 2


def difference(network: Network, at: Letters) -> Any:
    r""":math:`g^\top Hg - \frac{\sigma^2}{\gamma^2}h^\top\hat H h`."""
    h = gradient_in_y(network)
    scale = at.sigma**2 / at.gamma**2
    return inner(at.g, at.H(at.g)) - scale * bending(network, h)


def printed(kappa: Kappa) -> Callable[[Network, Letters], Sides]:
    """The printed inequality for one u, where the maximum on the right is lambda^4 g'Hg."""

    def sides(network: Network, at: Letters) -> Sides:
        separation = inner(at.g, at.H(at.g)) - kappa(network, at)
        right = at.gamma**2 / at.sigma**2 * network.bound**4 * separation
        return Sides(beta_hat(network), right)

    return sides


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


LINEAR = Hypothesis(
    r"L \text{ is linear, so that } \max_X\beta = 0",
    lambda network, at: norm_squared(at.H(at.g)),
    Relation.EQUAL,
    impose=lambda case: case.with_isotropic_loss(case.other_direction, 0),
    printed=False,
)
CONVEX = Hypothesis(
    r"H = I, \text{ so that } \max_X\beta = \lambda^4\|g\|^2",
    lambda network, at: norm_squared(at.H(at.g) - at.g),
    Relation.EQUAL,
    impose=lambda case: case.with_isotropic_loss(case.other_direction, 1),
    printed=False,
)
_MAX = r"\max_{\|X\| \le \lambda}"
_STATEMENT = (
    _MAX + r"\hat\beta(X) {} \frac{\gamma^2}{\sigma^2}\Big[" + _MAX + r"\beta(X) - \lambda^4\kappa"
    r"\Big],\quad \beta = (\nabla_W L)^\top\frac{\partial^2 L}{\partial W\partial W}(\nabla_W L),"
    r"\ \kappa = "
)
KAPPAS: dict[str, tuple[Kappa, str]] = {
    "kappa": (second_display, r"\frac{1}{m\gamma}\langle g, \hat y\rangle\|\nabla_y\hat L\|^2"),
    "first-display": (
        first_display, r"\frac{\gamma}{m\sigma^2}\langle g, \hat y\rangle\|\nabla_y\hat L\|^2"
    ),
    "weights": (weights, r"m\mu_g^2 + \lambda^2\langle g, \hat y\rangle^2"),
    "difference": (
        difference,
        r"g^\top Hg - \frac{\sigma^2}{\gamma^2}\nabla_y\hat L^\top\hat H\nabla_y\hat L",
    ),
}  # fmt: skip
PLACES = (
    final(539, "App. C.2, Theorem C.1", r"-\lambda^{4}\kappa\right],"),
    final(541, "App. C.2, Theorem C.1", "is the separation given in the previous theorem"),
    supplement(351, "App. C.2, Theorem C.1", r"- \lambda^4 \kappa \right],"),
    supplement(353, "App. C.2, Theorem C.1", "is the separation given in the previous theorem"),
)


def _claim(name: str, relation: Relation, loss: Hypothesis, sign: str) -> Claim:
    kappa, meaning = KAPPAS[name]
    linear = "/linear" if loss is LINEAR else ""
    strict = "" if relation is Relation.LESS_THAN else "/at-most"
    return Claim(
        id=f"S-thm-C1/{name}{linear}{strict}",
        row="S-thm-C1",
        locations=PLACES,
        statement=_STATEMENT.replace("{}", sign, 1) + meaning,
        sides=printed(kappa),
        relation=relation,
        hypotheses=(loss,),
        expected=Verdict.REFUTED,
        order=2,
        corrected_by="S-thm-C1/kappa/corrected",
        falsified_by="one batch, loss and X = lambda u e1'/|u| whose betahat is not below the right"
        " side; g, H, sigma and yhat fixed while X varies",
    )


STRICT = [_claim(name, Relation.LESS_THAN, CONVEX, "<") for name in KAPPAS]
AT_MOST = [_claim(name, Relation.AT_MOST, CONVEX, r"\le") for name in KAPPAS]
ON_LINEAR = [_claim(name, Relation.AT_MOST, LINEAR, r"\le") for name in ("kappa", "weights")]
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
_SHARED = [
    c.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by="S-eq-58/eps/corrected")
    for c in (STRICT[0], AT_MOST[0], ON_LINEAR[0])
]

CLAIMS = [*STRICT, *AT_MOST, *ON_LINEAR, *_SHARED, CORRECTED, CROSS]

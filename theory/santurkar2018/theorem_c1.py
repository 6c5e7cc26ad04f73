r"""Theorem C.1: the minimax bound on smoothness in the weights.

As in Theorem 4.4, g, H, sigma and yhat are fixed while X varies.  Let h and Hh be the gradient and
Hessian of Lhat in y.  A maximum over X is one over X = lambda u e1'/|u|, u any vector
(:mod:`theory.maxima`), so "max betahat < R" says betahat < R for every u.  On the right the loss
is chosen so that its maximum is known: H = I, where it is lambda^4 |g|^2 (at X = lambda g e1'/|g|),
or linear, where it is zero; both preserve relative norms, as "the same conditions" ask.

kappa, "the separation given in the previous theorem", can be what the brackets of Theorem 4.2
subtract (``kappa``, second display: <g, yhat>|h|^2/(m gamma); ``first-display``: gamma^2/sigma^2
times that), what Theorem 4.4 subtracts (``weights``), or the difference g'Hg - (sigma^2/gamma^2)
h'Hh h itself (``difference``).  None makes the theorem true, nor "<=" for "<"; what is right is in
:mod:`theory.santurkar2018.theorem_c1_corrected`.

The proof breaks at (58): X = lambda I does not maximise betahat.  Since <yhat, Hh h> =
-|h|^2/sigma while <yhat, h> = 0, h is no eigenvector of Hh unless it is zero.  Nor does anything
there give "<": with gamma = 0 both sides are zero.
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
    Verdict,
    gradient_in_y,
)
from theory.maxima import quadratic_along
from theory.santurkar2018.second_derivative import bending
from theory.santurkar2018.texts import final, supplement

Kappa = Callable[[Network, Letters], Any]


def beta_hat(network: Network) -> Any:
    """The left side at X = lambda u e1'/|u|."""
    h = gradient_in_y(network)
    return quadratic_along(h, lambda u: bending(network, u), network.direction, network.bound)


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

_SHARED = [
    c.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by="S-eq-58/eps/corrected")
    for c in (STRICT[0], AT_MOST[0], ON_LINEAR[0])
]

CLAIMS = [*STRICT, *AT_MOST, *ON_LINEAR, *_SHARED]

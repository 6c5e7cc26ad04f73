r"""Theorem 3.2: Batch Normalization and the gradient in one weight.

.. math:: \Big|\frac{\partial\hat L}{\partial W_{ij}}\Big|^2 \le
          \frac{(|c|^{-1/2} + 1)^2}{\sigma^2}\Big|\frac{\partial L}{\partial W_{ij}}\Big|^2

With p the inner product of x and g, and n the product of their norms, c is read as
:math:`p^2/n^2`, as in lines (9) and (14) of the proof; the other readings are in
:mod:`~theory.santurkar2018.version_1.theorem_3_2_readings`.  The theorem holds, for every eps and
every mean of x, and a factor 4 can be saved: the Jacobian is P/s, and 2P - I has norm at most one
(a reflection at eps = 0), so that
:math:`s|\partial\hat L| = |\langle x, Pg\rangle| \le (|p| + n)/2`, an equality where y lies along
:math:`x/|x| - \operatorname{sign}(p) g/|g|`.  Products with the root of c are multiplied out:
(n/|p|)|p|^2 is n|p|.

The gradient g is the loss's at the layer's output, as in the proof.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared, sqrt
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Term,
    Verdict,
)
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1.weights import (
    MEAN_ZERO,
    absolute,
    length,
    loss_gradient,
    tilde,
    weight_gradient,
)


def against(network: Network, at: Letters, x: Any, p: Any, n: Any) -> Sides:
    """Return the theorem for c = (p/n)^2, multiplied out."""
    left = weight_gradient(network, x) ** 2
    return Sides(left, (n + absolute(p)) ** 2 / at.sigma**2)


def square(network: Network, at: Letters) -> Sides:
    """With c the square of the cosine of x and g."""
    x, g = network.direction, loss_gradient(at)
    return against(network, at, x, inner(x, g), length(x) * length(g))


def square_sharpened(network: Network, at: Letters) -> Sides:
    """With a quarter of the bound."""
    actual, claimed = square(network, at)
    return Sides(actual, claimed / 4)


def slack(network: Network, at: Letters, x: Any, g: Any, share: Any = 1) -> list[Term]:
    r"""Return terms for the bound (n + |p|)^2/4, or for a larger share of it.

    r is :math:`\langle x, Rg\rangle` with R = 2P - I, and :math:`|r| \le n` by Lagrange's
    identity and :math:`|Rg|^2 = |g|^2 - 4(1 - \theta)\langle g, \hat y\rangle^2/m`.
    """
    p, n, scale = inner(x, g), length(x) * length(g), 4 * at.sigma**2
    reflected = 2 * tilde(at, centre(g)) - g
    r = inner(x, reflected)
    across = reflected - x * (r / norm_squared(x))
    epsilon = 4 * network.eps / at.sigma**2 / at.m
    return [
        Term(1 / scale, (x, across)),
        Term(absolute(p) / scale, (sqrt(1 / n), x, across)),
        Term(epsilon / scale, (x, inner(g, at.yhat))),
        Term(absolute(p) * epsilon / scale, (sqrt(1 / n), x, inner(g, at.yhat))),
        Term(1 / (scale * absolute(p)), (sqrt(1 / n), absolute(p) * n - p * r)),
        Term((share - 1) / scale, (n + absolute(p),)),
    ]


def square_slack(network: Network, at: Letters) -> list[Term]:
    """Return terms for a quarter of the bound."""
    return slack(network, at, network.direction, loss_gradient(at))


def four_fold_slack(network: Network, at: Letters) -> list[Term]:
    """Return terms for the bound as printed."""
    return slack(network, at, network.direction, loss_gradient(at), 4)


def pearson_square(network: Network, at: Letters) -> Sides:
    """With c the square of the correlation coefficient; x has mean zero."""
    x, g = centre(network.direction), centre(loss_gradient(at))
    return against(network, at, x, inner(x, g), length(x) * length(g))


def pearson_slack(network: Network, at: Letters) -> list[Term]:
    """Return terms for the same with x and g centred."""
    return slack(network, at, centre(network.direction), centre(loss_gradient(at)), 4)


SQUARE = Claim(
    id="S-v1-thm-3.2/square",
    row="S-v1-thm-3.2",
    locations=(
        version_1(167, "Sect. 3.3, Theorem 3.2", r"|c_{ij}\right|^{-1/2}+1\right)^2"),
        version_1(163, "Sect. 3.3, definition of c", "to be the correlation (over the mini-batch)"),
    ),
    statement=r"\Big|\frac{\partial\hat L}{\partial W_{ij}}\Big|^2 \le"
    r" \frac{(|c_{ij}|^{-1/2} + 1)^2}{\sigma(y_j)^2}"
    r"\Big|\frac{\partial L}{\partial W_{ij}}\Big|^2,\quad"
    r" c_{ij} = \frac{\langle x_i, g\rangle^2}{\|x_i\|^2\|g\|^2}",
    sides=square,
    relation=Relation.AT_MOST,
    certificate=four_fold_slack,
    expected=Verdict.PROVED,
    falsified_by="one batch, input and loss; c the squared cosine of x and the gradient at yhat",
    remark="Slack: at least three quarters of the bound; the rest is the angle of x to the"
    " reflected gradient, and eps.",
)
SHARPENED = SQUARE.sharpened(
    sides=square_sharpened,
    certificate=square_slack,
    statement=SQUARE.statement.replace(r"{\sigma(y_j)^2}", r"{4\sigma(y_j)^2}"),
    remark="Attained: m = 3, x = (1,-1,0), g = (3,5,-8), y = (5,-1,-4).",
)
PEARSON = Claim(
    id="S-v1-thm-3.2/square-pearson",
    row="S-v1-thm-3.2",
    locations=SQUARE.locations,
    statement=SQUARE.statement.split(r",\quad")[0]
    + r",\quad c_{ij} = \operatorname{corr}(x_i, g)^2",
    sides=pearson_square,
    relation=Relation.AT_MOST,
    hypotheses=(MEAN_ZERO,),
    certificate=pearson_slack,
    expected=Verdict.PROVED,
    falsified_by="one batch, input of mean zero and loss",
    remark="Slack: as with the cosine, of which this c is no smaller a square.",
)

CLAIMS = [
    SQUARE,
    SQUARE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    SHARPENED,
    SHARPENED.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    PEARSON,
    PEARSON.under(Reading.SHARED_EPSILON, Verdict.PROVED),
]

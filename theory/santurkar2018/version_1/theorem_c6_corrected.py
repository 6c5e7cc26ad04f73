r"""What holds in place of Theorems C.6 and 3.4: an entry of the Hessian is bounded.

With :math:`\Lambda \ge \|H\|`, :math:`f = \frac{2}{\sqrt{3m}}\|g\|/\Lambda` and
:math:`c_H = |\langle x_i, Hx_k\rangle|/(\Lambda\|x_i\|\|x_k\|)`: if :math:`\sigma^2 \ge
(1 + f)/(c_H - \varepsilon)` then :math:`|\partial^2\hat L| \le (1 - \varepsilon/c_H)|\partial^2
L|`.  The largest epsilon makes that :math:`\sigma^2|\partial^2\hat L| \le \frac{1 + f}{c_H}
|\partial^2 L|`, and its right side is :math:`(\Lambda + \frac{2}{\sqrt{3m}}\|g\|)\|x_i\|\|x_k\|`.

The statement is given without the absolute value on the left: the loss -L has the negative of
every entry.  Its two halves are the sharpened (61) and (64).
"""

from typing import Any

from theory.arithmetic import inner, sqrt
from theory.batchnorm import centre
from theory.claim import (
    Hypothesis,
    Letters,
    Network,
    Reading,
    Sides,
    Term,
    Verdict,
)
from theory.santurkar2018.version_1 import theorem_c6
from theory.santurkar2018.version_1.equation_58 import bent
from theory.santurkar2018.version_1.proof_c6_bounds import SHARP
from theory.santurkar2018.version_1.weights import length, loss_gradient, weight_hessian


def lengths(network: Network) -> Any:
    """Return the product of the lengths of both inputs."""
    return length(centre(network.direction)) * length(centre(network.other_direction))


def reach(at: Letters) -> Any:
    r"""Return :math:`\frac{2}{\sqrt{3m}}\|g\|`."""
    return sqrt(4 / (3 * at.m)) * length(loss_gradient(at))


def sides(network: Network, at: Letters) -> Sides:
    """The entry times the square of sigma, and its bound."""
    x, x_k = network.direction, network.other_direction
    left = at.sigma**2 * weight_hessian(network, x, x_k)
    return Sides(left, (network.bound + reach(at)) * lengths(network))


def bent_margin(network: Network, at: Letters) -> Any:
    """Return what equation (61), sharpened, says of the rest of the entry."""
    x, x_k = centre(network.direction), centre(network.other_direction)
    return reach(at) * lengths(network) - inner(x, bent(at, x_k))


LEMMA = Hypothesis(
    r"\sigma^2\partial^2\hat L - X \le \tfrac{2}{\sqrt{3m}}\|g\|\|x_i\|\|x_k\| \text{, by"
    r" S-v1-eq-61/sharpened}",
    bent_margin,
    printed=False,
)


def slack(network: Network, at: Letters) -> list[Term]:
    """The two halves."""
    return [Term(1, (SHARP,)), Term(1, (LEMMA,))]


CORRECTED = theorem_c6.SAME_UNIT.corrected(
    sides=sides,
    hypotheses=(SHARP, LEMMA),
    corrected_by=None,
    certificate=slack,
    id="S-v1-thm-C6/corrected",
    statement=r"\sigma^2\frac{\partial^2\hat L}{\partial W_{ij}\partial W_{kj}} \le"
    r" \Big(\Lambda + \frac{2}{\sqrt{3m}}\|g\|\Big)\|x_i\|\|x_k\|,\quad \Lambda \ge \|H\|",
    falsified_by="one batch, two inputs and a loss",
    remark="Slack: the norm of H against X, and that of equation (61).",
)

CLAIMS = [CORRECTED, CORRECTED.under(Reading.SHARED_EPSILON, Verdict.PROVED)]

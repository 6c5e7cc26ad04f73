r"""A bound :math:`\Lambda` on the loss's Hessian H, and what it says of X (line 584).

The case's bound stands for any :math:`\Lambda \ge \|H\|`, the Frobenius norm among them.  With it,
and line 673 summed over q, :math:`\sqrt{d_{ij}} = \|Hx_i\|/(\Lambda\|x_i\|)`.
"""

from typing import Any

from theory.arithmetic import inner, norm_squared, sqrt
from theory.claim import Hypothesis, Network, Term
from theory.santurkar2018.version_1.weights import length


def bounded_at(w: Any, image: Any) -> Hypothesis:
    r"""Return :math:`\|Hw\|^2 \le \Lambda^2\|w\|^2` for functions that return w and Hw."""
    return Hypothesis(
        r"\Lambda \ge \|H\|",
        lambda network, at: (
            network.bound**2 * norm_squared(w(network, at)) - norm_squared(image(network, at))
        ),
    )


def sharp_terms(network: Network, bounded: Hypothesis, first: Any, second: Any) -> list[Term]:
    r"""Return terms for :math:`\langle\tilde x, H\tilde x_k\rangle^2 \le \Lambda^2|x|^2|x_k|^2`.

    ``first`` is x's tilde, its alpha, and a factor w, :math:`|x|^2 - |\tilde x|^2 = w\alpha^2`;
    ``second`` is x_k, H of its tilde, its alpha and factor.
    """
    tilde, alpha, factor = first
    x_k, image, alpha_k, factor_k = second
    across = image - tilde * (inner(tilde, image) / norm_squared(tilde))
    return [
        Term(1, (tilde, across)),
        Term(1, (tilde, bounded)),
        Term(network.bound**2 * factor_k, (alpha_k, tilde)),
        Term(network.bound**2 * factor, (alpha, x_k)),
    ]


def with_constants(network: Network, x: Any, x_k: Any, Hx: Any, Hx_k: Any) -> Any:
    r"""Return :math:`\Lambda\|x\|\|x_k\|(1 + \sqrt{d_{ij}})(1 + \sqrt{d_{kl}})`."""
    first = network.bound * length(x) + length(Hx)
    second = network.bound * length(x_k) + length(Hx_k)
    return first * second / network.bound


def constants_terms(network: Network, x: Any, x_k: Any, Hx: Any, Hx_k: Any) -> list[Term]:
    r"""Return terms for the latter, less :math:`\Lambda\|x\|\|x_k\|`."""
    A, B, h, h_k = length(x), length(x_k), length(Hx), length(Hx_k)
    return [
        Term(1, (sqrt(A * h_k),)),
        Term(1, (sqrt(B * h),)),
        Term(1 / network.bound, (sqrt(h * h_k),)),
    ]

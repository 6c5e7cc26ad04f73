r"""Theorem 3.4: the simplified bound on an entry of the Hessian.

"There exist :math:`\kappa_{ij}, \kappa_{kl} > 0, \gamma_{ijkl}` such that" the entry with the layer
is at most :math:`\frac{\kappa_{ij}\kappa_{kl} + \gamma_{ijkl}}{\sigma_j\sigma_l}`
times that without (:math:`\sigma(y_i)` is a slip for :math:`\sigma(y_j)`).

- If the constants may be chosen for each network and its entry is not zero, they always exist:
  :math:`\kappa = 1` and what is left.  True, and it says nothing.
- No constants do where the entry without the layer is zero and that with it is not.
- Line 532 sets :math:`\kappa_{ij} = 1 + \sqrt{d_{ij}}` and :math:`\gamma = f` of Theorem C.6.  This
  falls for a loss of one linear functional; rearranging C.6 would leave
  :math:`1/\sqrt{d_{ij}d_{kl}}` in front.
- "Each element of the Hessian shrinks" where sigma is large falls like the second.

What holds is the corrected Theorem C.6.
"""

from typing import Any

from theory.arithmetic import inner
from theory.claim import Claim, Hypothesis, Letters, Network, Relation, Sides, Verdict
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1 import theorem_c6_corrected
from theory.santurkar2018.version_1.one_functional import OneFunctional
from theory.santurkar2018.version_1.weights import (
    MEAN_ZERO,
    SPREAD_OUTPUT,
    absolute,
    loss_hessian,
    weight_hessian,
)


def vanilla(network: Network, at: Letters) -> Any:
    """Return the entry without the layer."""
    return inner(network.direction, loss_hessian(at, network.other_direction))


def with_layer(network: Network) -> Any:
    """Return the entry with the layer."""
    return weight_hessian(network, network.direction, network.other_direction)


def own_constants(network: Network, at: Letters) -> Sides:
    r"""With :math:`\kappa = 1` and :math:`\gamma` the network's own, without absolute values."""
    actual, entry = with_layer(network), vanilla(network, at)
    gamma = at.sigma**2 * actual / entry - 1
    return Sides(actual, (1 + gamma) / at.sigma**2 * entry)


def any_constants(network: Network, at: Letters) -> Sides:
    """What any finite constants give where the entry without the layer is zero."""
    return Sides(with_layer(network), 0 * at.sigma)


def given_constants(network: Network, at: Letters) -> Sides:
    """With the constants of line 532, for j = l, i != k and the loss of one functional."""
    both = OneFunctional(network, network.direction, network.other_direction)
    kappa = (1 + both.root(both.x)) * (1 + both.root(both.x_k))
    factor = (kappa + 6 * both.gradient_norm()) / at.sigma**2
    return Sides(absolute(both.with_layer()), factor * absolute(both.without_layer()))


def shrinks(network: Network, at: Letters) -> Sides:
    """The two entries."""
    return Sides(absolute(with_layer(network)), absolute(vanilla(network, at)))


ZERO_ENTRY = Hypothesis(
    r"\frac{\partial^2 L}{\partial W_{ij}\partial W_{kj}} = 0", vanilla, Relation.EQUAL
)
_RIGHT = theorem_c6_corrected.CORRECTED.id


def _reading(name: str, **fields: Any) -> Claim:
    return Claim(
        id=f"S-v1-thm-3.4/{name}",
        row="S-v1-thm-3.4",
        locations=(
            version_1(181, "Sect. 3.3, Theorem 3.4", r"\gamma_{ijkl}}{\sigma(y_i) \sigma(y_l)}"),
            version_1(179, "Sect. 3.3, Theorem 3.4", r"\exists \ \kappa_{ij}, \kappa_{kl} > 0"),
        ),
        statement=r"\exists\,\kappa_{ij}, \kappa_{kl}, \gamma_{ijkl}:"
        r" |\nabla_W^2\hat L|_{ijkl} \le \frac{\kappa_{ij}\kappa_{kl} + \gamma_{ijkl}}"
        r"{\sigma(y_j)\sigma(y_l)}|\nabla_W^2 L|_{ijkl}",
        order=2,
        **fields,
    )


OWN = _reading(
    "own-constants",
    sides=own_constants,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="nothing: the constants are defined by the inequality that they satisfy",
    remark="Empty: true of any two numbers of which the second is not zero.",
)
ANY = _reading(
    "any-constants",
    sides=any_constants,
    relation=Relation.EQUAL,
    hypotheses=(MEAN_ZERO, ZERO_ENTRY),
    expected=Verdict.REFUTED,
    corrected_by=_RIGHT,
    falsified_by="a network whose entry is zero without the layer and not zero with it",
)
GIVEN = _reading(
    "given-constants",
    sides=given_constants,
    relation=Relation.AT_MOST,
    hypotheses=(MEAN_ZERO,),
    expected=Verdict.REFUTED,
    corrected_by=_RIGHT,
    falsified_by="j = l, i != k, the loss of one functional, kappa and gamma of line 532",
)
SHRINKS = Claim(
    id="S-v1-thm-3.4/shrinks",
    row="S-v1-thm-3.4",
    locations=(version_1(177, "Sect. 3.3, before Theorem 3.4", "*each element* of the Hessian"),),
    statement=r"\sigma \ge 1 \Rightarrow |\nabla_W^2\hat L|_{ijkj} \le |\nabla_W^2 L|_{ijkj}",
    sides=shrinks,
    relation=Relation.AT_MOST,
    hypotheses=(MEAN_ZERO, SPREAD_OUTPUT),
    expected=Verdict.REFUTED,
    order=2,
    corrected_by=_RIGHT,
    falsified_by="one batch with sigma >= 1, two inputs of mean zero and a loss",
)

CLAIMS = [OWN, ANY, GIVEN, SHRINKS]

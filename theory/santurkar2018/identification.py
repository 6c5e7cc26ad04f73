r"""The last line of the proof of Theorem 4.1: "dLhat/dz = dL/dy".

In the network with the layer the loss is at z, in the one without it at y, so the two gradients
are one function at two points.  They agree when the points do: gamma = sigma and beta = mean.
"""

from dataclasses import replace
from typing import Any

from theory import batchnorm
from theory.arithmetic import mean, norm_squared
from theory.claim import Claim, Hypothesis, Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018.texts import final, supplement


def sides(network: Network, at: Letters) -> Sides:
    """The loss's gradient at the layer's output, and at the batch itself."""
    return Sides(at.g, network.gradient(network.loss, network.y))


def reproduce_the_batch(case: Any) -> Any:
    """Choose gamma and beta so that the layer gives back its batch."""
    return replace(case, gamma=batchnorm.standard_deviation(case.y, case.eps), beta=mean(case.y))


IDENTITY_LAYER = Hypothesis(
    statement=r"\gamma = \sigma,\ \beta = \mu",
    quantity=lambda network, at: norm_squared(network.z - network.y),
    sign=Relation.EQUAL,
    impose=reproduce_the_batch,
    printed=False,
)

PRINTED = Claim(
    id="S-thm-4.1-identification",
    row="S-thm-4.1-identification",
    locations=(
        final(413, "App. C.2, end of the proof of Theorem 4.1", "Exploiting the fact that"),
        supplement(173, "App. C.2, end of the proof of Theorem 4.1", "Exploiting the fact that"),
    ),
    statement=r"\frac{\partial\hat L}{\partial z} = \frac{\partial L}{\partial y}",
    sides=sides,
    relation=Relation.EQUAL,
    expected=Verdict.REFUTED,
    falsified_by="two networks with the same weights whose losses have different gradients",
)
SHARED = PRINTED.under(Reading.SHARED_EPSILON, Verdict.REFUTED)

CLAIMS = [
    PRINTED,
    SHARED,
    PRINTED.corrected(hypotheses=(IDENTITY_LAYER,)),
    SHARED.corrected(hypotheses=(IDENTITY_LAYER,)),
]

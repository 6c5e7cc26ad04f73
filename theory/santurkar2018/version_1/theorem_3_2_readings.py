r"""Theorem 3.2 in the readings that the proof does not have.

With c the cosine of x and g, not its square, it falls where the cosine is below
:math:`3 - 2\sqrt 2`.  With the correlation coefficient it needs inputs of mean zero.  Of two real
networks with the same weights, c and the gradient on the right taken at y, nothing of the kind is
true.
"""

from theory.arithmetic import inner, sqrt
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Hypothesis,
    Letters,
    Network,
    Reading,
    Relation,
    Sides,
    Verdict,
)
from theory.santurkar2018.version_1.theorem_3_2 import PEARSON, SHARPENED, SQUARE, against
from theory.santurkar2018.version_1.weights import (
    absolute,
    length,
    loss_gradient,
    vanilla_gradient,
    weight_gradient,
)


def pearson_any_mean(network: Network, at: Letters) -> Sides:
    """The same for x of any mean, where the gradient without the layer is not p."""
    x, g = network.direction, loss_gradient(at)
    p, n = inner(centre(x), centre(g)), length(centre(x)) * length(centre(g))
    factor = (sqrt(n / absolute(p)) ** 2 + 1) ** 2 / at.sigma**2
    return Sides(weight_gradient(network, x) ** 2, factor * inner(x, g) ** 2)


def cosine(network: Network, at: Letters) -> Sides:
    """With c the cosine."""
    x, g = network.direction, loss_gradient(at)
    p, n = absolute(inner(x, g)), length(x) * length(g)
    return Sides(weight_gradient(network, x) ** 2, (sqrt(n * p) + p) ** 2 / at.sigma**2)


def two_networks(network: Network, at: Letters) -> Sides:
    """With c, squared, and the gradient on the right those of the network without the layer."""
    x, g = network.direction, vanilla_gradient(network)
    return against(network, at, x, inner(x, g), length(x) * length(g))


CORRELATED = Hypothesis(
    r"c_{ij} \ne 0",
    lambda network, at: inner(network.direction, loss_gradient(at)) ** 2,
    Relation.MORE_THAN,
    printed=False,
)
CORRELATED_AT_Y = Hypothesis(
    r"c_{ij} \ne 0",
    lambda network, at: inner(network.direction, vanilla_gradient(network)) ** 2,
    Relation.MORE_THAN,
    printed=False,
)
PEARSON_ANY_MEAN = Claim(
    id="S-v1-thm-3.2/square-pearson-any-mean",
    row="S-v1-thm-3.2",
    locations=SQUARE.locations,
    statement=PEARSON.statement,
    sides=pearson_any_mean,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    corrected_by=PEARSON.id,
    falsified_by="one batch, input of any mean and loss with a correlation that is not zero",
)
COSINE = Claim(
    id="S-v1-thm-3.2/cosine",
    row="S-v1-thm-3.2",
    locations=SQUARE.locations,
    statement=SQUARE.statement.split(r",\quad")[0]
    + r",\quad c_{ij} = \frac{\langle x_i, g\rangle}{\|x_i\|\|g\|}",
    sides=cosine,
    relation=Relation.AT_MOST,
    hypotheses=(CORRELATED,),
    expected=Verdict.REFUTED,
    corrected_by=SHARPENED.id,
    falsified_by="one batch, input and loss; c the cosine of x and the gradient at yhat",
    remark="True where the cosine is at least 3 - 2 sqrt(2).",
)
TWO_NETWORKS = Claim(
    id="S-v1-thm-3.2/two-networks",
    row="S-v1-thm-3.2",
    locations=SQUARE.locations,
    statement=SQUARE.statement,
    sides=two_networks,
    relation=Relation.AT_MOST,
    hypotheses=(CORRELATED_AT_Y,),
    expected=Verdict.REFUTED,
    corrected_by=SHARPENED.id,
    falsified_by="one batch, input and loss; c and the gradient on the right taken at y",
)

CLAIMS = [
    PEARSON_ANY_MEAN,
    COSINE,
    COSINE.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by=f"{SHARPENED.id}/eps"),
    TWO_NETWORKS,
    TWO_NETWORKS.under(Reading.SHARED_EPSILON, Verdict.REFUTED, corrected_by=f"{SHARPENED.id}/eps"),
]

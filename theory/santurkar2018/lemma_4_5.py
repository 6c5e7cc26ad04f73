r"""Lemma 4.5: the way from an initialisation to the nearest optimum is no longer with the layer.

The right side is the squared distance of W0 to the line through W*.  At W0 = W* it is zero, so
there the lemma says that W* itself is a limit of optima of the network with the layer: it stands
or falls with the first sentence of its proof, and that depends on what the text does not settle.

- ``trainable`` (gamma, beta trainable, the layer has a bias or the inputs hold the ones): true.
  With gamma = sigma and beta = mean any multiple kW* gives the same outputs, and (59) to (62) are
  the distance to kW*.  The condition <W0, W*> > 0 may go: gamma = -sigma serves k < 0.
- ``no-bias`` and ``fixed``: false (:mod:`theory.santurkar2018.lemma_4_5_readings`).

A weight vector is written as a vector of the same space as a batch: W0 is u and W* is v.
"""

from theory.arithmetic import inner, mean, norm_squared
from theory.claim import Claim, Hypothesis, Letters, Network, Reading, Relation, Sides, Verdict
from theory.santurkar2018.texts import final, supplement

SAME_SIDE = Hypothesis(
    r"\langle W_0, W^*\rangle > 0",
    lambda network, at: inner(network.direction, network.other_direction),
    Relation.MORE_THAN,
)


def distance(network: Network, at: Letters) -> Sides:
    """The distance to kW*, the optimum that the proof names, and the printed bound."""
    W0, W = network.direction, network.other_direction
    k = inner(W, W0) / norm_squared(W)
    bound = norm_squared(W0 - W) - (norm_squared(W) - inner(W, W0)) ** 2 / norm_squared(W)
    return Sides(norm_squared(W0 - k * W), bound)


def same_outputs(network: Network, at: Letters) -> Sides:
    """The layer at kW*, k = lambda > 0, with gamma and beta that give back the batch XW*."""
    y = network.y
    scaled = network.bound * y
    gamma = network.standard_deviation(scaled) / network.bound
    return Sides(gamma * network.normalize(scaled) + mean(y), y)


def same_outputs_negative(network: Network, at: Letters) -> Sides:
    """The same at kW* with k = -lambda < 0."""
    y = network.y
    scaled = -network.bound * y
    gamma = -network.standard_deviation(scaled) / network.bound
    return Sides(gamma * network.normalize(scaled) + mean(y), y)


PROOF = "App. C.2, proof of Lemma 4.5"

FIRST = (
    final(563, PROOF, "must also be an optimum in the BN network"),
    supplement(387, PROOF, "must also be an optimum in the BN network"),
)

TRAINABLE = Claim(
    id="S-lemma-4.5/trainable",
    row="S-lemma-4.5",
    locations=(
        final(
            207, "Sect. 4.2, Lemma 4.5", r"\left|\left|{W_{0}-\widehat{W}^{*}}\right|\right|^{2}"
        ),
        supplement(383, "App. C.2, Lemma 4.5", r"\left| \left| W_0 - \widehat{W}^* \right|"),
    ),
    statement=r"\|W_0 - \widehat W^*\|^2 \le \|W_0 - W^*\|^2 - \frac{1}{\|W^*\|^2}"
    r"\big(\|W^*\|^2 - \langle W^*, W_0\rangle\big)^2",
    sides=distance,
    relation=Relation.AT_MOST,
    hypotheses=(SAME_SIDE,),
    expected=Verdict.PROVED,
    falsified_by="W0 and W* for which kW* is farther than the bound; that kW* is an optimum is the"
    " entry S-lemma-4.5/trainable/optimum",
    remark="Equality if kW* is the nearest optimum; another optimum may be nearer.",
)

OPTIMUM = Claim(
    id="S-lemma-4.5/trainable/optimum",
    row="S-lemma-4.5",
    locations=FIRST,
    statement=r"\mathrm{BN}_{\gamma,\beta}(XkW^*) = XW^*,\ k > 0,"
    r"\ \gamma = \sigma(XkW^*)/k,\ \beta = \mu(XW^*)",
    sides=same_outputs,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="a batch and k > 0 whose outputs differ",
)

CLAIMS = [
    TRAINABLE,
    OPTIMUM,
    OPTIMUM.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    OPTIMUM.sharpened(
        "negative",
        sides=same_outputs_negative,
        statement=OPTIMUM.statement.replace("k > 0", "k < 0"),
        falsified_by="a batch and k < 0 whose outputs differ",
        remark="gamma is negative, so the condition <W0, W*> > 0 is not needed.",
    ),
]

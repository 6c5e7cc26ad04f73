r"""Three statements of Ba, Kiros and Hinton 2016, Layer Normalization, adjudicated from outside.

The batch y of the language is any vector.  In the last two statements it is the summed inputs
:math:`a = Wx` of a layer for one case: weights :math:`W' = \delta W + \mathbf 1\gamma^\top` make
them :math:`\delta a + c\mathbf 1` with :math:`c = \gamma^\top x`, which may be any number.  What
the first says is said of batch and weight normalization: there y is one neuron over the batch.
"""

from theory.claim import Claim, Paper, Verdict
from theory.language.expression import equal
from theory.language.letters import number_of
from theory.language.operations import absolute
from theory.unit import deviation, normalize, one, y

PAPER = Paper(
    "ba2016",
    "Ba et al. 2016",
    "J. L. Ba, J. R. Kiros and G. E. Hinton, *Layer Normalization*, 2016",
)
delta = number_of("delta", r"\delta", "gamma")
c = number_of("c", "c", "beta")
PLACE = "Sect. 5.1, weight re-scaling and re-centering"
SIGN = delta / absolute(delta)

DEVIATION = Claim(
    id="ba2016-deviation",
    title="The deviation of scaled summed inputs",
    locations=(PAPER.at(PLACE, "the two scalar µ and σ will also be scaled by δ"),),
    says=equal(deviation(delta * y), delta * deviation(y)),
    expected=Verdict.REFUTED,
    remark="Right for the positive factors that are meant; a deviation has no sign.",
)
SHIFT = Claim(
    id="ba2016-shift",
    title="A shift of all incoming weights",
    locations=(
        PAPER.at(PLACE, "invariant to a shift to all of the incoming weights in the weight matrix"),
    ),
    says=equal(normalize(y + c * one), normalize(y)),
    expected=Verdict.PROVED,
)
SCALE_AND_SHIFT = Claim(
    id="ba2016-eq-6",
    title="Weights that are scaled and shifted",
    locations=(
        PAPER.at(
            f"{PLACE}, eq. (6)",
            "Under layer normalization, the two models effectively compute the same output",
        ),
    ),
    says=equal(normalize(delta * y + c * one), normalize(y)),
    expected=Verdict.REFUTED,
    remark="Right for a positive factor; a negative one changes the sign of the output.",
)

CLAIMS = [
    DEVIATION,
    DEVIATION.corrected(says=equal(deviation(delta * y), absolute(delta) * deviation(y))),
    SHIFT,
    SCALE_AND_SHIFT,
    SCALE_AND_SHIFT.corrected(says=equal(normalize(delta * y + c * one), SIGN * normalize(y))),
]

"""The gradient that passes Batch Normalization has mean zero over the batch."""

from theory.claim import Claim, Location, Verdict
from theory.language.expression import equal
from theory.language.operations import dot
from theory.unit import grad, one

CLAIM = Claim(
    id="mine-mean-zero",
    row="mine-mean-zero",
    title="The gradient in front of the layer is centred",
    locations=(Location("my-notes", 1, "Sect. 1", "the gradient is centred"),),
    says=equal(dot(one, grad), 0),
    expected=Verdict.PROVED,
    falsified_by="one batch and loss whose gradient has another mean than zero",
)

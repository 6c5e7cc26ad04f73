"""The gradient that passes Batch Normalization has mean zero over the batch."""

from theory.arithmetic import inner
from theory.claim import (
    Claim,
    Letters,
    Location,
    Network,
    Relation,
    Sides,
    Verdict,
    gradient_in_y,
)


def sides(network: Network, at: Letters) -> Sides:
    """The sum of the gradient's entries, and zero."""
    total = inner(at.one, gradient_in_y(network))
    return Sides(total, 0 * total)


CLAIM = Claim(
    id="mine-mean-zero",
    row="mine-mean-zero",
    locations=(Location("my-notes", 1, "Sect. 1", "the gradient is centred"),),
    statement=r"\langle\mathbf 1, \nabla_y\hat L\rangle = 0",
    sides=sides,
    relation=Relation.EQUAL,
    expected=Verdict.PROVED,
    falsified_by="one batch and loss whose gradient has another mean than zero",
)

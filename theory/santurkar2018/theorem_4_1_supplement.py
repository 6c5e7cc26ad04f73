r"""Theorem 4.1 as the supplement prints it: 1/sqrt(m) before the last term.

The factor comes from line (9) of the proof, where the squared norm of yhat, m, is divided by once
instead of its root twice.
"""

from theory.arithmetic import inner, norm_squared, sqrt
from theory.claim import Claim, Letters, Network, Reading, Relation, Sides, Verdict, gradient_in_y
from theory.santurkar2018 import theorem_4_1
from theory.santurkar2018.texts import supplement


def sides(network: Network, at: Letters) -> Sides:
    """The gradient on the right is taken at the layer's output z."""
    g = at.g
    return Sides(
        norm_squared(gradient_in_y(network)),
        at.gamma**2
        / at.sigma**2
        * (norm_squared(g) - inner(at.one, g) ** 2 / at.m - inner(g, at.yhat) ** 2 / sqrt(at.m)),
    )


PRINTED = Claim(
    id="S-thm-4.1-supp",
    row="S-thm-4.1-supp",
    locations=(supplement(145, "App. C.2, Theorem 4.1", r"\frac{1}{\sqrt{m}}"),),
    statement=r"\|\nabla_y\hat L\|^2 \le \frac{\gamma^2}{\sigma^2}\Big(\|\nabla_y L\|^2"
    r" - \frac1m\langle\mathbf 1, \nabla_y L\rangle^2"
    r" - \frac1{\sqrt m}\langle\nabla_y L, \hat y\rangle^2\Big)",
    sides=sides,
    relation=Relation.AT_MOST,
    expected=Verdict.REFUTED,
    falsified_by="one batch and loss, the loss's gradient at the layer's output on the right",
    remark="The last version prints 1/m; the proof's line (9) carries the same difference.",
)
SHARED = PRINTED.under(Reading.SHARED_EPSILON, Verdict.REFUTED)


def _right(claim: Claim) -> Claim:
    return claim.corrected(
        sides=theorem_4_1.sides,
        certificate=theorem_4_1.slack,
        statement=theorem_4_1.PRINTED.statement,
        remark="",
    )


CLAIMS = [
    PRINTED,
    SHARED,
    PRINTED.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by=f"{SHARED.id}/corrected"),
    _right(PRINTED),
    _right(SHARED),
]

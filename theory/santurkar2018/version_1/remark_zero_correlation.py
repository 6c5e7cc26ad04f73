r"""The remark after Theorem 3.2: "if |c| = 0 then the gradient is zero".

It holds for the cosine, and for the correlation coefficient of inputs of mean zero.
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner, norm_squared
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Hypothesis,
    Letters,
    Network,
    Relation,
    Sides,
    Term,
    Verdict,
)
from theory.santurkar2018.texts import version_1
from theory.santurkar2018.version_1.weights import (
    loss_gradient,
)


def no_gradient(network: Network, at: Letters) -> Sides:
    """The square of the gradient without the layer, which is to vanish."""
    p = inner(network.direction, loss_gradient(at))
    return Sides(p**2, 0 * p)


def uncorrelated(network: Network, at: Letters) -> Any:
    """Return the numerator of the correlation coefficient."""
    return inner(centre(network.direction), loss_gradient(at))


def orthogonal(case: Any, x: Any) -> Any:
    """Give the case a linear loss whose gradient is orthogonal to a vector."""
    v = case.other_direction
    return case.with_isotropic_loss(norm_squared(x) * v - x * inner(x, v), 0)


NO_COSINE = Hypothesis(
    r"\langle x_i, g\rangle = 0",
    lambda network, at: inner(network.direction, loss_gradient(at)),
    Relation.EQUAL,
    impose=lambda case: orthogonal(case, case.direction),
)
NO_CORRELATION = Hypothesis(
    r"\operatorname{corr}(x_i, g) = 0",
    uncorrelated,
    Relation.EQUAL,
    impose=lambda case: orthogonal(case, centre(case.direction)),
)
NO_MEAN = Hypothesis(
    r"\langle 1, x_i\rangle = 0",
    lambda network, at: inner(at.one, network.direction),
    Relation.EQUAL,
    impose=lambda case: replace(case, direction=centre(case.direction)),
    printed=False,
)


def by_correlation(network: Network, at: Letters) -> list[Term]:
    """The gradient is the correlation's numerator and a multiple of the mean of x."""
    g, p = loss_gradient(at), inner(network.direction, loss_gradient(at))
    return [
        Term(-p, (NO_CORRELATION,)),
        Term(-p * inner(at.one, g) / at.m, (NO_MEAN,)),
    ]


ZERO_PLACE = version_1(171, "Sect. 3.3, after Theorem 3.2", r"if  $|c_{ij}| = 0$  then")


def _zero(name: str, **fields: Any) -> Claim:
    return Claim(
        id=f"S-v1-remark-always/{name}",
        row="S-v1-remark-always",
        locations=(ZERO_PLACE,),
        statement=r"|c_{ij}| = 0 \Rightarrow \Big(\frac{\partial L}{\partial W_{ij}}\Big)^2 \le 0",
        sides=no_gradient,
        relation=Relation.AT_MOST,
        falsified_by="one input and loss with c = 0 and a gradient",
        **fields,
    )


COSINE = _zero(
    "zero-cosine", hypotheses=(NO_COSINE,), expected=Verdict.PROVED,
    certificate=lambda network, at: [
        Term(-1 * inner(network.direction, loss_gradient(at)), (NO_COSINE,))
    ],
)  # fmt: skip
PEARSON = _zero(
    "zero-correlation", hypotheses=(NO_CORRELATION, NO_MEAN), expected=Verdict.PROVED,
    certificate=by_correlation,
)  # fmt: skip
ANY_MEAN = _zero(
    "zero-correlation-any-mean", hypotheses=(NO_CORRELATION,), expected=Verdict.REFUTED,
    corrected_by=PEARSON.id,
)  # fmt: skip

CLAIMS = [COSINE, PEARSON, ANY_MEAN]

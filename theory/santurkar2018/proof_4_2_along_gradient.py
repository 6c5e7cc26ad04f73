r"""The proof of Theorem 4.2, along the gradient: equations (48) to (51).

With eps > 0 they fall, as they use (44) and (45).
"""

from dataclasses import replace
from typing import Any

from theory.arithmetic import inner
from theory.batchnorm import centre
from theory.claim import (
    Claim,
    Letters,
    Network,
    Reading,
    Sides,
    Verdict,
    gradient_in_y,
    hessian_in_y,
)
from theory.santurkar2018 import theorem_4_2, theorem_4_2_relative_norms
from theory.santurkar2018.equations import displayed, garbled
from theory.santurkar2018.projection_identities import off_yhat
from theory.santurkar2018.texts import final, supplement

PROOF = "App. C.2, proof of Theorem 4.2"
_line = displayed(
    PROOF,
    "S-steps",
    order=2,
    falsified_by="a batch, a loss and a direction",
)


def lines_48_49(network: Network, at: Letters) -> Sides:
    """The form along the gradient, by the identities."""
    w, off = gradient_in_y(network), off_yhat(at, centre(at.g))
    bent = at.gamma**3 / (at.m * at.sigma**4) * inner(centre(at.g), off) * inner(at.g, at.yhat)
    return Sides(
        inner(w, hessian_in_y(network, w)),
        at.gamma**4 / at.sigma**4 * inner(off, at.H(off)) - bent,
    )


_HESSIAN = r"\frac{\partial^2\hat L}{\partial y\partial y}"

FORTY_NINE = _line(
    {48: ((525, r"=\frac{\gamma^{4}}{\sigma^{4}}\overline{"), None),
     49: ((526, r"\frac{\gamma^{3}}{m\sigma^{4}}\overline"),
          (336, r"-\frac{\gamma^3}{m\sigma^4} \overline"))},
    r"w^\top" + _HESSIAN + r"w = \frac{\gamma^4}{\sigma^4}\bar g^\top Q H Q\bar g"
    r" - \frac{\gamma^3}{m\sigma^4}\bar g^\top Q\bar g\langle g, \hat y\rangle,"
    r"\quad Q = I - \tfrac1m\hat y\hat y^\top,\ w = \nabla_y\hat L", lines_48_49,
)  # fmt: skip

FIFTY = _line(
    {50: ((527, r"-\frac{\gamma}{m\sigma^{2}}\left\langle"),
          (339, r"- \frac{\gamma}{m\sigma^2} \left\langle"))},
    theorem_4_2.PRINTED.statement.replace(r"\le", "="), theorem_4_2.sides,
)  # fmt: skip

_FIFTY_ONE = (
    final(
        531, f"{PROOF}, eq. (51)", r"\bm{\hat{g}_{j}}^{\top}\bm{H}_{{jj}}\bm{\hat{g}_{j}}-\frac{1}"
    ),
    supplement(344, f"{PROOF}, eq. (51)", r"\leq \frac{\gamma^2}{\sigma^2} \left["),
)

_EPS = Reading.SHARED_EPSILON
_EXACT = "S-thm-4.2a/eps/corrected"


def _fifty_one(claim: Claim, name: str, **changes: Any) -> Claim:
    settled = {"id": f"S-eq-51/{name}", "row": "S-steps", "locations": _FIFTY_ONE}
    return replace(claim, **{**settled, **changes})


CLAIMS = [
    FORTY_NINE,
    FORTY_NINE.under(_EPS, Verdict.REFUTED, corrected_by=_EXACT),
    garbled(FORTY_NINE, PROOF, 48,
            (333, r"\frac{\gamma^4}{\sigma^4} \widehat{\boldsymbol{g_j}}^{\top}"),
            "(48) has lost the bar over g, which (47) before it and (49) after it have"),
    FIFTY,
    FIFTY.under(_EPS, Verdict.REFUTED, corrected_by=_EXACT),
    _fifty_one(theorem_4_2_relative_norms.DIRECTLY, "direct"),
    _fifty_one(theorem_4_2_relative_norms.PRINTED, "ratio",
               corrected_by="S-thm-4.2b/ratio/corrected"),
    _fifty_one(theorem_4_2_relative_norms.IN_ORDER, "order",
               corrected_by="S-thm-4.2b/order/corrected"),
]  # fmt: skip

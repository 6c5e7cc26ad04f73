r"""The proof of Theorem 4.1, its first step: equation (3), Fact C.1 for one entry of the batch.

All entries at once; at eps > 0 with yhat of variance one it fails as Fact C.1 does.
"""

from dataclasses import replace

from theory.claim import Reading, Verdict
from theory.santurkar2018 import fact_c1
from theory.santurkar2018.texts import final, supplement

PLACE = "App. C.2, proof of Theorem 4.1, eq. (3)"
THREE = replace(
    fact_c1.PRINTED,
    id="S-eq-3",
    row="S-steps",
    locations=(
        final(399, PLACE, r"-{\hat{y}_{j}}^{(b)}\sum_{k=1}^{m}"),
        supplement(149, PLACE, r"- \hat{y}_j^{(b)} \sum_{k=1}^m"),
    ),
    statement=r"\frac{\partial\hat L}{\partial y^{(b)}} = \frac{\gamma}{m\sigma}\Big("
    r"m\frac{\partial\hat L}{\partial z^{(b)}} - \sum_k\frac{\partial\hat L}{\partial z^{(k)}}"
    r" - \hat y^{(b)}\sum_k\frac{\partial\hat L}{\partial z^{(k)}}\hat y^{(k)}\Big)",
)

CLAIMS = [
    THREE,
    THREE.under(Reading.SHARED_EPSILON, Verdict.PROVED),
    THREE.under(Reading.UNIT_VARIANCE, Verdict.REFUTED, corrected_by="S-eq-3/eps"),
]

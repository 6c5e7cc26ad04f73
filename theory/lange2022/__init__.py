"""The statements of Lange, Helfrich and Ye on Batch Normalization Preconditioning.

One numbered result, with its readings, proof and corrections, a file.  ``CLAIMS`` lists them in the
order of the paper.
"""

from theory.lange2022 import (
    algorithm_1,
    algorithm_2,
    algorithm_3,
    gradient_descent,
    lemma_8,
    lemma_a1,
    lemma_a2,
    online,
    proposition_2,
    proposition_5,
    proposition_6,
    proposition_7,
    proposition_9,
    proposition_10,
    proposition_11,
    section_3_5,
    theorem_1,
    theorem_3,
    theorem_4,
)
from theory.statement import Statement

CLAIMS: list[Statement] = [
    claim
    for module in (
        algorithm_1, gradient_descent, theorem_1, proposition_2, theorem_3, theorem_4, lemma_a1,
        proposition_5, lemma_a2, algorithm_2, proposition_6, proposition_7, section_3_5,
        lemma_8, proposition_9, proposition_10, algorithm_3, online, proposition_11,
    )
    for claim in module.CLAIMS
]  # fmt: skip

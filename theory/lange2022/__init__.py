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
    online,
    proposition_2,
    proposition_5,
    proposition_6,
    proposition_7,
    proposition_9,
    proposition_10,
    proposition_11,
    random_matrices,
    section_3_5,
    theorem_1,
    theorem_3,
    theorem_4,
)
from theory.statement import Statement

CLAIMS: list[Statement] = [
    *algorithm_1.CLAIMS,
    *gradient_descent.CLAIMS,
    *theorem_1.CLAIMS,
    *proposition_2.CLAIMS,
    *theorem_3.CLAIMS,
    *theorem_4.CLAIMS,
    *lemma_a1.CLAIMS,
    *proposition_5.CLAIMS,
    *random_matrices.CLAIMS,
    *algorithm_2.CLAIMS,
    *proposition_6.CLAIMS,
    *proposition_7.CLAIMS,
    *section_3_5.CLAIMS,
    *lemma_8.CLAIMS,
    *proposition_9.CLAIMS,
    *proposition_10.CLAIMS,
    *algorithm_3.CLAIMS,
    *online.CLAIMS,
    *proposition_11.CLAIMS,
]

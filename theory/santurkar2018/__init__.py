"""The statements of Santurkar, Tsipras, Ilyas and Mądry on Batch Normalization.

One numbered result with its proof a file.  ``CLAIMS`` lists them in the order of the paper's last
version, then those of its first one.
"""

from theory.santurkar2018 import (
    facts,
    lemma_4_5,
    observation_4_3,
    remarks,
    theorem_4_1,
    theorem_4_2,
    theorem_4_4,
    theorem_c1,
    version_1,
)

CLAIMS = [
    claim
    for module in (
        theorem_4_1, theorem_4_2, remarks, observation_4_3, theorem_4_4, lemma_4_5, facts,
        theorem_c1, version_1,
    )
    for claim in module.CLAIMS
]  # fmt: skip

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
    *theorem_4_1.CLAIMS,
    *theorem_4_2.CLAIMS,
    *remarks.CLAIMS,
    *observation_4_3.CLAIMS,
    *theorem_4_4.CLAIMS,
    *lemma_4_5.CLAIMS,
    *facts.CLAIMS,
    *theorem_c1.CLAIMS,
    *version_1.CLAIMS,
]

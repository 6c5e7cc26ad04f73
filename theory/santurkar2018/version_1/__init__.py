"""The first version of the paper, whose section of theorems is another one.

``CLAIMS`` lists its statements: each theorem with its form in the appendix and its proof, then the
remarks and the facts that the proofs use.
"""

from theory.santurkar2018.version_1 import (
    facts,
    lemma_3_3,
    remarks,
    theorem_3_1,
    theorem_3_2,
    theorem_3_4,
)

CLAIMS = [
    *theorem_3_1.CLAIMS,
    *theorem_3_2.CLAIMS,
    *lemma_3_3.CLAIMS,
    *theorem_3_4.CLAIMS,
    *remarks.CLAIMS,
    *facts.CLAIMS,
]

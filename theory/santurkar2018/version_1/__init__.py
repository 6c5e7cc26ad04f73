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
    claim
    for module in (theorem_3_1, theorem_3_2, lemma_3_3, theorem_3_4, remarks, facts)
    for claim in module.CLAIMS
]

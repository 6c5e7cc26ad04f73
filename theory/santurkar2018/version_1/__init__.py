"""The first version of the paper, whose section of theorems is another one.

``CLAIMS`` lists its statements in the text's order: each theorem with its form in the appendix and
its proof.
"""

from theory.santurkar2018.version_1 import facts, lemma_3_3, theorem_3_1, theorem_3_2, theorem_c6

CLAIMS = [*theorem_3_1.CLAIMS, *theorem_3_2.CLAIMS, *lemma_3_3.CLAIMS, *facts.CLAIMS, *theorem_c6.CLAIMS]

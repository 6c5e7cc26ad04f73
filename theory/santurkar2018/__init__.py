"""The statements of Santurkar, Tsipras, Ilyas and Madry on Batch Normalization.

One statement, or one proof, a file.  ``CLAIMS`` lists them in the paper's order.
"""

from theory.santurkar2018 import (
    discussion_4_2,
    discussion_convexity,
    fact_c1,
    fact_c2,
    hessian,
    hessian_terms,
    identification,
    projection_identities,
    proof_4_1,
    theorem_4_1,
    theorem_4_1_supplement,
    theorem_4_2,
    theorem_4_2_relative_norms,
)

CLAIMS = [
    *theorem_4_1.CLAIMS,
    *theorem_4_2.CLAIMS,
    *theorem_4_2_relative_norms.CLAIMS,
    *discussion_4_2.CLAIMS,
    *discussion_convexity.CLAIMS,
    *fact_c1.CLAIMS,
    *fact_c2.CLAIMS,
    *theorem_4_1_supplement.CLAIMS,
    *proof_4_1.CLAIMS,
    *identification.CLAIMS,
    *hessian_terms.CLAIMS,
    *hessian.CLAIMS,
    *projection_identities.CLAIMS,
]

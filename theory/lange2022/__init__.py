"""The statements of Lange, Helfrich and Ye on Batch Normalization Preconditioning.

One statement, or one part of a proof, a file.  ``CLAIMS`` lists them in the order of the paper.
"""

from theory.matrix_claim import MatrixClaim

CLAIMS: list[MatrixClaim] = []

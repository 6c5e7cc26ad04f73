"""The Monte Carlo witness: expectations over random matrices, several laws, stated confidence."""

from verify.expectations.examine import WITNESS, examine
from verify.expectations.laws import LAWS, Law

__all__ = ["LAWS", "WITNESS", "Law", "examine"]

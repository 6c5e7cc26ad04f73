"""Symmetric matrices of two rows."""

from typing import Any, NamedTuple

from theory.arithmetic import sqrt
from theory.santurkar2018.version_1.weights import absolute


class Symmetric(NamedTuple):
    """A symmetric matrix of two rows."""

    first: Any
    off: Any
    last: Any

    def trace(self) -> Any:
        """Return the absolute value of the trace."""
        return absolute(self.first + self.last)

    def gap(self) -> Any:
        """Return the distance of the eigenvalues."""
        return sqrt((self.first - self.last) ** 2 + 4 * self.off**2)

    def spectral(self) -> Any:
        """Return the spectral norm."""
        return (self.trace() + self.gap()) / 2

    def positive(self) -> "Symmetric":
        """Return the matrix of the absolute values of the entries."""
        return Symmetric(*map(absolute, self))

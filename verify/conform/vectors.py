"""The vectors that closed forms are made of, in float64, for the diagnosis."""

from __future__ import annotations

import numpy as np

from verify.conform.cases import Case
from verify.conform.oracle import Convention

Array = np.ndarray
USUAL = Convention()


class Vectors:
    """The vectors that closed forms are made of, in float64."""

    def __init__(self, case: Case, is_centred: bool, convention: Convention = USUAL):
        matrix, spread = case.place.matrix, case.place.spread
        self.at = {
            name: matrix(values) if values.shape == case.place.shape else spread(values)
            for name, values in case.inputs.items()
        }
        self.m, self.sharing = case.together, case.place.parameters
        x = self.at["x"]
        self.centred = x - x.mean(axis=0) if is_centred else x
        self.variance = np.mean(self.centred**2, axis=0)
        self.eps, self.is_centred, self.convention = case.eps, is_centred, convention
        self.sigma = np.sqrt(self.variance + case.eps)
        self.yhat = self.centred / self.sigma

    @property
    def pulled(self) -> Array:
        """The cotangent of yhat."""
        return self.at["gamma"] * self.at["g"]

    @property
    def evaluated(self) -> Array:
        """The entries standardized by the running statistics."""
        return (self.at["x"] - self.at["mean"]) / self.running_sigma

    @property
    def running_sigma(self) -> Array:
        """The root of the running variance and eps."""
        root: Array = np.sqrt(self.at["variance"] + self.eps)
        return root

    def mean(self, vector: Array) -> Array:
        """Return the mean in the shape of the batch; nothing for a layer that does not centre."""
        average = np.broadcast_to(vector.mean(axis=0), vector.shape)
        return average if self.is_centred else np.zeros(vector.shape)

    def bar(self, vector: Array) -> Array:
        """Return the vector less its mean."""
        return vector - self.mean(vector)

    def along(self, vector: Array) -> Array:
        """Return the mean product with yhat."""
        return np.mean(self.yhat * vector, axis=0)

    def product(self, a: Array, b: Array) -> Array:
        """Return the mean product of two vectors less their means."""
        return np.mean(self.bar(a) * self.bar(b), axis=0)

    def summed(self, products: Array) -> Array:
        """Return the sums over the entries that share a parameter."""
        return products.ravel()[self.sharing].sum(axis=0)

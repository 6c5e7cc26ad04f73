"""What libraries differ in without being wrong: the running statistics, declared or inferred."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from verify.conform.cases import PLAIN, Stratum, draw
from verify.conform.examine import Bench
from verify.conform.judge import Cell
from verify.conform.modes import MOMENTUM
from verify.conform.oracle import Convention, Oracle
from verify.conform.words import Word

OF_BATCH, OF_OLD = MOMENTUM, 1 - MOMENTUM
_LIKE_TORCH = Convention(OF_BATCH, is_unbiased=True)
_LIKE_KERAS = Convention(OF_OLD, is_unbiased=False)
DECLARED = {
    "torch": _LIKE_TORCH,
    "tensorflow": _LIKE_TORCH,
    "mlx": _LIKE_TORCH,
    "tinygrad": _LIKE_TORCH,
    "keras": _LIKE_KERAS,
    "flax": _LIKE_KERAS,
    "haiku": _LIKE_KERAS,
    "equinox": _LIKE_KERAS,
    "paddle": _LIKE_KERAS,
    "onnx": _LIKE_KERAS,
}
"""Conventions by the library that has them.

Source: torch.nn.BatchNorm2d's documentation; TensorFlow's fused_batch_norm as measured;
mlx.nn.BatchNorm's and tinygrad.nn.BatchNorm's code; Keras's and Flax's documentation of momentum;
hk.ExponentialMovingAverage's and equinox.nn.BatchNorm's code, before their zero-debiasing;
paddle.nn.BatchNorm1D's documentation; ONNX's BatchNormalization-15.  JAX itself has no such layer,
and OpenVINO only evaluates.
"""
NEAR = 1e-4
"""Running statistics that are this near to a convention's are of that convention."""
ROWS = {"mean": "mean", "mean, 3 steps": "mean", "variance": "variance"}
ROWS["variance, 3 steps"] = "variance"


@dataclass(frozen=True)
class Kept:
    """The convention that a subject keeps, and the one that it should."""

    convention: Convention
    declared: Convention | None = None
    like: str = ""

    def words(self) -> str:
        """Return the convention in words."""
        found = described(self.convention)
        if self.declared is None:
            return f"{found} (inferred)"
        if self.declared == self.convention:
            return f"{found} (declared as {self.like}'s)"
        return f"{found} (found; declared is {self.like}'s: {described(self.declared)})"


def described(convention: Convention) -> str:
    """Return a convention in words.

    >>> described(DECLARED["keras"])
    'momentum weighs the old value, variance of m'
    """
    weighs = "the batch" if convention.weight == OF_BATCH else "the old value"
    return f"momentum weighs {weighs}, variance of {'m - 1' if convention.is_unbiased else 'm'}"


def kept(
    bench: Bench, family: str, axes: str, dtype: str, like: str | None, eps: float | None
) -> Kept:
    """Return which convention a subject's step of training keeps; the declared one if none fits."""
    declared = DECLARED.get(like or "")
    case = draw(Stratum("conventions", PLAIN), dtype, family, axes, eps=eps)
    outcome = next(iter(bench.outcomes(case, ["running"])))
    choices = [Convention(w, u) for w in (OF_BATCH, OF_OLD) for u in (True, False)]
    if not outcome.reason:
        for choice in choices:
            oracle = Oracle(case.inputs, case.eps, dtype, case.place, convention=choice)
            pairs = ((outcome.outputs[n], oracle.answer(n).high[0]) for n in ("mean", "variance"))
            if all(np.allclose(found, exact, rtol=NEAR) for found, exact in pairs):
                return Kept(choice, declared, like or "")
    return Kept(declared or choices[0], declared, like or "")


def compared(cells: Sequence[Cell], kept_: Kept) -> Iterator[Cell]:
    """Yield the cells, with the word for those that keep another convention than declared."""
    declared, found = kept_.declared, kept_.convention
    differs = set()
    if declared is not None and declared.weight != found.weight:
        differs = {"mean", "variance"}
    elif declared is not None and declared != found:
        differs = {"variance"}
    for cell in cells:
        if ROWS.get(cell.output) in differs and cell.word is Word.RIGHT and declared is not None:
            reason = f"{described(found)}; {kept_.like}: {described(declared)}"
            yield replace(cell, word=Word.OTHER_CONVENTION, reason=reason)
        else:
            yield cell

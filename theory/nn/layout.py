"""Where the batch and the units are in what a layer is given.

Index convention: axis 1 runs over units (channels), every other axis is the batch's:
``(batch, unit)`` or ``(batch, channel, height, width)``.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf

import torch
from torch import Tensor

from theory.guard import plain


def batch_axes(y: Tensor) -> tuple[int, ...]:
    """Return every axis but the units'."""
    return tuple(axis for axis in range(y.ndim) if axis != 1)


def per_unit(value: Tensor, y: Tensor) -> Tensor:
    """Return one number for each unit, ``(unit,)``, so that it broadcasts against the batch."""
    return value.reshape([-1 if axis == 1 else 1 for axis in range(y.ndim)])


def widened(y: Tensor) -> Tensor:
    """Return a batch of half precision in float32, in which PyTorch takes its statistics too."""
    return y.float() if y.dtype in (torch.float16, torch.bfloat16) else y


def like_both(z: Tensor, y: Tensor, weight: Tensor) -> Tensor:
    """Return an output in the dtype that the batch and the parameters have in common."""
    return z.to(torch.promote_types(y.dtype, weight.dtype))


def number(name: str, value: float, words: str, is_right: Callable[[float], bool]) -> float:
    """Return a number that a layer is made with.

    Args:
        name: of the argument, for the message.
        value: what is given; a number of NumPy's is one.
        words: what is expected, such as "a number >= 0".
        is_right: whether a number is.

    Raises:
        TypeError: no number.
        ValueError: another one than is expected.
    """
    value = plain(value)
    if type(value) not in (int, float):
        raise TypeError(f"{name} is a {type(value).__name__}; expected {words}")
    if not is_right(value):
        raise ValueError(f"{name} = {value!r}; expected {words}")
    return value


def positive(name: str, value: float, of: str) -> float:
    """Return an epsilon, a finite number above zero, for what may not vary."""
    return number(name, value, f"a number > 0, for {of} that do not vary", lambda x: 0 < x < inf)


def share(name: str, value: float, words: str) -> float:
    """Return a number in [0, 1]."""
    return number(name, value, words, lambda x: 0 <= x <= 1)


def decay(name: str, value: float) -> float:
    """Return the weight of what was before in a moving average, which is below one."""
    return number(name, value, "a number in [0, 1)", lambda x: 0 <= x < 1)


def check_features(features: int) -> None:
    """Raise a ValueError unless this is how many units a layer may have."""
    if type(features) is not int or features < 1:
        raise ValueError(f"features = {features!r}; expected how many units, at least 1")


def check_batch(y: Tensor, features: int, layer: str, least: int = 1, letter: str = "y") -> None:
    """Raise an error unless there is a batch of floats, with enough entries for each unit.

    Args:
        y: what the layer is given.
        features: the units that it was made for.
        layer: its name, for the message.
        least: how many entries each unit needs.
        letter: by which the layer calls the batch.

    Raises:
        TypeError: no tensor, or not floating.
        ValueError: wrong rank, wrong number of units, or too few entries.
    """
    if not isinstance(y, Tensor):
        raise TypeError(f"{layer} was given a {type(y).__name__}; expected a tensor: convert it")
    given = f"{layer} was given {letter} of shape {tuple(y.shape)}"
    if not y.is_floating_point():
        raise TypeError(f"{given} and dtype {y.dtype}; expected floats: convert it")
    if y.ndim < 2 or y.shape[1] != features:
        raise ValueError(
            f"{given}; expected {features} units on axis 1, as (batch, unit) or (batch, channel, "
            f"height, width): reshape {letter}, or make the layer for another number of features"
        )
    entries = y.numel() // features
    if entries < least:
        # What takes one entry takes one in evaluation too.
        other = ", or call eval() to use the running statistics" if least > 1 else ""
        counted = "1 entry" if entries == 1 else f"{entries} entries"
        raise ValueError(
            f"{given}, so {counted} for each unit; expected at least {least}: give a larger batch"
            f"{other}"
        )

"""One examination of a subject: its outputs as NumPy arrays, or why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from verify.conform.adapters import Adapter, NotOffered
from verify.conform.cases import EXPANDED, Case
from verify.conform.modes import Mode, by_name
from verify.conform.oracle import PER_CHANNEL
from verify.conform.subject import Subject


@dataclass(frozen=True)
class Outcome:
    """What came of one mode at one case."""

    mode: str
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Values in float64."""
    dtypes: Mapping[str, str] = field(default_factory=dict)
    overwritten: tuple[str, ...] = ()
    """Inputs that were changed."""
    reason: str = ""
    """Why there are no outputs."""
    is_offered: bool = True
    """False where the mode is not to be had, rather than failed."""


class Bench(Protocol):
    """Where a subject is run: in this process or in another."""

    def outcomes(self, case: Case, modes: Iterable[str]) -> Iterator[Outcome]:
        """Yield what comes of each mode at a case, in order."""
        ...


class Here:
    """A bench in this process: for subjects that are values of this process."""

    def __init__(self, subject: Subject, adapter: Adapter):
        self._subject, self._adapter = subject, adapter

    def outcomes(self, case: Case, modes: Iterable[str]) -> Iterator[Outcome]:
        """Yield what comes of each mode at a case, in order."""
        for name in modes:
            yield examined(self._subject, self._adapter, case, by_name(name))


def examined(subject: Subject, adapter: Adapter, case: Case, mode: Mode) -> Outcome:
    """Return what comes of a mode at a case; whatever a layer raises is its reason."""
    try:
        arrays = _arrays(subject, adapter, case)
        before = {name: adapter.numpy(array) for name, array in arrays.items() if _is(array)}
        outputs = mode.compute(adapter, subject, arrays, case.eps)
        values = {name: adapter.numpy(array) for name, array in outputs.items() if _is(array)}
        dtypes = {name: adapter.dtype(array) for name, array in outputs.items() if _is(array)}
        after = {name: adapter.numpy(arrays[name]) for name in before}
    except NotOffered as reason:
        return Outcome(mode.name, reason=str(reason), is_offered=False)
    except Exception as error:
        return Outcome(mode.name, reason=_said(error))
    changed = tuple(n for n in before if not np.array_equal(before[n], after[n], equal_nan=True))
    return Outcome(mode.name, values, dtypes, changed)


def _arrays(subject: Subject, adapter: Adapter, case: Case) -> dict[str, Any]:
    arrays = {name: adapter.array(values, case.dtype) for name, values in case.inputs.items()}
    layout = case.stratum.layout
    if layout:
        layouts: Mapping[str, Any] = getattr(adapter, "layouts", dict)()
        if layout not in layouts:
            raise NotOffered(f"{adapter.name} has no layout {layout!r}")
        for name in ("g",) if layout == EXPANDED else ("x", "g", "u", "w"):
            arrays[name] = layouts[layout](arrays[name])
    if not subject.is_affine:
        arrays |= dict.fromkeys(PER_CHANNEL)
    return arrays


def _is(array: Any) -> bool:
    return array is not None


def _said(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__

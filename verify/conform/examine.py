"""One examination of a subject: its outputs as NumPy arrays, or why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from verify.conform.adapters import Adapter, NotOffered
from verify.conform.cases import EXPANDED, Case
from verify.conform.modes import Mode, by_name
from verify.conform.oracle import ENTRIES
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
    recorded: tuple[str, ...] = ()
    """Statistics that carry the tape of the step which they are of."""
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
        before = {name: adapter.numpy(array) for name, array in arrays.items()}
        outputs = mode.compute(adapter, subject, arrays, case.eps)
        given = {name: array for name, array in outputs.items() if array is not None}
        values = {name: _values(adapter, name, array) for name, array in given.items()}
        dtypes = {name: adapter.dtype(array) for name, array in given.items()}
        after = {name: adapter.numpy(arrays[name]) for name in before}
        is_recorded = getattr(adapter, "is_recorded", lambda _: False)
        recorded = tuple(name for name in mode.state if is_recorded(given[name]))
    except NotOffered as reason:
        return Outcome(mode.name, reason=str(reason), is_offered=False)
    except Exception as error:
        return Outcome(mode.name, reason=_said(error))
    if not values:
        return Outcome(mode.name, reason="returns None; expected an array")
    changed = tuple(n for n in before if not np.array_equal(before[n], after[n], equal_nan=True))
    return Outcome(mode.name, values, dtypes, changed, recorded)


def _arrays(subject: Subject, adapter: Adapter, case: Case) -> dict[str, Any]:
    arrays = {name: adapter.array(values, case.dtype) for name, values in case.inputs.items()}
    layout = case.stratum.layout
    if layout:
        layouts: Mapping[str, Any] = getattr(adapter, "layouts", dict)()
        stored = layouts.get("expanded" if layout in EXPANDED else layout)
        if stored is None:
            raise NotOffered(f"{adapter.name} has no layout {layout!r}")
        for name in (EXPANDED[layout],) if layout in EXPANDED else ENTRIES:
            arrays[name] = stored(arrays[name])
    return arrays


def _values(adapter: Adapter, name: str, array: Any) -> np.ndarray:
    try:
        return adapter.numpy(array)
    except Exception:
        raise TypeError(
            f"{name} is a {type(array).__name__}; expected an array of {adapter.name}"
        ) from None


def _said(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__

"""One examination of a subject: its outputs as NumPy arrays, or why there are none."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np

from verify.conform.adapters import Adapter, NotOffered
from verify.conform.cases import NO_GAMMA, OF_SOME, Case
from verify.conform.modes import FORWARD, Mode, by_name
from verify.conform.oracle import ENTRIES
from verify.conform.refusals import is_refusal, place
from verify.conform.subject import Subject


@dataclass(frozen=True)
class Outcome:
    """What came of one mode at one case."""

    mode: str
    outputs: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Values in float64."""
    dtypes: Mapping[str, str] = field(default_factory=dict)
    overwritten: tuple[str, ...] = ()
    """Inputs that were changed, and what else outlives the call."""
    shared: tuple[str, ...] = ()
    """Inputs whose memory an output is."""
    recorded: tuple[str, ...] = ()
    """Statistics that carry the tape of the step which they are of."""
    reason: str = ""
    """Why there are no outputs."""
    is_crash: bool = False
    """Whether that is an error, and no refusal."""


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
    state = _state(adapter)
    if case.stratum.change == NO_GAMMA:
        subject = _without_gamma(subject)
    try:
        arrays = _arrays(subject, adapter, case)
        before = {name: adapter.numpy(array) for name, array in arrays.items()}
        outputs = mode.compute(adapter, subject, arrays, case.eps)
        given = {name: array for name, array in outputs.items() if array is not None}
        values = {name: _values(adapter, name, array) for name, array in given.items()}
        dtypes = {name: adapter.dtype(array) for name, array in given.items()}
        after = {name: _left(adapter, arrays[name]) for name in before}
        is_recorded = getattr(adapter, "is_recorded", lambda _: False)
        recorded = tuple(name for name in mode.state if is_recorded(given[name]))
        left = _state(adapter)
        shared = _shared(adapter, given, arrays) if mode is FORWARD else ()
    except NotOffered as reason:
        return Outcome(mode.name, reason=str(reason))
    except Exception as error:
        is_crash = not is_refusal(error, mode, getattr(adapter, "refusals", ()))
        return Outcome(mode.name, reason=_said(error, is_crash), is_crash=is_crash)
    finally:
        getattr(adapter, "restore", lambda _: None)(state)
    if not values:
        return Outcome(mode.name, reason="returns None; expected an array")
    changed = tuple(n for n in before if not _is_left(before[n], after[n]))
    changed += tuple(name for name in state if not _is_same(state[name], left[name]))
    return Outcome(mode.name, values, dtypes, changed, shared, recorded)


def _without_gamma(subject: Subject) -> Subject:
    """Return a layer that is called without gamma, whatever it is given, and with beta."""
    layer = subject.layer
    return replace(subject, layer=lambda x, _, beta, eps: layer(x, None, beta, eps))


def _left(adapter: Adapter, array: Any) -> np.ndarray | None:
    """Return an input's values after the call; None where they are gone, as of a donated one."""
    try:
        return adapter.numpy(array)
    except Exception:
        return None


def _is_left(before: np.ndarray, after: np.ndarray | None) -> bool:
    # Bit by bit: a NaN that is left as it was is the same.
    return after is not None and before.tobytes() == after.tobytes()


def _state(adapter: Adapter) -> dict[str, Any]:
    """Return what a layer must leave as it was, beside its inputs."""
    found: dict[str, Any] = getattr(adapter, "state", dict)()
    return found


def _shared(adapter: Any, outputs: Mapping[str, Any], arrays: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the inputs that an output is memory of, as far as the framework tells."""
    shares = getattr(adapter, "shares", lambda *_: False)
    return tuple(
        n for n, array in arrays.items() if any(shares(z, array) for z in outputs.values())
    )


def _is_same(before: Any, after: Any) -> bool:
    return bool(np.all(np.asarray(before == after)))


def _arrays(subject: Subject, adapter: Adapter, case: Case) -> dict[str, Any]:
    arrays = {name: adapter.array(values, case.dtype) for name, values in case.inputs.items()}
    layout = case.stratum.layout
    if layout:
        layouts: Mapping[str, Any] = getattr(adapter, "layouts", dict)()
        stored = layouts.get(case.stratum.stored_as)
        if stored is None:
            raise NotOffered(f"{adapter.name} has no layout {layout!r}")
        for name in stored_so(layout):
            arrays[name] = stored(arrays[name])
    return arrays


def stored_so(layout: str) -> tuple[str, ...]:
    """Return the arrays that a layout is of."""
    return OF_SOME[layout][1] if layout in OF_SOME else ENTRIES


def _values(adapter: Adapter, name: str, array: Any) -> np.ndarray:
    try:
        return adapter.numpy(array)
    except Exception:
        raise TypeError(
            f"{name} is a {type(array).__name__}; expected an array of {adapter.name}"
        ) from None


def _said(error: Exception, is_crash: bool) -> str:
    lines = str(error).strip().splitlines()
    said = f"{type(error).__name__}: {lines[0]}" if lines else type(error).__name__
    at = place(error) if is_crash else ""
    return f"{said} ({at})" if at else said

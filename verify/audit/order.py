"""What to audit, by names: what a command or a process elsewhere is told."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from inspect import isclass
from math import inf
from pathlib import Path
from pickle import UnpicklingError
from typing import Any

import torch
from torch import nn
from torch.utils._pytree import tree_map_only

from verify.audit.auditing import COSTLY, LOOKED_INTO, MOST_BATCHES, audit
from verify.audit.clock import Tell
from verify.audit.errors import AuditError, raised_by, told
from verify.audit.normalizations import DECLARED
from verify.audit.report import Report
from verify.targets import load

PARALLEL = "module."
"""What names begin with that DataParallel has saved."""
CROSS_ENTROPY = "torch.nn.functional:cross_entropy"


@dataclass(frozen=True)
class Order:
    """A network, its batches and its loss, as targets that :func:`verify.targets.load` finds."""

    model: str
    data: str
    loss: str = CROSS_ENTROPY
    checkpoint: Path | None = None
    device: str = ""
    layers: tuple[str, ...] = ()
    """Patterns of names."""
    declared: tuple[str, ...] = ()
    """Like ``LlamaRMSNorm=rms``."""
    budget: float = inf
    """Seconds, about."""
    batches: int = MOST_BATCHES
    costly: int = COSTLY
    entries: int = LOOKED_INTO


def audited(order: Order, tell: Tell | None = None) -> Report:
    """Return the report on what an order names.

    Raises:
        AuditError: it cannot be audited, or what is named raised something.
        TargetError: a target names nothing.
    """
    try:
        network = _network(order.model, order.checkpoint, order.device)
        for declaration in order.declared:
            _declare(network, declaration)
        return audit(
            network,
            batches=_pairs(order.data, order.device),
            loss=_loss(order.loss),
            layers=list(order.layers),
            budget=order.budget,
            most=order.batches,
            costly=order.costly,
            entries=order.entries,
            tell=tell,
        )
    except Exception as error:
        if sentence := told(error):
            raise AuditError(sentence) from error
        raise


def _network(target: str, checkpoint: Path | None, device: str) -> nn.Module:
    network = _made(target)
    if not isinstance(network, nn.Module):
        raise AuditError(f"{target} gives {type(network).__name__}; expected a torch.nn.Module")
    if checkpoint is not None:
        _restore(network, checkpoint)
    if not device:
        return network
    try:
        return network.to(device)
    except (RuntimeError, AssertionError) as error:
        raise AuditError(f"cannot use the device {device!r}: {error}") from error


def _made(target: str) -> Any:
    """Return what a target names, or what that makes."""
    found = load(target)
    if isinstance(found, nn.Module) or not callable(found):
        return found
    with raised_by(target):
        return found()


def _loss(target: str) -> Any:
    """Return the function that a target names, or an instance of the class that it names."""
    return _made(target) if isclass(load(target)) else load(target)


def _declare(network: nn.Module, declaration: str) -> None:
    name, _, kind = declaration.partition("=")
    if kind not in DECLARED:
        expected = " or ".join(f"--as {name}={known}" for known in DECLARED)
        raise AuditError(f"--as {declaration}: expected {expected}")
    found = [m for m in network.modules() if name in (type(m).__name__, _path(type(m)))]
    if not found:
        classes = sorted({type(m).__name__ for m in network.modules()})
        raise AuditError(
            f"--as {declaration}: the model has no {name}; it has {', '.join(classes)}"
        )
    for module in found:
        module.normalizes = kind  # type: ignore[assignment]


def _path(kind: type) -> str:
    return f"{kind.__module__}.{kind.__qualname__}"


def _restore(network: nn.Module, checkpoint: Path) -> None:
    try:
        with warnings.catch_warnings(action="ignore"):  # of how others pickle
            state: Any = torch.load(checkpoint, map_location="cpu", weights_only=True)
    except (UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        raise AuditError(
            f"{checkpoint} holds no state_dict: write it by torch.save(model.state_dict(), ...);"
            " nothing else of a file is read, since it could run code"
        ) from error
    for key in ("state_dict", "model", "model_state_dict"):
        if isinstance(state, dict) and isinstance(state.get(key), dict):
            state = state[key]
    if isinstance(state, dict) and all(str(name).startswith(PARALLEL) for name in state):
        state = {name.removeprefix(PARALLEL): value for name, value in state.items()}
    try:
        network.load_state_dict(state)
    except (RuntimeError, TypeError, AttributeError) as error:
        raise AuditError(f"{checkpoint} is not of this model: {error}") from error


def _pairs(target: str, device: str) -> Iterator[tuple[Any, Any]]:
    made = _made(target)
    is_one = isinstance(made, tuple | list) and len(made) == 2
    if is_one and isinstance(made[0], torch.Tensor | Mapping):
        made = [made]
    if not isinstance(made, Iterable):
        raise AuditError(f"the data are {type(made).__name__}; expected pairs (inputs, targets)")
    with raised_by(target):
        for pair in made:
            yield tree_map_only(torch.Tensor, lambda x: x.to(device), pair) if device else pair

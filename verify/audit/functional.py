"""Functions of ``torch.nn.functional`` that a forward pass calls, by the modules that call them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import nn
from torch.overrides import TorchFunctionMode
from torch.utils.hooks import RemovableHandle

NORMALIZATIONS = ("batch_norm", "group_norm", "instance_norm", "layer_norm", "rms_norm")
MAPS = ("linear", "conv1d", "conv2d", "conv3d")
FUNCTIONS = {
    getattr(place, name): name
    for name in (*NORMALIZATIONS, *MAPS)
    for place in (torch, nn.functional)
    if hasattr(place, name)
}
"""Their names; some are in ``torch`` as well."""
Meet = Callable[[nn.Module | None, str, Sequence[Any], dict[str, Any]], None]
"""Is told the innermost module of a model that runs, a function's name and its arguments."""


@contextmanager
def followed(model: nn.Module, meet: Meet) -> Iterator[None]:
    """Tell of each normalisation, linear map and convolution that is called as a function.

    >>> met, model = [], nn.Sequential(nn.Linear(2, 2), nn.ReLU())
    >>> with followed(model, lambda module, name, *_: met.append((type(module).__name__, name))):
    ...     _ = nn.functional.layer_norm(model(torch.ones(1, 2)), [2])
    >>> met
    [('Linear', 'linear'), ('NoneType', 'layer_norm')]
    """
    running: list[nn.Module] = []
    followable = (m for m in model.modules() if not isinstance(m, torch.jit.ScriptModule))
    handles = [handle for module in followable for handle in _hooks(module, running)]
    try:
        with _Followed(lambda *call: meet(running[-1] if running else None, *call)):
            yield
    finally:
        for handle in handles:
            handle.remove()


def _hooks(module: nn.Module, running: list[nn.Module]) -> Iterator[RemovableHandle]:
    """Keep a module among those that run while it does, copies of it as itself."""

    def begin(*_: Any) -> None:
        running.append(module)

    def end(*_: Any) -> None:
        if running and running[-1] is module:  # another thread may run it too
            running.pop()

    yield module.register_forward_pre_hook(begin, prepend=True)
    yield module.register_forward_hook(end, always_call=True)


class _Followed(TorchFunctionMode):
    def __init__(self, meet: Callable[[str, Sequence[Any], dict[str, Any]], None]) -> None:
        super().__init__()
        self._meet = meet

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        if (name := FUNCTIONS.get(func)) is not None:
            self._meet(name, args, kwargs or {})
        return func(*args, **(kwargs or {}))

"""A model that is looked at and left as it was.

Kept are every module's mode, buffers, gradients, which parameters learn, and the states of the
random number generators: PyTorch's, of every device, Python's, NumPy's and the modules' own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
import torch
from torch import Tensor, nn

Undo = Callable[[], None]


@contextmanager
def preserved(model: nn.Module) -> Iterator[Undo]:
    """Give a function that takes buffers and random numbers back to where they were.

    Called between two passes it makes them the same function of the parameters.  At the end, or
    when something raises, all is put back.

    >>> layer = nn.BatchNorm1d(1).eval()
    >>> with preserved(layer):
    ...     _ = layer.train()(torch.tensor([[1.0], [3.0]]))
    >>> layer.training, layer.running_mean.tolist()
    (False, [0.0])
    """
    modes = [(module, module.training) for module in model.modules()]
    learns = [(p, p.requires_grad) for p in model.parameters()]
    gradients = [(p, p.grad) for p in model.parameters()]
    forget, redraw = _of_buffers(model), _of_generators(model)
    # Set aside rather than copied: nobody else can write into them meanwhile.
    for parameter, _ in gradients:
        parameter.grad = None

    def rewind() -> None:
        forget()
        redraw()

    try:
        yield rewind
    finally:
        rewind()
        for module, mode in modes:
            module.training = mode
        for parameter, is_learning in learns:
            parameter.requires_grad_(is_learning)
        for parameter, gradient in gradients:
            parameter.grad = gradient


def _of_buffers(model: nn.Module) -> Undo:
    kept: list[tuple[nn.Module, str, Tensor, Tensor]] = [
        (module, name, buffer, buffer.detach().clone())
        for module in model.modules()
        for name, buffer in module.named_buffers(recurse=False)
    ]

    @torch.no_grad()
    def undo() -> None:
        for module, name, buffer, value in kept:
            buffer.copy_(value)
            module._buffers[name] = buffer

    return undo


def _of_generators(model: nn.Module) -> Undo:
    own = (v for module in model.modules() for v in vars(module).values())
    generators = [(g, g.get_state()) for g in own if isinstance(g, torch.Generator)]
    cpu, python, numpy = torch.get_rng_state(), random.getstate(), np.random.get_state()  # noqa: NPY002
    devices = torch.cuda.get_rng_state_all() if torch.cuda.is_available() else []

    def undo() -> None:
        torch.set_rng_state(cpu)
        random.setstate(python)
        np.random.set_state(numpy)  # noqa: NPY002
        if devices:
            torch.cuda.set_rng_state_all(devices)
        for generator, state in generators:
            generator.set_state(state)

    return undo

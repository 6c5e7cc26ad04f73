"""A model that is looked at and left as it was.

Kept are every module's mode, buffers, gradients, which parameters learn, and the states of the
random number generators: PyTorch's, of every device, Python's, NumPy's and the modules' own.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
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
    (copy, put_back), redraw = _of_buffers(model), _of_generators(model)
    # Set aside rather than copied: nobody else can write into them meanwhile.
    for parameter, _ in gradients:
        parameter.grad = None

    def rewind() -> None:
        copy()
        redraw()

    try:
        rewind()
        yield rewind
    finally:
        for module, mode in modes:
            module.training = mode
        for parameter, is_learning in learns:
            if parameter.requires_grad != is_learning:
                parameter.requires_grad_(is_learning)
        for parameter, gradient in gradients:
            parameter.grad = gradient
        redraw()
        put_back()


def _of_buffers(model: nn.Module) -> tuple[Undo, Undo]:
    """Return what gives a model copies of its buffers, and what gives it its own ones again.

    Its own are not written into: a graph that was built before may need them as they are.
    """
    kept = [(module._buffers, dict(module._buffers.items())) for module in model.modules()]
    own = {id(b): b for _, buffers in kept for b in buffers.values() if b is not None}
    values = {key: buffer.detach().clone() for key, buffer in own.items()}

    def give(made: Mapping[int, Tensor]) -> None:
        for buffers, before in kept:
            for name in [*buffers.keys()]:
                if name not in before:
                    del buffers[name]
            for name, buffer in before.items():
                buffers[name] = None if buffer is None else made[id(buffer)]

    def copy() -> None:
        give({key: value.clone() for key, value in values.items()})

    @torch.no_grad()
    def put_back() -> None:
        give(own)
        for key, buffer in own.items():
            if not _is_same(buffer, values[key]):  # somebody else holds it, and wrote into it
                buffer.copy_(values[key])

    return copy, put_back


def _is_same(one: Tensor, other: Tensor) -> bool:
    """Whether two tensors hold the same, as far as that can be asked of their kind."""
    if one.layout is not torch.strided or one.is_quantized:
        return True
    return bool(((one == other) | ((one != one) & (other != other))).all())


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

r"""The loss of a model on one batch as a function of its parameters, taken as one vector.

.. math:: x \mapsto L(f_x(\text{inputs}), \text{targets}), \qquad x \in \mathbb{R}^n

All measures of a landscape are plain vector calculus on this function, in float64, since small
steps change a gradient by less than the rounding of float32.  The model itself is left as it was:
parameters, gradients, buffers (running statistics), training mode, random numbers.

Index convention: x holds the trainable parameters in the order of ``model.named_parameters()``,
each flattened.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from copy import deepcopy
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

Loss = Callable[[Any, Tensor], Tensor]
"""From the model's outputs and the targets to a scalar."""


class Objective:
    """The loss of a model on one batch, as a function of the vector of its parameters.

    The model is copied to float64, in its present mode: in training mode a batch norm layer uses
    the batch's statistics, whatever the parameters are.  Every evaluation starts from the same
    buffers and from the same random numbers, so that noise and dropout are one fixed draw and the
    function is one function.

    Args:
        model: in training mode where training is to be measured; one that float64 passes through.
        inputs: the batch that the model is called with, floats in float64.
        targets: the loss's second argument, floats in float64.
        loss: from (outputs, targets) to a scalar; must not read the model.

    Raises:
        ValueError: nothing is trainable, or parameters differ in dtype or device.
    """

    def __init__(self, model: nn.Module, inputs: Tensor, targets: Tensor, loss: Loss) -> None:
        trainable = {n: p for n, p in model.named_parameters() if p.requires_grad}
        if not trainable:
            raise ValueError("the model has no parameter that requires a gradient; unfreeze some")
        kinds = {(p.dtype, p.device) for p in trainable.values()}
        if len(kinds) > 1:
            raise ValueError(
                f"the parameters are of several kinds, {sorted(map(str, kinds))}; bring the model "
                "to one dtype and one device with model.to(...)"
            )
        self._model = deepcopy(model).double()
        self._inputs, self._targets, self._loss = in_double(inputs), in_double(targets), loss
        self._shapes = {name: p.shape for name, p in trainable.items()}
        self.point = torch.cat([p.detach().flatten() for p in trainable.values()]).double()
        """The parameters at the time, of shape (n,), in float64."""
        self._generators = [(g, g.get_state()) for g in _generators(self._model)]
        with self._forked():
            # From the state of the global generator, which it does not advance.
            self._seed = int(torch.randint(2**31, ()))
        self._places = _places(trainable)

    def gradient(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss at x, a scalar, and its gradient, of shape (n,), both in float64.

        What the loss does not depend on has the gradient zero.

        Args:
            x: parameters, of shape (n,).

        Raises:
            TypeError: the model or the loss has numbers of another dtype, which float64 meets.
            ValueError: x has another shape, or the loss is no scalar or knows no gradient.
        """
        x = x.detach().double().requires_grad_()
        value = self._value(x)
        (gradient,) = torch.autograd.grad(value, x, materialize_grads=True)
        return value.detach(), gradient

    def part(self, module: nn.Module) -> Tensor:
        """Return where the parameters of a part of the model lie in x, as indices.

        Args:
            module: of the model that the objective was made from.

        Raises:
            ValueError: it has a trainable parameter that the model has not, or has none.
        """
        own = [p for p in module.parameters() if p.requires_grad]
        if not own or any(id(p) not in self._places for p in own):
            raise ValueError(
                f"{type(module).__name__} has no trainable parameter, or one that is not the "
                "model's; name parts of the model itself, with parameters"
            )
        return torch.cat([self._places[id(p)] for p in own]).to(self.point.device)

    def _value(self, x: Tensor) -> Tensor:
        if x.shape != self.point.shape:
            raise ValueError(f"x has shape {tuple(x.shape)}; give {tuple(self.point.shape)}")
        sizes = [shape.numel() for shape in self._shapes.values()]
        buffers = {name: buffer.clone() for name, buffer in self._model.named_buffers()}
        with self._same_random_numbers(), torch.enable_grad(), _advising():
            parameters = {
                name: part.reshape(shape)
                for (name, shape), part in zip(self._shapes.items(), x.split(sizes), strict=True)
            }
            outputs = functional_call(self._model, {**parameters, **buffers}, (self._inputs,))
            value = self._loss(outputs, self._targets)
        if value.ndim > 0 or not value.requires_grad:
            raise ValueError(
                f"the loss has shape {tuple(value.shape)} and a gradient: {value.requires_grad}; "
                "give one that returns a scalar and depends on the parameters"
            )
        return value

    def _forked(self) -> AbstractContextManager[None]:
        return torch.random.fork_rng([self.point.device] if self.point.is_cuda else [])

    @contextmanager
    def _same_random_numbers(self) -> Iterator[None]:
        with self._forked():
            # Not torch.manual_seed, which seeds the devices that were not forked as well.
            torch.default_generator.manual_seed(self._seed)
            if self.point.is_cuda:
                torch.cuda.default_generators[self.point.get_device()].manual_seed(self._seed)
            for generator, state in self._generators:
                generator.set_state(state)
            yield


def in_double(batch: Any) -> Any:
    """Return floats in float64, and what else a model or a loss may take, as labels, as it is."""
    return batch.double() if isinstance(batch, Tensor) and batch.is_floating_point() else batch


@contextmanager
def _advising() -> Iterator[None]:
    """Say what float64 has met where PyTorch says that dtypes differ."""
    try:
        yield
    except RuntimeError as error:
        if not any(words in str(error) for words in ("dtype", "scalar type", "Input type")):
            raise
        raise TypeError(
            "the model and the batch are measured in float64, and the model or the loss has "
            f"tensors of another dtype ({error}); expected ones that follow the dtype of what they "
            "are given: register them as buffers, or cast them to it"
        ) from error


def _generators(model: nn.Module) -> list[torch.Generator]:
    """Return the generators that modules keep for themselves."""
    kept = (value for module in model.modules() for value in vars(module).values())
    return [value for value in kept if isinstance(value, torch.Generator)]


def _places(parameters: dict[str, nn.Parameter]) -> dict[int, Tensor]:
    """Return where each parameter lies in the vector, by its identity."""
    places, start = {}, 0
    for parameter in parameters.values():
        places[id(parameter)] = torch.arange(start, start + parameter.numel())
        start += parameter.numel()
    return places

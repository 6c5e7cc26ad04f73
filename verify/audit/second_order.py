r"""Second derivatives of the loss, by Hessian-vector products, at some units of some layers.

The gradients in what layers are given and give back are computed once, with their graph; each
product is then one more backward pass through the layers that come after.  For a unit with the
gradient w, one pass gives both H applied to the layer's image of w, and the Hessian of the network
with the layer applied to w.

A place is where a tensor was when its layer was called: what later overwrites it in place does not
matter.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.graph import GradientEdge, get_gradient_edge
from torch.nn.attention import SDPBackend, sdpa_kernel
from torch.utils.checkpoint import CheckpointError

from verify.audit import normalizations, units
from verify.audit.constant_weights import ConstantWeights, WeightsNeededError
from verify.audit.first_order import Run, apart, of_its_own
from verify.audit.hooks import Modules, hooked
from verify.audit.normalizations import Normalization, as_given_back, overridden
from verify.audit.units import Pair

VECTORS = ("one", "yhat", "g", "w", "H", "hessian")


@dataclass
class _Place:
    """The run of a layer that is looked at."""

    normalization: Normalization
    y: Tensor
    before: GradientEdge
    after: GradientEdge | None = None


def second_order(run: Run, norms: Modules, maps: Modules, first: Mapping[str, int]) -> SecondOrder:
    """Return a pass with cheap convolutions, or PyTorch's where these do not serve.

    Checkpointed parts are run again by the backward pass, outside of any context of ours; and a
    loss may have a gradient in weights in it.

    Raises:
        RuntimeError: as :class:`SecondOrder`.
    """
    try:
        return SecondOrder(run, norms, maps, first)
    except (CheckpointError, WeightsNeededError):
        return SecondOrder(run, norms, maps, first, nullcontext)


class SecondOrder:
    """A pass over the model that can be differentiated once more.

    Args:
        run: runs the model and returns its loss.
        norms: normalisation layers by name.
        maps: linear and convolution layers by name.
        first: the number of the run that is looked at, by the layer's name.
        convolutions: makes the context in which the model runs.

    Raises:
        RuntimeError: an operation of the model has no second derivative, in PyTorch's words.
    """

    def __init__(
        self,
        run: Run,
        norms: Modules,
        maps: Modules,
        first: Mapping[str, int],
        convolutions: Callable[[], AbstractContextManager[Any]] = ConstantWeights,
    ) -> None:
        self._places: dict[str, _Place] = {}
        self._outputs: dict[str, GradientEdge] = {}
        self._inputs: dict[str, tuple[Tensor, int]] = {}
        with (
            hooked(norms, self._given, self._gave, only=first),
            hooked(maps, None, self._mapped, only=first),
            convolutions(),
            _attention(),
        ):
            loss = run()
        self._edges: dict[tuple[str, str], GradientEdge] = {}
        for name, place in self._places.items():
            self._edges[name, "before"] = place.before
            if place.after is not None:
                self._edges[name, "after"] = place.after
        self._edges |= {(name, "output"): edge for name, edge in self._outputs.items()}
        found: tuple[Tensor | None, ...] = ()
        if self._edges:
            with _attention():
                found = torch.autograd.grad(
                    loss, list(self._edges.values()), create_graph=True, allow_unused=True
                )
        self._gradients: dict[tuple[str, str], Tensor | None] = dict(
            zip(self._edges, found, strict=True)
        )
        _check_differentiable(found)
        self.inputs = {
            name: None if _version(given) != version else given
            for name, (given, version) in self._inputs.items()
        }
        """What each map was given, None where it is overwritten later in the pass."""

    def unit(self, name: str, unit: int) -> Mapping[Pair, float] | None:
        """Return the inner products of a unit's vectors, second derivatives along w included.

        Args:
            name: of a normalisation layer.
            unit: its number.

        Returns:
            None where the loss does not depend on the layer.
        """
        place, w = self._places.get(name), self._gradients.get((name, "before"))
        g = self._gradients.get((name, "after"))
        if place is None or w is None or g is None:
            return None
        layout = place.normalization
        direction = torch.zeros(layout.arranged, dtype=w.dtype, device=w.device)
        direction[:, unit] = layout.rearranged(w.detach())[:, unit]
        image, hessian = self._times(w, layout.put_back(direction), (name, "after", "before"))
        own = layout.rearranged(place.y)[:, unit].double().flatten()
        centred = units.centred(own.clone(), (0,)) if layout.is_centred else own
        sigma = (centred.square().mean() + layout.eps).sqrt()
        vectors = {
            "one": torch.ones_like(own),
            "yhat": centred / sigma,
            "g": self._of_unit(layout, layout.before_affine(g.detach()), unit),
            "w": self._of_unit(layout, w.detach(), unit),
            "H": self._of_unit(layout, layout.before_affine(image), unit),
            "hessian": self._of_unit(layout, hessian, unit),
        }
        pairs = [(a, b) for i, a in enumerate(VECTORS) for b in VECTORS[i:]]
        return {
            (a, b): float(vectors[a] @ vectors[b]) for a, b in pairs if (a, b) != ("one", "one")
        }

    def batch(self, name: str, unit: int) -> tuple[Tensor, Tensor]:
        """Return a unit's batch and the gradient in its output, ``(m,)``, in float64."""
        place, g = self._places[name], self._gradients[name, "after"]
        layout = place.normalization
        assert g is not None
        given = layout.before_affine(g.detach())
        return self._of_unit(layout, place.y, unit), self._of_unit(layout, given, unit)

    def after(self, name: str, unit: int, vectors: Tensor) -> Tensor:
        """Return the loss's Hessian in a unit's output, applied to vectors, ``(m, vector)``."""
        g, layout = self._gradients[name, "after"], self._places[name].normalization
        assert g is not None
        found = []
        for vector in vectors.mT:
            direction = torch.zeros(layout.arranged, dtype=g.dtype, device=g.device)
            of_unit = direction[:, unit]
            of_unit.copy_(vector.reshape(of_unit.shape))
            (image,) = self._times(g, layout.put_back(direction), (name, "after"))
            found.append(self._of_unit(layout, image, unit))
        return torch.stack(found, dim=1)

    def output(self, name: str, vector: Tensor) -> Tensor:
        """Return the loss's Hessian in a map's output, applied to a vector of its shape."""
        g = self._gradients[name, "output"]
        if g is None:
            return torch.zeros_like(vector)
        return self._times(g, vector, (name, "output"))[0]

    def gradient(self, name: str) -> Tensor | None:
        """Return the gradient in a map's output."""
        found = self._gradients.get((name, "output"))
        return None if found is None else found.detach()

    def _times(self, gradient: Tensor, vector: Tensor, at: tuple[str, ...]) -> list[Tensor]:
        name, *places = at
        if not gradient.requires_grad:
            return [torch.zeros_like(vector) for _ in places]
        edges = [self._edges[name, place] for place in places]
        with _attention():
            found = torch.autograd.grad(
                (gradient * vector).sum(), edges, retain_graph=True, allow_unused=True
            )
        return [torch.zeros_like(vector) if f is None else f.detach() for f in found]

    @staticmethod
    def _of_unit(layout: Normalization, batch: Tensor, unit: int) -> Tensor:
        return layout.rearranged(batch)[:, unit].double().flatten()

    def _given(self, name: str, module: nn.Module, y: Tensor) -> Tensor:
        own, layout = of_its_own(y), normalizations.of(module, y)
        self._places[name] = _Place(layout, own.detach(), get_gradient_edge(own))
        return own

    def _gave(self, name: str, module: nn.Module, _: Tensor, output: Any) -> Tensor | None:
        place = self._places[name]
        if not isinstance(output, Tensor) or not output.requires_grad:
            return None
        own = apart(output)
        place.after = get_gradient_edge(own)
        if overridden(module):
            found = as_given_back(place.normalization, place.y, own)
            place.normalization = found or place.normalization
        return own

    def _mapped(self, name: str, _: nn.Module, inputs: Tensor, output: Tensor) -> Tensor:
        # Of the first layer, whose weights are constant here, nothing would be differentiated.
        own = apart(output) if output.requires_grad else output.detach().requires_grad_().clone()
        self._outputs[name] = get_gradient_edge(own)
        self._inputs[name] = inputs.detach(), _version(inputs)
        return own


def _version(tensor: Tensor) -> int:
    """Return how often a tensor was written into; one of inference mode does not tell."""
    return 0 if tensor.is_inference() else tensor._version


def _attention() -> AbstractContextManager[None]:
    """Return the context of attention that has a second derivative.

    It is that of backward passes as well, in which checkpointed parts of a model run again.
    """
    found: AbstractContextManager[None] = sdpa_kernel(SDPBackend.MATH)
    return found


def _check_differentiable(gradients: Sequence[Tensor | None]) -> None:
    """Raise an error where an operation has no second derivative.

    PyTorch raises one only on a path to what is asked for, and what has no derivative is on none:
    the part of the Hessian behind it would be zero without a word.
    """
    waiting = [g.grad_fn for g in gradients if g is not None and g.grad_fn is not None]
    met = set(waiting)
    while waiting:
        node = waiting.pop()
        if "Error" in node.name() or "NotImplemented" in node.name():
            raise RuntimeError("an operation of the model is marked as once_differentiable")
        for other, _ in node.next_functions:
            if other is not None and other not in met:
                met.add(other)
                waiting.append(other)

r"""Batch Normalization Preconditioning (BNP) for models of PyTorch.

Two lines in a training loop that stays as it is otherwise, for any optimiser::

    bnp = BNP(model)                    # once the model is built
    for inputs, targets in batches:
        optimizer.zero_grad()
        loss(model(inputs), targets).backward()
        bnp.precondition()              # the gradients, in place
        optimizer.step()

or, with no change of the loop, ``BNP(model).attach(optimizer)``.

Every linear and 2-dimensional convolution layer is preconditioned, the first and the last too:
Algorithm 2 is for "the l-th dense layer" with :math:`h^{(0)}` the network's input.  Choose others
by ``layers``.  The network itself is not changed; in evaluation mode it stays what it is.

What the rest of a training loop meets:

- *Batch size 1* works.  All batches since the last step count as one batch: gradients that are
  accumulated, and a layer that is called twice in one forward pass.
- *Evaluation mode*: the running statistics stay as they are and are still used.  Without gradients
  (``torch.no_grad``) and in frozen layers nothing is collected.  After a forward pass that no step
  follows, or a step that a gradient scaler skipped, call :meth:`BNP.forget`.
- *No bias, no gradient, groups*: see :mod:`theory.nn.preconditioned_gradients`.  A layer without
  gradients is left alone.
- *A shared weight* has one preconditioner, from the batches of all its layers, as its Hessian has.
  Layers that share a weight but not the bias, or with something else, are refused.
- *Mixed precision*: statistics and the change are in float32 at least, gradients keep their dtype.
- *Clipping* comes after preconditioning or before it, as the caller has it; *weight decay* of an
  optimiser is added after it.
- *Several processes* (``torch.distributed``): statistics are those of all batches together, as
  gradients are under ``DistributedDataParallel``.
- *Activation checkpointing* runs layers twice; without ``use_reentrant=True`` they count twice
  in N.  Transforms of ``torch.func`` are to be given a model without hooks.
- *Copies*: ``deepcopy((model, bnp))`` copies both, tied to each other; attach to an optimiser anew.
  A model that was copied, or saved, alone has the hooks of no BNP: ``BNP.release(model)``.

Source: Lange, Helfrich and Ye 2022, Algorithms 2 and 3.

>>> model = nn.Sequential(nn.Linear(2, 1))
>>> bnp = BNP(model, rho=0.0, eps_1=0.0, eps_2=0.0)  # the batch's own statistics
>>> model(torch.tensor([[0.0, 2.0], [0.0, 4.0]]) + torch.tensor([[1.0], [3.0]])).sum().backward()
>>> model[0].weight.grad, model[0].bias.grad  # means 2 and 5, deviations 1 and 2
(tensor([[ 4., 10.]]), tensor([2.]))
>>> bnp.precondition()  # columns centred: nothing is left for the weights, nor for the bias's share
>>> model[0].weight.grad, model[0].bias.grad
(tensor([[0., 0.]]), tensor([2.]))
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from math import inf, isfinite
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim import Optimizer
from torch.utils.hooks import RemovableHandle

from theory.bnp import check
from theory.guard import plain
from theory.nn import preconditioned_gradients
from theory.nn.batch_statistics import BatchStatistics
from theory.nn.layer_preconditioner import LayerPreconditioner
from theory.nn.preconditionable_layers import left_out, preconditionable
from theory.nn.preconditioned_gradients import Constants, Matrices

Met = tuple[LayerPreconditioner, BatchStatistics]


class BNP:
    r"""Batch Normalization Preconditioning of a model's layers.

    Args:
        model: whose gradients are to be preconditioned.
        layers: modules of the model; None for all its linear and 2-dimensional convolution
            layers, with one warning that names the others that have a matrix of weights.
        eps_1: :math:`\epsilon_1 \ge 0`, relative to the largest variance of a layer.
        eps_2: :math:`\epsilon_2 \ge 0`.
        rho: of the running statistics, in [0, 1]; 0 for those of the batch alone.
        compiled: whether the gradients are changed by code that PyTorch compiles in the first step,
            which takes it seconds.  A CPU needs a C++ compiler for it, a GPU Triton.

    Raises:
        TypeError: no module, no list of layers, or one that is neither linear nor a 2-dimensional
            convolution, or not of floats.
        ValueError: a constant is out of its range; the layers are not as
            :func:`~theory.nn.preconditionable_layers.preconditionable` needs them; one of them
            has a BNP already.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        layers: Iterable[nn.Module] | None = None,
        eps_1: float = 1e-2,
        eps_2: float = 1e-4,
        rho: float = 0.99,
        compiled: bool = False,
    ) -> None:
        eps_1, eps_2, rho = map(plain, (eps_1, eps_2, rho))
        check({"eps_1": eps_1, "eps_2": eps_2, "rho": rho})
        self.constants = Constants(eps_1, eps_2, rho)
        self._steps = _CompiledSteps() if compiled else preconditioned_gradients.steps_3_to_5
        self.preconditioners = {
            name: LayerPreconditioner(name, sharing)
            for name, sharing in preconditionable(model, layers).items()
        }
        _check_first(self.preconditioners.values())
        if layers is None and (others := left_out(model)):
            warnings.warn(
                f"BNP has no formula for {', '.join(others)}: their gradients stay as they are; "
                "give layers= to say which are meant",
                stacklevel=2,
            )
        self._hooks: list[RemovableHandle] = [
            layer.register_forward_hook(preconditioner.meet, with_kwargs=True)
            for preconditioner in self.preconditioners.values()
            for layer in preconditioner.layers
        ]

    def precondition(self) -> None:
        """Take in what was met since the last step, and change the gradients in place.

        To be called after ``backward`` and before the optimiser's step.

        Raises:
            RuntimeError: a layer has a gradient but met no batch since the last step.
            FloatingPointError: a layer met NaN or infinity; nothing is changed.
            ValueError: a variance is zero and eps_1 and eps_2 do not help it.
            OverflowError: a gradient leaves the range of float16.

        A RuntimeError or a ValueError leaves the gradients as they are, an OverflowError some of
        them changed.  After each of the three the running statistics have taken in what was met,
        which would count again in the next call: call :meth:`forget` before going on.
        """
        with torch.no_grad():
            self._take_in()
            parts = [part for p in self.preconditioners.values() for part in p.parts()]
            preconditioned_gradients.change(parts, self.constants, self._steps)
        self.forget()

    def _take_in(self) -> None:
        """Take what was met into the running statistics, those of all layers at once."""
        met = [(p, b) for p in self.preconditioners.values() if (b := p.batch()) is not None]
        if not met:
            return
        if not _are_finite([batch.variance for _, batch in met]):
            raise _not_finite(met)
        new = [statistic for _, batch in met for statistic in (batch.mean, batch.variance)]
        old = [statistic for p, _ in met for statistic in (p.mean, p.variance)]
        preconditioned_gradients.running(old, new, self.constants.rho)

    def attach(self, optimizer: Optimizer) -> RemovableHandle:
        """Precondition before every step of an optimiser; ``remove()`` the handle to stop.

        A step with a closure computes its gradients too late for that and is refused: call
        :meth:`precondition` in the closure.
        """

        def before_step(_: Optimizer, args: tuple[Any, ...], named: dict[str, Any]) -> None:
            if any(callable(argument) for argument in (*args, *named.values())):
                raise RuntimeError(
                    "the step was given a closure, which computes gradients after BNP; call "
                    "precondition() at the end of the closure in place of attach()"
                )
            self.precondition()

        return optimizer.register_step_pre_hook(before_step)

    def forget(self) -> None:
        """Forget what was met since the last step."""
        for preconditioner in self.preconditioners.values():
            preconditioner.forget()

    def remove(self) -> None:
        """Stop collecting: take the hooks off the model."""
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()

    @staticmethod
    def release(model: nn.Module) -> None:
        """Take a BNP's hooks off a model that was copied, or saved, with them."""
        for module in model.modules():
            for key, hook in list(module._forward_hooks.items()):
                if _is_of_a_bnp(hook):
                    del module._forward_hooks[key]
                    module._forward_hooks_with_kwargs.pop(key, None)

    def state_dict(self) -> dict[str, Tensor]:
        """Return the running statistics: a mean and a variance for each layer."""
        return {
            f"{name}.{statistic}": getattr(preconditioner, statistic).clone()
            for name, preconditioner in self.preconditioners.items()
            for statistic in ("mean", "variance")
        }

    def load_state_dict(self, state: Mapping[str, Tensor]) -> None:
        """Take up the running statistics of :meth:`state_dict`; what was met is forgotten.

        Raises:
            TypeError: no state, or one that holds something else than tensors of real numbers.
            ValueError: the state is that of other layers, or holds a mean or a variance that none
                can have.
        """
        if not isinstance(state, Mapping):
            raise TypeError(f"state is a {type(state).__name__}; expected that of state_dict()")
        expected = self.state_dict()
        if set(state) != set(expected):
            different = sorted(set(state) ^ set(expected))
            raise ValueError(
                f"the state is of other layers, which differ in {', '.join(different)}; give that "
                "of a BNP of the same model and layers"
            )
        for key, like in expected.items():
            if not isinstance(state[key], Tensor) or state[key].is_complex():
                raise TypeError(f"{key} = {state[key]!r}; expected a tensor of real numbers")
            if state[key].shape != like.shape:
                raise ValueError(
                    f"{key} has shape {tuple(state[key].shape)}; expected {tuple(like.shape)}"
                )
            least = 0.0 if key.endswith(".variance") else -inf
            if not bool((state[key].isfinite() & (state[key] >= least)).all()):
                raise ValueError(
                    f"{key} is not {'finite and >= 0' if least == 0 else 'finite'} in every entry; "
                    "give the state of a BNP whose training went well"
                )
        for key, like in expected.items():
            name, _, statistic = key.rpartition(".")
            setattr(self.preconditioners[name], statistic, state[key].detach().to(like, copy=True))
        self.forget()


class _CompiledSteps:
    """The steps, compiled in the first; what a compiler made is not pickled, and made again."""

    def __init__(self) -> None:
        steps = preconditioned_gradients.steps_3_to_5_by_layer
        self._compiled: preconditioned_gradients.Steps = torch.compile(steps, fullgraph=True)

    def __call__(self, parts: Sequence[Matrices], constants: Constants) -> None:
        self._compiled(parts, constants)

    def __reduce__(self) -> tuple[type[_CompiledSteps], tuple[()]]:
        return _CompiledSteps, ()


def _are_finite(variances: Sequence[Tensor]) -> bool:
    """Whether there is no NaN or infinity, by one number of each device."""
    alike: dict[torch.device, list[Tensor]] = {}
    for variance in variances:
        alike.setdefault(variance.device, []).append(variance)
    return all(isfinite(torch.cat(some).max()) for some in alike.values())  # NaN is the largest


def _not_finite(met: Iterable[Met]) -> FloatingPointError:
    name = next(p.name for p, batch in met if not bool(batch.variance.isfinite().all()))
    return FloatingPointError(
        f"{name} met a NaN or an infinity in its input, or squares beyond its dtype; look for it "
        "before this layer, then call forget()"
    )


def _is_of_a_bnp(hook: object) -> bool:
    return isinstance(getattr(hook, "__self__", None), LayerPreconditioner)


def _check_first(preconditioners: Iterable[LayerPreconditioner]) -> None:
    """No layer is preconditioned by another BNP, whose hooks it would have."""
    for preconditioner in preconditioners:
        for layer in preconditioner.layers:
            if any(map(_is_of_a_bnp, layer._forward_hooks.values())):
                raise ValueError(
                    f"{preconditioner.name} has a BNP already, and two would precondition its "
                    "gradients twice; call remove() of the other first, or, if the model was copied"
                    " or loaded with one, BNP.release(model)"
                )

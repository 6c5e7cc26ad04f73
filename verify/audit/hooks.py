"""Hooks on the layers of a model, which see the tensor that a layer is about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

Modules = Mapping[str, nn.Module]


@contextmanager
def hooked(
    modules: Modules,
    before: Callable[[str, nn.Module, Tensor], Tensor] | None,
    after: Callable[[str, nn.Module, Tensor, Tensor], Tensor | None],
    otherwise: Callable[[str, str], None] | None = None,
    only: Mapping[str, int] | None = None,
    runs: Counter[str] | None = None,
) -> Iterator[None]:
    """Call functions before and after each module runs, with its name and its first input.

    The first input is the first tensor of real numbers, whatever else is given before it, as
    labels are.

    Args:
        modules: by name.
        before: returns what is given to the module instead of its input; None for nothing.
        after: is given the input and the output; returns what is to stand for this, None for it.
        otherwise: is told the name of a module that is given nothing that can be looked at, and
            why; the others are not called then.
        only: the number of the run that is looked at, by the module's name; None for all.
        runs: how often each module ran before in the forward pass, which is counted on.
    """
    handles, counts = [], Counter[str]() if runs is None else runs

    def is_asked_for(name: str) -> bool:
        return only is None or (only.get(name) == counts[name] and not is_again())

    for name, module in modules.items():
        if before is not None:

            def instead(
                module: nn.Module, args: tuple[Any, ...], named: dict[str, Any], name: str = name
            ) -> tuple[tuple[Any, ...], dict[str, Any]] | None:
                given: dict[Any, Any] = {**dict(enumerate(args)), **named}
                key = _of_first(given)
                if not is_asked_for(name) or key is None or unfit(given[key]):
                    return None
                given[key] = before(name, module, given[key])
                positional = tuple(given.pop(i) for i in range(len(args)))
                return positional, given

            handles.append(module.register_forward_pre_hook(instead, with_kwargs=True))

        def note(
            module: nn.Module,
            args: tuple[Any, ...],
            named: dict[str, Any],
            output: Any,
            name: str = name,
        ) -> Any:
            given: dict[Any, Any] = {**dict(enumerate(args)), **named}
            key = _of_first(given)
            try:
                if not is_asked_for(name):
                    return None
                if why := NO_TENSOR if key is None else unfit(given[key]):
                    return None if otherwise is None else otherwise(name, why)
                return after(name, module, given[key], output)
            finally:
                counts[name] += not is_again()

        handles.append(module.register_forward_hook(note, with_kwargs=True))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


def is_again() -> bool:
    """Whether a backward pass is under way, which runs checkpointed parts of a model again."""
    return torch._C._current_graph_task_id() >= 0


NO_TENSOR = "it is given no tensor of real numbers by itself"


def _of_first(given: Mapping[Any, Any]) -> Any:
    """Return the place or the name of the first tensor of real numbers, None if there is none."""
    return next(
        (
            key
            for key, value in given.items()
            if isinstance(value, Tensor) and value.is_floating_point()
        ),
        None,
    )


def unfit(given: Tensor) -> str:
    """Return why what a layer is given cannot be looked at; nothing where it can.

    >>> unfit(torch.zeros(0, 3)), unfit(torch.zeros(2, 3))
    ('it is given a batch of shape (0, 3), with no entries', '')
    """
    if torch._C._functorch.maybe_current_level() is not None:
        return "it runs within a transformation of torch.func, which hides what it is given"
    if given.layout is not torch.strided:
        return f"it is given a tensor whose layout is {given.layout}; a dense one is examined"
    if not given.numel():
        return f"it is given a batch of shape {tuple(given.shape)}, with no entries"
    return ""

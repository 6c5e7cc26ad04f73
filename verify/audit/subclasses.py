"""Layers that come from a class of ``torch.nn`` and compute something of their own."""

from __future__ import annotations

from torch import nn


def replaced(
    module: nn.Module, kinds: tuple[type[nn.Module], ...], *methods: str
) -> type[nn.Module] | None:
    """Return the class of ``torch.nn`` that a layer comes from, None if it computes as that does.

    What a hook of the user's gives back, forward or backward, may be something else, too.

    Args:
        module: the layer.
        kinds: classes that it may come from.
        methods: in which these compute.

    >>> class Own(nn.RMSNorm):
    ...     def forward(self, x):
    ...         return x
    >>> replaced(Own(3), (nn.RMSNorm,), "forward").__name__
    'RMSNorm'
    >>> replaced(nn.RMSNorm(3), (nn.RMSNorm,), "forward")
    """
    if not isinstance(module, kinds):
        return None
    base = next(k for k in type(module).__mro__ if k.__module__.startswith("torch.nn.modules."))
    assert issubclass(base, nn.Module)
    is_own = any(
        method in vars(module)
        or getattr(type(module), method, None) is not getattr(base, method, None)
        for method in methods
    )
    is_hooked = hooks_outputs(module) or hooks_gradients(module)
    return base if is_own or is_hooked else None


def hooks_outputs(module: nn.Module) -> bool:
    """Whether a hook of the user's may change what a layer gives back."""
    return any(map(_is_of_the_user, module._forward_hooks.values()))


def hooks_gradients(module: nn.Module) -> bool:
    """Whether a hook of the user's may change the gradients that a layer gives back."""
    hooks = (*module._backward_hooks.values(), *module._backward_pre_hooks.values())
    return any(map(_is_of_the_user, hooks))


def _is_of_the_user(hook: object) -> bool:
    return not getattr(hook, "__module__", "").startswith(__package__)

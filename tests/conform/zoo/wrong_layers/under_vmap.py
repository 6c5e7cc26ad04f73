"""Faults of ``torch.func.vmap`` that show where the right ones of x, gamma and beta are mapped."""

from __future__ import annotations

from own_backward import gradient_in_gamma, gradient_in_x, wrong_in_gamma, wrong_in_x
from torch import Tensor
from torch._C._functorch import get_unwrapped, is_batchedtensor, maybe_get_bdim

from wrong_layers.fault import Fault
from wrong_layers.memory import right


def first_example(array: Tensor) -> Tensor:
    """Return what a kernel reads that knows of no vmap: the memory's beginning."""
    if not is_batchedtensor(array):
        return array
    return get_unwrapped(array).select(maybe_get_bdim(array), 0)


def first_gamma_of_a_vmap(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Have one gamma for all examples."""
    return right(x, first_example(gamma), beta, eps)


def first_beta_where_all_are_mapped(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> Tensor:
    """Have one beta for all examples, where x has some too."""
    return right(x, gamma, first_example(beta) if is_batchedtensor(x) else beta, eps)


@wrong_in_gamma
def gamma_summed_over_examples(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Give no example a gradient of its own."""
    found = gradient_in_gamma(yhat, sigma, gamma, g)
    return get_unwrapped(found).sum(maybe_get_bdim(found)) if is_batchedtensor(found) else found


@wrong_in_x
def first_gamma_in_the_backward(yhat: Tensor, sigma: Tensor, gamma: Tensor, g: Tensor) -> Tensor:
    """Have one gamma for all examples in the backward."""
    return gradient_in_x(yhat, sigma, first_example(gamma), g)


FAULTS = (
    Fault(first_gamma_of_a_vmap, r"vmap are not kept apart", "vmap parameters"),
    Fault(first_beta_where_all_are_mapped, r"vmap are not kept apart", "vmap all"),
    Fault(gamma_summed_over_examples, r"not kept apart in the backward", "vmap gradient"),
    Fault(first_gamma_in_the_backward, r"not kept apart in the backward", "vmap all gradient"),
)

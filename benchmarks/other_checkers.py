"""What other checkers notice of the wrong layers that this suite's tests plant.

Each checker is used as its documentation shows it, with its defaults, on one ordinary input:
standard normal numbers of shape (6, 4, 3, 3), or (6, 8) where a row is normalised.

gradcheck, gradgradcheck
    ``torch.autograd.gradcheck`` and ``gradgradcheck`` in float64.
forward 1e-2
    as benchmarks of generated kernels compare: the output in float32, ``atol = rtol = 1e-2``,
    five inputs.
forward 1e-4, gradients 1e-4
    a usual unit test: the output, and then the gradients for a random cotangent too, in float32
    against PyTorch's own function, ``atol = rtol = 1e-4``.
check_grads
    ``jax.test_util.check_grads`` to second order in both modes, float64, of the faults that are
    planted in JAX; where JAX is not installed, that column is missing.

A layer with running statistics is compared after one step of training and then in evaluation.
A checker that raises any error has noticed.

    PYTHONPATH=tests/conform/zoo python benchmarks/other_checkers.py > other_checkers.json
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from typing import Any

import torch
from torch import Tensor
from torch.autograd import gradcheck, gradgradcheck
from torch.nn import functional
from wrong_layers import FAULTS, Fault
from wrong_layers.numpy_pairs import FAULTS as NUMPY_PAIRS

EPS = 1e-5
Layer = Callable[[Tensor, Tensor, Tensor], Tensor]
REFERENCES: dict[str, Callable[..., Tensor]] = {
    "batch": lambda x, g, b: functional.batch_norm(x, None, None, g, b, True, 0.1, EPS),
    "layer": lambda x, g, b: functional.layer_norm(x, x.shape[-1:], g, b, EPS),
    "rms": lambda x, g, b: functional.rms_norm(x, x.shape[-1:], g, EPS) + b,
    "group": lambda x, g, b: functional.group_norm(x, 2, g, b, EPS),
    "instance": lambda x, g, b: functional.instance_norm(x, None, None, g, b, True, 0.1, EPS),
}
ROWS = ("layer", "rms")


def family(fault: Fault) -> str:
    """Return the fault's member of the family."""
    return str(fault.asked.get("family", "batch"))


def inputs(fault: Fault, dtype: torch.dtype, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return an ordinary batch, gamma and beta that need gradients."""
    generator = torch.Generator().manual_seed(seed)
    shape = (6, 8) if family(fault) in ROWS else (6, 4, 3, 3)
    channels = shape[-1] if family(fault) in ROWS else shape[1]
    shapes = (shape, (channels,), (channels,))
    drawn = (torch.randn(s, generator=generator, dtype=dtype) for s in shapes)
    x, gamma, beta = (tensor.requires_grad_() for tensor in drawn)
    return x, gamma, beta


def as_function(fault: Fault, dtype: torch.dtype) -> Layer:
    """Return the fault as a function of batch, gamma and beta."""
    if isinstance(fault.layer, type):
        module = fault.layer(4, eps=EPS, dtype=dtype)
        return lambda x, g, b: torch.func.functional_call(module, {"weight": g, "bias": b}, (x,))
    return lambda x, g, b: fault.layer(x, g, b, EPS)


def by_gradcheck(fault: Fault) -> None:
    """Compare the gradient with differences."""
    gradcheck(as_function(fault, torch.float64), inputs(fault, torch.float64, 0))


def by_gradgradcheck(fault: Fault) -> None:
    """Compare the second derivative with differences."""
    gradgradcheck(as_function(fault, torch.float64), inputs(fault, torch.float64, 0))


def by_forward(fault: Fault, tolerance: float, count: int) -> None:
    """Compare outputs."""
    layer = as_function(fault, torch.float32)
    for seed in range(count):
        at = inputs(fault, torch.float32, seed)
        expected = REFERENCES[family(fault)](*at)
        torch.testing.assert_close(layer(*at), expected, atol=tolerance, rtol=tolerance)


def by_gradients(fault: Fault, tolerance: float) -> None:
    """Compare outputs, gradients, and what a class remembers and evaluates to."""
    at = inputs(fault, torch.float32, 0)
    cotangent = torch.randn(at[0].shape, generator=torch.Generator().manual_seed(1))
    functions = as_function(fault, torch.float32), REFERENCES[family(fault)]
    values = [function(*at) for function in functions]
    found, expected = (
        (z, *torch.autograd.grad(z, at, cotangent, allow_unused=True)) for z in values
    )
    torch.testing.assert_close(found, expected, atol=tolerance, rtol=tolerance)
    if isinstance(fault.layer, type):
        theirs, own = fault.layer(4, eps=EPS), torch.nn.BatchNorm2d(4, eps=EPS)
        x = at[0].detach()
        theirs(x), own(x)
        pairs = [(theirs.running_mean, own.running_mean), (theirs.running_var, own.running_var)]
        theirs.eval(), own.eval()
        for one, other in [*pairs, (theirs(x), own(x))]:
            torch.testing.assert_close(one, other, atol=tolerance, rtol=tolerance)


CHECKERS: dict[str, Callable[[Fault], None]] = {
    "gradcheck": by_gradcheck,
    "gradgradcheck": by_gradgradcheck,
    "forward 1e-2": lambda fault: by_forward(fault, 1e-2, 5),
    "forward 1e-4": lambda fault: by_forward(fault, 1e-4, 1),
    "gradients 1e-4": lambda fault: by_gradients(fault, 1e-4),
}


def notices(checker: Callable[[Fault], None], fault: Fault) -> bool:
    """Whether a checker raises; a layer that turns gradients off does so for itself alone."""
    try:
        with torch.enable_grad():
            checker(fault)
    except Exception:
        return True
    return False


def by_check_grads(fault: Fault) -> None:
    """Compare derivatives to second order with differences."""
    import jax
    from jax.test_util import check_grads

    jax.config.update("jax_enable_x64", True)
    at = [jax.numpy.asarray(t.detach().numpy()) for t in inputs(fault, torch.float64, 0)]
    modes = fault.asked.get("modes", ("fwd", "rev"))
    check_grads(lambda x, g, b: fault.layer(x, g, b, EPS), at, order=2, modes=modes)


def faults_in_jax() -> tuple[Fault, ...]:
    """Return the faults that are planted in JAX, where it is installed."""
    if find_spec("jax") is None:
        return ()
    from wrong_in_jax import FAULTS as IN_JAX

    return tuple(IN_JAX)


def measured() -> dict[str, Any]:
    """Return which checker notices which fault, with the versions."""
    of_torch = [fault for fault in FAULTS if fault not in NUMPY_PAIRS]
    in_jax = faults_in_jax()
    found = {
        fault.name: {name: notices(checker, fault) for name, checker in CHECKERS.items()}
        for fault in of_torch
    }
    found |= {fault.name: {"check_grads": notices(by_check_grads, fault)} for fault in in_jax}
    named = [*CHECKERS, *(["check_grads"] if in_jax else [])]
    libraries = ["torch", *(["jax"] if in_jax else [])]
    return {
        "versions": {"python": sys.version.split()[0], **{n: version(n) for n in libraries}},
        "faults": {fault.name: fault.layer.__doc__ for fault in (*of_torch, *in_jax)},
        "noticed": found,
        "counts": {n: sum(row.get(n, False) for row in found.values()) for n in named},
    }


if __name__ == "__main__":
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        print(json.dumps(measured(), indent=1))

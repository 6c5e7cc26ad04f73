"""Faults in layers of JAX, where custom rules and stopped gradients are written otherwise."""

from __future__ import annotations

from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from channels import affine, batch_axes
from jax.lax import stop_gradient
from wrong_layers.fault import Fault


def mean(x: Any) -> Any:
    """Mean of each channel."""
    return x.mean(batch_axes(x), keepdims=True)


def standardize(x: Any, eps: float) -> tuple[Any, Any]:
    """The pair yhat, sigma."""
    c = x - mean(x)
    sigma = jnp.sqrt(mean(c**2) + eps)
    return c / sigma, sigma


def unbiased_variance_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Divide by m - 1 where the batch is normalised."""
    sigma = jnp.sqrt(x.var(batch_axes(x), keepdims=True, ddof=1) + eps)
    return affine((x - mean(x)) / sigma, gamma, beta)


def eps_outside_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Add eps to the standard deviation instead of the variance."""
    return affine((x - mean(x)) / (x.std(batch_axes(x), keepdims=True) + eps), gamma, beta)


def one_pass_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Mean of the squares less the square of the mean."""
    spread = jnp.maximum(mean(x**2) - mean(x) ** 2, 0)
    return affine((x - mean(x)) / jnp.sqrt(spread + eps), gamma, beta)


def absolute_gamma_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Scale by the absolute value of gamma."""
    return affine(standardize(x, eps)[0], jnp.abs(gamma), beta)


def variance_detached_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Treat the standard deviation as a constant."""
    yhat, sigma = standardize(x, eps)
    return affine(yhat * sigma / stop_gradient(sigma), gamma, beta)


def mean_detached_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Treat the mean as a constant."""
    c = x - stop_gradient(mean(x))
    return affine(c / jnp.sqrt(mean(c**2) + eps), gamma, beta)


def variance_about_a_constant_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Detach the mean in the variance only: the first derivative is right."""
    centre = mean(x)
    spread = mean((x - stop_gradient(centre)) ** 2)
    return affine((x - centre) / jnp.sqrt(spread + eps), gamma, beta)


def newton_step_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Polish 1/sqrt by a Newton step whose start is detached: right to first order."""
    c = x - mean(x)
    guarded = mean(c**2) + eps
    start = stop_gradient(1 / jnp.sqrt(guarded))
    return affine(c * start * (1.5 - 0.5 * guarded * start**2), gamma, beta)


def root_to_second_order_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Expand the root to second order: the third derivative is wrong."""
    c = x - mean(x)
    guarded = mean(c**2) + eps
    start = stop_gradient(jnp.sqrt(guarded))
    step = (guarded - start**2) / start**2
    return affine(c / (start * (1 + step / 2 - step**2 / 8)), gamma, beta)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def without_projection(x: Any, eps: float) -> Any:
    """Yhat, whose gradient leaves the term in <yhat, g> out."""
    return standardize(x, eps)[0]


without_projection.defvjp(
    lambda x, eps: (standardize(x, eps)[0], x),
    lambda eps, x, g: ((g - mean(g)) / standardize(x, eps)[1],),
)


def projection_missing_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Leave the term in <yhat, g> out of the gradient."""
    return affine(without_projection(x, eps), gamma, beta)


@partial(jax.custom_vjp, nondiff_argnums=(1,))
def with_frozen_residuals(x: Any, eps: float) -> Any:
    """Yhat, whose residuals are not differentiated again."""
    return standardize(x, eps)[0]


def _frozen_gradient(eps: float, kept: Any, g: Any) -> tuple[Any]:
    yhat, sigma = map(stop_gradient, kept)
    return ((g - mean(g) - yhat * mean(yhat * g)) / sigma,)


with_frozen_residuals.defvjp(
    lambda x, eps: (standardize(x, eps)[0], standardize(x, eps)), _frozen_gradient
)


def residuals_frozen_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Keep yhat and sigma as numbers: the second derivative is wrong."""
    return affine(with_frozen_residuals(x, eps), gamma, beta)


@partial(jax.custom_jvp, nondiff_argnums=(1,))
def with_half_tangent(x: Any, eps: float) -> Any:
    """Yhat, whose tangent has half of the projection."""
    return standardize(x, eps)[0]


@with_half_tangent.defjvp
def _half_tangent(eps: float, at: Any, along: Any) -> tuple[Any, Any]:
    (yhat, sigma), (u,) = standardize(at[0], eps), along
    return yhat, (u - mean(u) - yhat * mean(yhat * u) / 2) / sigma


def half_projection_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Halve the projection in a custom jvp, and so in every mode."""
    return affine(with_half_tangent(x, eps), gamma, beta)


@partial(jax.jit, donate_argnums=0)
def _donated(x: Any, eps: float) -> Any:
    return standardize(x, eps)[0]


def input_donated_in_jax(x: Any, gamma: Any, beta: Any, eps: float) -> Any:
    """Give the input's memory to the output: nobody can read it afterwards."""
    return affine(_donated(x, eps), gamma, beta)


REVERSE = {"modes": ("rev",)}
FAULTS = (
    Fault(unbiased_variance_in_jax, r"m - 1", "forward"),
    Fault(eps_outside_in_jax, r"eps.*outside", "forward"),
    Fault(one_pass_in_jax, r"mean/sd", "forward", "inaccurate", at=("mean/sd = 2^8",)),
    Fault(absolute_gamma_in_jax, r"\|gamma\|", "forward"),
    Fault(variance_detached_in_jax, r"variance is held constant", "gradient"),
    Fault(mean_detached_in_jax, r"mean is held constant", "gradient"),
    Fault(variance_about_a_constant_in_jax, r"second", "second rr"),
    Fault(newton_step_in_jax, r"second", "second rr"),
    Fault(root_to_second_order_in_jax, r"third", "third"),
    Fault(projection_missing_in_jax, r"ŷ <ŷ, γg>.*0 instead of -1", "gradient", asked=REVERSE),
    Fault(residuals_frozen_in_jax, r"second", "second rr", asked=REVERSE),
    Fault(input_donated_in_jax, r"changes x", "forward", "overwrites"),
    Fault(half_projection_in_jax, r"-0\.5 instead of -1", "jvp"),
)

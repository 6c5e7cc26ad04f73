r"""Batch Normalization Preconditioning, as formulas that check their input.

Each function here is the formula of the same name in :mod:`theory.preconditioning` (which has their
descriptions, shapes and the index convention) behind :func:`check`, which raises a TypeError or a
ValueError that says what was given, what was expected and what to do: ``augmented``, ``means``,
``variances``, ``standard_deviations``, ``centring``, ``scaling``, ``preconditioner``, ``features``,
``normalized``, ``correlations``, ``unit_hessian``, ``preconditioned_gradient``,
``regularized_variance``, ``running``, ``scale_factor`` and ``folded``.

>>> import numpy as np
>>> from theory import bnp
>>> bnp.preconditioned_gradient(  # of one output and two inputs, of means 0 and 3
...     np.array([1.0]), np.array([[2.0, 5.0]]), np.array([0.0, 3.0]), np.array([1.0, 2.0]))
(array([-2.]), array([[2., 1.]]))

>>> bnp.correlations(np.array([[1.0, 7.0], [2.0, 7.0], [4.0, 7.0]]))
Traceback (most recent call last):
...
ValueError: H of shape (3, 2) has zero variance at index 1, so it has no sigma to divide by...

Limits that are allowed, because the formulas are right there: one example (N = 1) wherever nothing
is divided by its deviation; constant columns with eps > 0; a curvature of either sign.  A large
offset is taken out of columns first, exactly, and deviations and correlations are those of scaled
columns where these are near the ends of their format's range (:mod:`theory.scaling`); layers are
folded and gradients preconditioned with exponents that have no bounds where products may leave it
(:mod:`theory.arithmetic.unbounded`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from functools import partial, wraps
from math import inf, sqrt
from typing import Any, cast

from array_api_compat import array_namespace, device, is_array_api_obj

from theory import batchnorm, preconditioning
from theory.arithmetic.unbounded import Unbounded, constant, shifted
from theory.guard import (
    P,
    R,
    Taken,
    arrays_of,
    at,
    behind,
    check_axes,
    check_finite,
    check_real,
    check_symmetric,
    form_of_symmetric,
    given,
    guarded_operator,
)
from theory.scaling import (
    batch_is_in_the_middle,
    form_in_the_middle,
    in_the_middle,
    largest,
    less_offset,
    real_part,
    shift_of,
)

TAKEN = {
    "H": Taken(("N n",)),
    "curvature": Taken(("N N", "N"), or_function=True),
    "gamma": Taken(("n",), or_number=True),
    "beta": Taken(("n",), or_number=True),
    **dict.fromkeys(("W", "grad_W"), Taken(("p n",))),
    **dict.fromkeys(("b", "grad_b"), Taken(("p",))),
    **dict.fromkeys(("mean", "deviation", "variance", "old", "new"), Taken(("n",))),
}
"""What functions take by each name, numbers aside."""

NUMBERS: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "eps": (">= 0", lambda x: 0 <= x < inf),
    "eps_1": (">= 0", lambda x: 0 <= x < inf),
    "eps_2": (">= 0", lambda x: 0 <= x < inf),
    "rho": ("in [0, 1]", lambda x: 0 <= x <= 1),
    "q_squared": ("> 0", lambda x: 0 < x < inf),
    "N": ("that is whole, in [1, 2^53]", lambda x: 1 <= x <= 2**53 and type(x) is int),
    "n": ("that is whole, in [1, 2^53]", lambda x: 1 <= x <= 2**53 and type(x) is int),
}
"""The numbers that functions take, by name, and what they are to be."""

ELSEWHERE = "for exact or symbolic values call the unguarded formula in theory.preconditioning"


def checked(function: Callable[P, R], *, divides_by_spread: bool = False) -> Callable[P, R]:
    """Return the function behind :func:`check`; name, signature and docstring are kept.

    Args:
        function: a formula of :mod:`theory.preconditioning`.
        divides_by_spread: whether a column of H without variance is to be refused.
    """

    def check_all(arguments: dict[str, Any]) -> None:
        check(arguments)
        curvature = arguments.get("curvature")
        if callable(curvature):
            arguments["curvature"] = guarded_operator("curvature", curvature)
        elif curvature is not None and curvature.ndim == 2:
            check_symmetric("curvature", curvature)
        if divides_by_spread and arguments.get("eps", 0) == 0:
            _check_spread(arguments["H"])

    return behind(check_all, function)


def _of_columns(function: Callable[P, R], degree: int) -> Callable[P, R]:
    """Return a function of deviations in H, homogeneous in each column.

    Columns of extreme size are scaled; a large offset is taken out first (:mod:`theory.scaling`).
    """
    signature = inspect.signature(function)

    @wraps(function)
    def scaled(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments = dict(signature.bind(*args, **kwargs).arguments)
        centred, found = less_offset(arguments.pop("H"), 0)
        batch = {"y": centred, **arguments}
        size = {"y": _no_less_than_root(found[0, :], arguments.get("eps", 0))}
        result: R = in_the_middle(lambda y, **eps: function(y, **eps), degree, batch, size)
        return result

    return scaled


def _of_any_size(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that counts exponents apart where a product may leave the range."""
    signature = inspect.signature(function)

    @wraps(function)
    def within(*args: P.args, **kwargs: P.kwargs) -> R:
        arguments = dict(signature.bind(*args, **kwargs).arguments)
        if all(map(_is_moderate, arguments.values())):
            return function(*args, **kwargs)
        apart: dict[str, Any] = {
            name: Unbounded.of(value) if is_array_api_obj(value) else value
            for name, value in arguments.items()
        }
        result: Any = function(**apart)  # type: ignore[call-arg]
        return cast(R, tuple(part.rounded() for part in result))

    return within


def _is_moderate(x: Any) -> bool:
    """Whether entries, of matrices the largest of rows, may be multiplied by three others."""
    if not is_array_api_obj(x):
        return x == 0 or 2.0**-16 <= abs(x) <= 2.0**16
    if x.ndim == 2 and batch_is_in_the_middle(x, (1,)):
        return True
    size = largest(constant(x), 1) if x.ndim == 2 else abs(constant(x))
    most = array_namespace(size).finfo(size.dtype).max
    is_moderate = (size == 0) | ((size >= most ** (-3 / 8)) & (size <= most ** (1 / 4)))
    return bool(array_namespace(size).all(is_moderate))


@wraps(preconditioning.unit_hessian)
def _symmetric_unit_hessian(H: Any, curvature: Any) -> Any:
    return form_in_the_middle(_unit_hessian_by_deviations, H, curvature, axes=0)


def _unit_hessian_by_deviations(H: Any, curvature: Any) -> Any:
    r"""Return :math:`U^{-\top}(U^\top\hat H^\top S\hat H U)U^{-1}`, U taking large offsets out.

    So an S that takes means away meets no offset, to which it would lose its digits.
    """
    centred, _ = less_offset(H, 0)
    form = partial(form_in_the_middle, preconditioning.unit_hessian, axes=0)
    found, offset = form_of_symmetric("curvature", form, centred, curvature), (H - centred)[0, :]
    if not bool(array_namespace(H).any(offset != 0)):
        return found
    inverse = preconditioning.centring(-offset)
    return inverse.T @ found @ inverse


@wraps(preconditioning.variances)
def _variances_of_columns(H: Any) -> Any:
    H, _ = less_offset(H, 0)
    # That of equal entries may be above zero, since their mean is rounded.
    found, xp = preconditioning.variances(H), array_namespace(H)
    is_small = xp.abs(found) <= (16 * xp.finfo(H.dtype).eps * xp.abs(H[0, :])) ** 2
    if bool(xp.any(is_small)):
        found = xp.where(xp.all(H[:1, :] == H, axis=0), xp.zeros_like(found), found)
    return found


@wraps(preconditioning.correlations)
def _correlations_of_spreads(H: Any) -> Any:
    # Columns of like entries may have spreads whose quotient, squared, leaves the range.
    centred = batchnorm.centre(H)
    shift = shift_of(largest(constant(centred), 0)[0, :])
    return preconditioning.correlations(H if shift is None else shifted(centred, -shift))


def _no_less_than_root(sizes: Any, eps: float) -> Any:
    """Return sizes of columns, or the root of eps where that is larger."""
    xp = array_namespace(sizes)
    return xp.maximum(sizes, xp.asarray(sqrt(eps), dtype=sizes.dtype, device=device(sizes)))


def check(arguments: Mapping[str, Any]) -> None:
    """Raise an error if arguments, bound by name, cannot be given to a formula.

    Known names are those of :data:`TAKEN` and :data:`NUMBERS`.

    Raises:
        TypeError: not an array, not floating, mixed libraries or dtypes, not a number.
        ValueError: mixed devices, wrong rank or shape, an empty axis, NaN or infinity, a
            deviation, variance or number out of its range.
    """
    arrays = arrays_of(arguments, TAKEN, ELSEWHERE)
    check_axes({name: x for name, x in arrays.items() if not _is_number(name, x)}, TAKEN)
    check_finite(arrays)
    if "eps_1" in arguments and "variance" in arrays:
        check_real("variance", arrays["variance"], "of complex ones there is no maximum")
    divisors = ("deviation", "variance") if "q_squared" in arguments else ("deviation",)
    for name, value in arrays.items():
        _check_sign(name, value, name in divisors)
    for name in NUMBERS:
        if name in arguments:
            _check_number(name, arguments[name])
    for name, value in arguments.items():
        if type(value) is int and name not in ("N", "n"):
            _check_is_a_float(name, value)


def _is_number(name: str, value: Any) -> bool:
    """Whether an array without axes stands where a number may."""
    return TAKEN[name].or_number and value.ndim == 0


def _check_sign(name: str, value: Any, is_divisor: bool) -> None:
    """A deviation or variance is not negative, and not zero where something is divided by it."""
    if name not in ("deviation", "variance"):
        return
    xp, real = array_namespace(value), real_part(value)
    wrong = real <= 0 if is_divisor else real < 0
    if bool(xp.any(wrong)):
        expected = "> 0: leave constant features out, or add an eps to the variance"
        raise ValueError(
            f"{given(name, value)} is {float(xp.min(real)):g}{at(wrong)}; expected {name} "
            f"{expected if is_divisor else '>= 0'}"
        )


def _check_number(name: str, value: Any) -> None:
    words, is_right = NUMBERS[name]
    if type(value) not in (int, float):
        given = type(value).__name__
        raise TypeError(f"{name} is a {given}; expected an int or a float {words}; {ELSEWHERE}")
    if not is_right(value):
        raise ValueError(f"{name} = {value!r}; expected a number {words}")


def _check_is_a_float(name: str, value: int) -> None:
    try:
        float(value)
    except OverflowError:
        raise ValueError(f"{name} is beyond the largest float; expected a smaller number") from None


def _check_spread(H: Any) -> None:
    """No column is constant; equal entries may have a computed variance above zero."""
    xp = array_namespace(H)
    shift = shift_of(largest(H, 0)[0, :])
    variances = preconditioning.variances(H if shift is None else shifted(H, -shift))
    is_constant = xp.all(H[:1, :] == H, axis=0) | (variances == 0)
    if bool(xp.any(is_constant)):
        raise ValueError(
            f"{given('H', H)} has zero variance{' (N = 1)' if H.shape[0] == 1 else ''}"
            f"{at(is_constant)}, so it has no sigma to divide by; expected columns that are not "
            "constant: leave those features out, or add an eps to the variance"
        )


augmented = checked(preconditioning.augmented)
means = checked(preconditioning.means)
variances = checked(_variances_of_columns)
standard_deviations = checked(
    _of_columns(preconditioning.standard_deviations, 1), divides_by_spread=True
)
centring = checked(preconditioning.centring)
scaling = checked(preconditioning.scaling)
preconditioner = checked(preconditioning.preconditioner)
features = checked(preconditioning.features)
normalized = checked(preconditioning.normalized)
correlations = checked(_of_columns(_correlations_of_spreads, 0), divides_by_spread=True)
unit_hessian = checked(_symmetric_unit_hessian)
preconditioned_gradient = checked(_of_any_size(preconditioning.preconditioned_gradient))
regularized_variance = checked(preconditioning.regularized_variance)
running = checked(preconditioning.running)
scale_factor = checked(preconditioning.scale_factor)
folded = checked(_of_any_size(preconditioning.folded))

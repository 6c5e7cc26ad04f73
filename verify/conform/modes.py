"""The ways to differentiate a layer, as compositions of an adapter's vjp and jvp."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from verify.conform.adapters import Adapter, NotOffered
from verify.conform.subject import Subject

Arrays = Mapping[str, Any]
Outputs = dict[str, Any]


@dataclass(frozen=True)
class Mode:
    """A way to differentiate.

    ``compute`` takes the adapter, the subject, arrays by name and eps, and returns outputs by
    name; ``answers`` names the closed form for each output.
    """

    name: str
    compute: Callable[[Adapter, Subject, Arrays, float], Outputs]
    answers: Mapping[str, str]
    order: int
    state: tuple[str, ...] = ()
    """Outputs that outlive the step, and must not be recorded for its derivative."""


def _layer(subject: Subject, eps: float) -> Callable[..., Any]:
    if subject.is_affine:
        return lambda x, gamma, beta: subject.layer(x, gamma, beta, eps)
    return lambda x, gamma, beta: subject.layer(x, None, None, eps)


def _at(arrays: Arrays) -> tuple[Any, ...]:
    return arrays["x"], arrays["gamma"], arrays["beta"]


def _along(arrays: Arrays) -> tuple[Any, ...]:
    return arrays["u"], arrays["a"], arrays["b"]


def _forward(_: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    return {"z": _layer(subject, eps)(*_at(arrays))}


def _gradient(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Take the gradient as training does, where nothing is recorded for another one."""
    backward = getattr(adapter, "backward", adapter.vjp)
    slopes = backward(_layer(subject, eps), _at(arrays), arrays["g"])
    return dict(zip(("x", "gamma", "beta"), slopes, strict=True))


def _recorded_gradient(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Take the gradient as one that is to be differentiated again."""
    if not hasattr(adapter, "backward"):
        raise NotOffered(f"{adapter.name} has no other way to take a gradient")
    slopes = adapter.vjp(_layer(subject, eps), _at(arrays), arrays["g"])
    return dict(zip(("x", "gamma", "beta"), slopes, strict=True))


def _own_gradient(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Take the gradient straight after its forward, and where another forward came between.

    The first is read once more after a backward of another cotangent, which must not change it.
    """
    if subject.backward is None:
        raise NotOffered("no backward was given")
    rest = *_at(arrays), eps
    slopes = _of_backward(subject, subject.backward(arrays["g"], *rest))
    # What is returned may be memory that the next backward writes to.
    found = {name: _copied(adapter, slope) for name, slope in slopes.items()}
    if subject.backward_after is not None:
        others = adapter.array(_others(adapter.numpy(arrays["x"])), adapter.dtype(arrays["x"]))
        later = _of_backward(subject, subject.backward_after(others, arrays["g"], *rest))
        found |= {f"{name}, in flight": _copied(adapter, s) for name, s in later.items()}
    subject.backward(arrays["g"] * -0.5, *rest)
    return found | {f"first {name}": slope for name, slope in slopes.items()}


def _of_backward(subject: Subject, slopes: Any) -> Outputs:
    """Return what a given backward returned by its names; a layer without beta may leave it out."""
    names, is_several = ("x", "gamma", "beta"), isinstance(slopes, tuple | list)
    if is_several and (len(slopes) == 3 or (len(slopes) == 2 and not subject.has_shift)):
        return dict(zip(names, slopes, strict=False))
    given = f"{len(slopes)} values" if is_several else f"an array of shape {np.shape(slopes)}"
    expected = "dx, dgamma, dbeta" if subject.has_shift else "dx, dgamma"
    raise TypeError(f"backward returns {given}; expected {expected}")


def _jvp(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Push all tangents forward at once, and each where the other inputs have none."""
    layer, at, along = _layer(subject, eps), _at(arrays), _along(arrays)
    apart = (
        adapter.jvp(_of_one(layer, at, place), (at[place],), (along[place],))
        for place in range(len(at))
    )
    return {"z": adapter.jvp(layer, at, along), "z, apart": _added(apart)}


def _own_jvp(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Push tangents forward, and read the result once more after that of other tangents."""
    if subject.jvp is None:
        raise NotOffered("no jvp was given")
    first = subject.jvp(*_at(arrays), eps, *_along(arrays))
    kept = _copied(adapter, first)
    subject.jvp(*_at(arrays), eps, *(tangent * -0.5 for tangent in _along(arrays)))
    return {"z": kept, "first z": first}


def _reverse_over_reverse(
    adapter: Adapter, subject: Subject, arrays: Arrays, eps: float
) -> Outputs:
    """Differentiate the gradients together, and that in x alone, as a gradient penalty does.

    Both where the cotangent has a derivative; once more where it is a constant.

    What is left of the sum, the gradients in gamma and beta without that in x, is added to the
    second: so both are of the same closed forms.
    """
    layer, at = _layer(subject, eps), (*_at(arrays), arrays["g"])
    u, *others = _along(arrays)

    def slope(x: Any, gamma: Any, beta: Any, g: Any) -> Any:
        return adapter.vjp(lambda it: layer(it, gamma, beta), (x,), g)[0]

    def other_slopes(x: Any, gamma: Any, beta: Any, g: Any) -> Any:
        return adapter.vjp(lambda *its: layer(x, *its), (gamma, beta), g)

    parts = adapter.vjp(slope, at, u), adapter.vjp(other_slopes, at, tuple(others))
    apart = [_added(both) for both in zip(*parts, strict=True)]
    penalty = adapter.vjp(
        lambda *its: adapter.vjp(layer, its, arrays["g"]), _at(arrays), _along(arrays)
    )
    return _bent(adapter, layer, arrays) | {
        "x, apart": apart[0],
        "gamma, apart": apart[1],
        "g, apart": apart[3],
        "x, g constant": penalty[0],
        "gamma, g constant": penalty[1],
    }


def _bent(adapter: Adapter, layer: Callable[..., Any], arrays: Arrays) -> Outputs:
    """Differentiate a layer's gradients together."""

    def slopes(x: Any, gamma: Any, beta: Any, g: Any) -> Any:
        return adapter.vjp(layer, (x, gamma, beta), g)

    found = adapter.vjp(slopes, (*_at(arrays), arrays["g"]), _along(arrays))
    return dict(zip(("x", "gamma", "beta", "g"), found, strict=True))


def _forward_over_reverse(
    adapter: Adapter, subject: Subject, arrays: Arrays, eps: float
) -> Outputs:
    layer, g = _layer(subject, eps), arrays["g"]
    found = adapter.jvp(lambda *inputs: adapter.vjp(layer, inputs, g), _at(arrays), _along(arrays))
    return dict(zip(("x", "gamma", "beta"), found, strict=True))


def _reverse_over_forward(
    adapter: Adapter, subject: Subject, arrays: Arrays, eps: float
) -> Outputs:
    layer = _layer(subject, eps)

    def moved(x: Any, gamma: Any, beta: Any, *along: Any) -> Any:
        return adapter.jvp(layer, (x, gamma, beta), along)

    found = adapter.vjp(moved, (*_at(arrays), *_along(arrays)), arrays["g"])
    return dict(zip(("x", "gamma", "beta", "u", "a", "b"), found, strict=True))


def _forward_over_forward(
    adapter: Adapter, subject: Subject, arrays: Arrays, eps: float
) -> Outputs:
    layer, along = _layer(subject, eps), _along(arrays)
    second = arrays["w"], arrays["c"], arrays["b"]
    found = adapter.jvp(lambda *inputs: adapter.jvp(layer, inputs, along), _at(arrays), second)
    return {"z": found}


def _third(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    layer, along, g = _layer(subject, eps), _along(arrays), arrays["g"]

    def slopes(*inputs: Any) -> Any:
        return adapter.vjp(layer, inputs, g)

    def bent(*inputs: Any) -> Any:
        return adapter.vjp(slopes, inputs, along)

    found = adapter.vjp(bent, _at(arrays), along)
    return dict(zip(("x", "gamma", "beta"), found, strict=True))


def _repeated(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Call on these numbers, on others, on these: in place where arrays can be changed.

    The first result is read after other calls, which must not have changed it; one of those is on
    a batch of twice the length.
    """
    layer, dtype = _layer(subject, eps), adapter.dtype(arrays["x"])
    first = layer(*_at(arrays))
    x, *parameters = _other_numbers(adapter, arrays)
    layer(adapter.array(np.concatenate([adapter.numpy(x)] * 2), dtype), *parameters)
    layer(x, *parameters)
    kept = _copied(adapter, first)
    return {"z": layer(*_these_again(adapter, arrays, (x, *parameters))), "first z": kept}


def _repeated_gradient(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Take the gradient at these numbers, at others, at these, as :func:`_repeated` the layer."""
    layer, names = _layer(subject, eps), ("x", "gamma", "beta")
    first = adapter.vjp(layer, _at(arrays), arrays["g"])
    others = _other_numbers(adapter, arrays)
    adapter.vjp(layer, others, arrays["g"])
    kept = {
        f"first {name}": _copied(adapter, slope) for name, slope in zip(names, first, strict=True)
    }
    slopes = adapter.vjp(layer, _these_again(adapter, arrays, others), arrays["g"])
    return dict(zip(names, slopes, strict=True)) | kept


def _in_flight(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Take the gradient of a first call after a second one on other numbers."""
    layer, values = _layer(subject, eps), adapter.numpy(arrays["x"])
    others = adapter.array(_others(values), adapter.dtype(arrays["x"]))

    def first(x: Any, gamma: Any, beta: Any) -> Any:
        z = layer(x, gamma, beta)
        layer(others, gamma, beta)
        return z

    slopes = adapter.vjp(first, _at(arrays), arrays["g"])
    return dict(zip(("x", "gamma", "beta"), slopes, strict=True))


def _one_at_a_time(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Take the gradient in each input where the others have none, and in each two of them.

    Of the two gradients that an input has in pairs, half the sum.
    """
    layer, g = _layer(subject, eps), arrays["g"]
    x, gamma, beta = _at(arrays)
    in_x, in_gamma = adapter.vjp(lambda *its: layer(*its, beta), (x, gamma), g)
    in_x_too, in_beta = adapter.vjp(lambda it, b: layer(it, gamma, b), (x, beta), g)
    in_gamma_too, in_beta_too = adapter.vjp(lambda *its: layer(x, *its), (gamma, beta), g)
    return {
        "x": adapter.vjp(lambda it: layer(it, gamma, beta), (x,), g)[0],
        "gamma": adapter.vjp(lambda it: layer(x, it, beta), (gamma,), g)[0],
        "beta": adapter.vjp(lambda it: layer(x, gamma, it), (beta,), g)[0],
        "x, in pairs": in_x * 0.5 + in_x_too * 0.5,
        "gamma, in pairs": in_gamma * 0.5 + in_gamma_too * 0.5,
        "beta, in pairs": in_beta * 0.5 + in_beta_too * 0.5,
    }


def _without_gradient(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Call on these numbers, on others, on these; the first result is read after the second."""
    layer = _not_recorded(adapter, _layer(subject, eps))
    first = layer(*_at(arrays))
    layer(*_other_numbers(adapter, arrays))
    kept = _copied(adapter, first)
    return {"z": layer(*_at(arrays)), "first z": kept}


def _not_recorded(adapter: Adapter, function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is called where nothing is recorded for a derivative."""
    without: Callable[..., Any] | None = getattr(adapter, "without_gradient", None)
    if without is None:
        raise NotOffered(f"{adapter.name} records nothing for derivatives by default")
    return without(function)


def _mapped(adapter: Adapter, function: Callable[..., Any], *arrays: Any) -> Any:
    """Map over a new first axis, of other numbers and of these, and return what came of these."""
    over_first = getattr(adapter, "vmap", None)
    if over_first is None:
        raise NotOffered(f"{adapter.name} has no vmap here")
    found = over_first(function)(*(_stacked(adapter, array) for array in arrays))
    return tuple(part[1] for part in found) if isinstance(found, tuple) else found[1]


def _vmap(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    layer, (x, *parameters) = _layer(subject, eps), _at(arrays)
    return {"z": _mapped(adapter, lambda it: layer(it, *parameters), x)}


def _vmap_parameters(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Map over gamma and beta, of one x: as an ensemble does at its first layer."""
    if not subject.is_affine:
        raise NotOffered("the layer has neither gamma nor beta")
    layer, (x, *parameters) = _layer(subject, eps), _at(arrays)
    return {"z": _mapped(adapter, lambda *its: layer(x, *its), *parameters)}


def _vmap_all(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    return {"z": _mapped(adapter, _layer(subject, eps), *_at(arrays))}


def _vmap_gradient(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Take the gradients of each example of a vmap, all with the same cotangent."""
    layer, (x, *parameters), g = _layer(subject, eps), _at(arrays), arrays["g"]
    slopes = _mapped(adapter, lambda it: adapter.vjp(layer, (it, *parameters), g), x)
    return dict(zip(("x", "gamma", "beta"), slopes, strict=True))


def _vmap_all_gradient(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    layer, g = _layer(subject, eps), arrays["g"]
    slopes = _mapped(adapter, lambda *its: adapter.vjp(layer, its, g), *_at(arrays))
    return dict(zip(("x", "gamma", "beta"), slopes, strict=True))


def _output_changed(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Add one to the output in place, which changes no gradient; layers before relu_ meet this."""
    add_one = getattr(adapter, "add_one", None)
    if add_one is None:
        raise NotOffered(f"{adapter.name} changes no array of a derivative in place")
    layer = _layer(subject, eps)
    slopes = adapter.vjp(lambda *inputs: add_one(layer(*inputs)), _at(arrays), arrays["g"])
    return dict(zip(("x", "gamma", "beta"), slopes, strict=True))


def _gradient_twice(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Go back through one forward pass again, as where another loss shares it.

    The second cotangent is minus half the first, whose gradients are read after the second's.
    """
    again = getattr(adapter, "vjp_again", None)
    if again is None:
        raise NotOffered(f"{adapter.name} keeps no pass that can be gone back through twice")
    g = arrays["g"]
    first, second = again(_layer(subject, eps), _at(arrays), (g, g * -0.5))
    slopes = [slope * -2.0 for slope in second]
    return dict(zip((*_SLOPES, *_FIRST_SLOPES), (*slopes, *first), strict=True))


def _others(values: np.ndarray) -> np.ndarray:
    """Return other numbers of the same size and shape."""
    return np.flip(values).copy()


def _stacked(adapter: Adapter, array: Any) -> Any:
    """Return other numbers and these along a new first axis."""
    values = adapter.numpy(array)
    return adapter.array(np.stack([_others(values), values]), adapter.dtype(array))


def _other_numbers(adapter: Adapter, arrays: Arrays) -> tuple[Any, ...]:
    """Return x, gamma and beta of other numbers."""
    dtype = adapter.dtype(arrays["x"])
    return tuple(adapter.array(_others(adapter.numpy(array)), dtype) for array in _at(arrays))


def _these_again(adapter: Adapter, arrays: Arrays, others: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return x, gamma and beta, written into the others' memory where arrays can be changed."""
    fill = getattr(adapter, "fill", None)
    if fill is None:
        return _at(arrays)
    for array, these in zip(others, _at(arrays), strict=True):
        fill(array, adapter.numpy(these))
    return others


def _copied(adapter: Adapter, array: Any) -> Any:
    """Return what is in an array's memory now; None where there is none."""
    return None if array is None else adapter.array(adapter.numpy(array), adapter.dtype(array))


def _of_one(layer: Callable[..., Any], at: tuple[Any, ...], place: int) -> Callable[..., Any]:
    """Return the layer as a function of one of its inputs."""
    return lambda it: layer(*at[:place], it, *at[place + 1 :])


def _added(arrays: Iterable[Any]) -> Any:
    return reduce(add, arrays)


def _parameters(subject: Subject, gamma: Any, beta: Any) -> tuple[Any, Any]:
    return (gamma, beta) if subject.is_affine else (None, None)


MOMENTUM = 0.125
"""A power of two, the same number in every dtype."""


def _running(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Take three steps of training, the second on another batch."""
    if subject.train is None:
        raise NotOffered("no step of training was given")
    parameters = _parameters(subject, arrays["gamma"], arrays["beta"])
    state = arrays["mean"], arrays["variance"]
    steps = []
    for x in (arrays["x"], arrays["g"], arrays["x"]):
        z, *state = subject.train(x, *parameters, *state, MOMENTUM, eps)
        # Statistics may be a module's own, which the next step moves.
        steps.append(tuple(_copied(adapter, array) for array in (z, *state)))
    first, last = steps[0], steps[-1]
    return {
        "z": first[0],
        "mean": first[1],
        "variance": first[2],
        "mean, 3 steps": last[1],
        "variance, 3 steps": last[2],
    }


def _running_unrecorded(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Take one step of training where nothing is recorded, as when statistics are estimated."""
    step = _not_recorded(adapter, _step(subject, arrays, eps))
    return dict(zip(_STATE, step(*_at(arrays))[1:], strict=True))


def _step(subject: Subject, arrays: Arrays, eps: float) -> Callable[..., Any]:
    train = subject.train
    if train is None:
        raise NotOffered("no step of training was given")
    before = arrays["mean"], arrays["variance"]

    def step(x: Any, gamma: Any, beta: Any) -> Any:
        return train(x, *_parameters(subject, gamma, beta), *before, MOMENTUM, eps)

    return step


def _recomputed(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Take one step of training and its gradients, which may compute the layer once more."""
    step, state = _step(subject, arrays, eps), []

    def output(x: Any, gamma: Any, beta: Any) -> Any:
        z, *after = step(x, gamma, beta)
        state.append(after)
        return z

    backward = getattr(adapter, "backward", adapter.vjp)
    slopes = backward(output, _at(arrays), arrays["g"])
    mean, variance = state[0]
    return {
        **dict(zip(("x", "gamma", "beta"), slopes, strict=True)),
        "mean": mean,
        "variance": variance,
    }


def _step_second(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    step = _step(subject, arrays, eps)
    return _bent(adapter, lambda *inputs: step(*inputs)[0], arrays)


def _evaluated(subject: Subject, arrays: Arrays, eps: float) -> Callable[..., Any]:
    evaluate = subject.evaluate
    if evaluate is None:
        raise NotOffered("no evaluation was given")
    mean, variance = arrays["mean"], arrays["variance"]
    if subject.is_affine:
        return lambda x, gamma, beta: evaluate(x, gamma, beta, mean, variance, eps)
    return lambda x, gamma, beta: evaluate(x, None, None, mean, variance, eps)


def _evaluation(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Evaluate, and read the result once more after an evaluation of other numbers."""
    return _read_twice(adapter, _evaluated(subject, arrays, eps), arrays)


def _evaluation_unrecorded(
    adapter: Adapter, subject: Subject, arrays: Arrays, eps: float
) -> Outputs:
    """Evaluate where nothing is recorded, as a trained layer is used."""
    evaluate = _not_recorded(adapter, _evaluated(subject, arrays, eps))
    return _read_twice(adapter, evaluate, arrays)


def _read_twice(adapter: Adapter, function: Callable[..., Any], arrays: Arrays) -> Outputs:
    """Return an output, and what is in its memory after a call on other numbers."""
    first = function(*_at(arrays))
    kept = _copied(adapter, first)
    function(*_other_numbers(adapter, arrays))
    return {"z": kept, "first z": first}


def _evaluation_gradient(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    slopes = adapter.vjp(_evaluated(subject, arrays, eps), _at(arrays), arrays["g"])
    return dict(zip(("x", "gamma", "beta"), slopes, strict=True))


def _evaluation_second(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    return _bent(adapter, _evaluated(subject, arrays, eps), arrays)


def _untracked(adapter: Adapter, subject: Subject, arrays: Arrays, eps: float) -> Outputs:
    """Evaluate where no running statistics are kept: on the batch's own, as in training."""
    if subject.untracked is None:
        raise NotOffered("no evaluation without running statistics was given")
    layer = _layer(replace(subject, layer=subject.untracked), eps)
    slopes = adapter.vjp(layer, _at(arrays), arrays["g"])
    return {"z": layer(*_at(arrays)), **dict(zip(_SLOPES, slopes, strict=True))}


FORWARD = Mode("forward", _forward, {"z": "z"}, 0)
_SLOPES = {"x": "x", "gamma": "gamma", "beta": "beta"}
_IN_PAIRS = {f"{name}, in pairs": answer for name, answer in _SLOPES.items()}
_IN_FLIGHT = {f"{name}, in flight": answer for name, answer in _SLOPES.items()}
_FIRST_SLOPES = {"first x": "x", "first gamma": "gamma", "first beta": "beta"}
_STATE = {"mean": "mean", "variance": "variance"}
_LATER = {"mean, 3 steps": "mean3", "variance, 3 steps": "variance3"}
_EVALUATIONS = {"z": "ez", "first z": "ez"}
_EVALUATED = {"x": "ex", "gamma": "egamma", "beta": "beta"}
_EVALUATED_BENT = {"x": "ehx", "gamma": "ehgamma", "beta": "hbeta", "g": "edz"}
_BENT = {"x": "hx", "gamma": "hgamma", "beta": "hbeta"}
_BENT_APART = {"x, apart": "hx", "gamma, apart": "hgamma", "g, apart": "dz"}
_BENT_ALONE = {"x, g constant": "hx", "gamma, g constant": "hgamma"}
_DUAL = {"u": "x", "a": "gamma", "b": "beta"}
MODES = (
    FORWARD,
    Mode("gradient", _gradient, _SLOPES, 1),
    Mode("own gradient", _own_gradient, {**_SLOPES, **_IN_FLIGHT, **_FIRST_SLOPES}, 1),
    Mode("jvp", _jvp, {"z": "dz", "z, apart": "dz"}, 1),
    Mode("own jvp", _own_jvp, {"z": "dz", "first z": "dz"}, 1),
    Mode("second rr", _reverse_over_reverse, {**_BENT, "g": "dz", **_BENT_APART, **_BENT_ALONE}, 2),
    Mode("second fr", _forward_over_reverse, _BENT, 2),
    Mode("second rf", _reverse_over_forward, {**_BENT, **_DUAL}, 2),
    Mode("second ff", _forward_over_forward, {"z": "ddz"}, 2),
    Mode("third", _third, {"x": "tx", "gamma": "tgamma", "beta": "tbeta"}, 3),
    Mode("recorded gradient", _recorded_gradient, _SLOPES, 1),
    Mode("repeated", _repeated, {"z": "z", "first z": "z"}, 0),
    Mode("repeated gradient", _repeated_gradient, {**_SLOPES, **_FIRST_SLOPES}, 1),
    Mode("without gradient", _without_gradient, {"z": "z", "first z": "z"}, 0),
    Mode("one at a time", _one_at_a_time, {**_SLOPES, **_IN_PAIRS}, 1),
    Mode("in flight", _in_flight, _SLOPES, 1),
    Mode("output changed", _output_changed, _SLOPES, 1),
    Mode("gradient twice", _gradient_twice, {**_SLOPES, **_FIRST_SLOPES}, 1),
    Mode("vmap", _vmap, {"z": "z"}, 0),
    Mode("vmap parameters", _vmap_parameters, {"z": "z"}, 0),
    Mode("vmap all", _vmap_all, {"z": "z"}, 0),
    Mode("vmap gradient", _vmap_gradient, _SLOPES, 1),
    Mode("vmap all gradient", _vmap_all_gradient, _SLOPES, 1),
    Mode("running", _running, {"z": "z", **_STATE, **_LATER}, 1),
    Mode("running without gradient", _running_unrecorded, _STATE, 0),
    Mode("recomputed", _recomputed, {**_SLOPES, **_STATE}, 1, state=tuple(_STATE)),
    Mode("step second", _step_second, {**_BENT, "g": "dz"}, 2),
    Mode("evaluation", _evaluation, _EVALUATIONS, 0),
    Mode("evaluation without gradient", _evaluation_unrecorded, _EVALUATIONS, 0),
    Mode("evaluation gradient", _evaluation_gradient, _EVALUATED, 1),
    Mode("evaluation second", _evaluation_second, _EVALUATED_BENT, 2),
    Mode("untracked evaluation", _untracked, {"z": "z", **_SLOPES}, 1),
)
"""Names of two letters: the outer mode, then the inner; r is reverse and f is forward."""


def by_name(name: str) -> Mode:
    """Return the mode of that name."""
    return next(mode for mode in MODES if mode.name == name)

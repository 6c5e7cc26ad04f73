"""A step with BNP is a plain gradient step in other parameters: theta = P z / q, by autograd."""

from copy import deepcopy

import pytest
import torch
from bnp_subjects import RATE, TOLERANCE, dense, drawn, in_place, loss, redrawn
from torch import nn
from torch.func import functional_call, grad

from theory import preconditioning
from theory.nn import batch_statistics, layer_preconditioner, preconditioned_gradients
from theory.nn.bnp import BNP
from theory.nn.compilers import can_compile

RHO, EPS_1, EPS_2 = 0.7, 0.03, 0.002


def convolutional():
    return redrawn(
        nn.Sequential(
            nn.Conv2d(4, 6, (3, 2), stride=2, dilation=(1, 2), padding=1),
            nn.Tanh(),
            nn.Conv2d(6, 4, 3, padding=1, groups=2),
            nn.Flatten(),
            nn.Linear(36, 2),
        )
    )


def without_biases():
    layers = nn.Linear(5, 7, bias=False), nn.Tanh(), nn.Linear(7, 3, bias=False)
    return redrawn(nn.Sequential(*layers))


# Of eight and of three examples, so that N is once larger than n and once smaller.
SUBJECTS = {
    "dense": (dense, 2.0 + 3.0 * drawn(8, 5, seed=9)),
    "dense, few examples": (dense, 2.0 + 3.0 * drawn(3, 5, seed=9)),
    "one example": (dense, 2.0 + 3.0 * drawn(1, 5, seed=9)),
    "convolutional": (convolutional, 1.0 + drawn(5, 4, 6, 5, seed=9)),
    "many images": (convolutional, 1.0 + drawn(20, 4, 6, 5, seed=9)),
    "one image": (convolutional, 1.0 + drawn(1, 4, 6, 5, seed=9)),
    "without biases": (without_biases, 2.0 + 3.0 * drawn(8, 5, seed=9)),
}


def inputs_of(model, x):
    """What each layer with weights meets, and how many outputs an example has there."""
    met = {}
    for name, layer in model.named_children():
        before, x = x, layer(x)
        if isinstance(layer, (nn.Linear, nn.Conv2d)):
            met[name] = before.detach(), x[0, 0].numel()
    return met


def columns(h, layer):
    """Examples and pixels as rows, (m, feature), and the entries of a feature in a weight."""
    if isinstance(layer, nn.Linear):
        return h, 1
    return torch.stack([h[:, c].flatten() for c in range(h.shape[1])], 1), layer.weight[
        0, 0
    ].numel()


def literal_preconditioner(layer, h, outputs_each, running):
    """P / q of each group as matrices, entry by entry from Algorithms 2 and 3."""
    rows, entries = columns(h, layer)
    old_mean, old_variance = running
    mean = rows.sum(0) / len(rows)
    around = old_mean if len(rows) == 1 else mean
    variance = ((rows - around) ** 2).sum(0) / len(rows)
    mean = RHO * old_mean + (1 - RHO) * mean
    variance = RHO * old_variance + (1 - RHO) * variance
    if layer.bias is None:
        mean, variance = 0 * mean, variance + mean**2
    groups = getattr(layer, "groups", 1)
    width = len(mean) // groups
    matrices = []
    for g in range(groups):
        part = slice(g * width, (g + 1) * width)
        guarded = [v + EPS_1 * variance[part].max() + EPS_2 for v in variance[part]]
        n = width * entries
        q = max(n / len(h), outputs_each**0.5) ** 0.5
        P = torch.eye(n + 1, dtype=torch.float64)
        for j in range(n):
            deviation = guarded[j // entries] ** 0.5
            P[j + 1, j + 1] = 1 / deviation
            P[0, j + 1] = -mean[part][j // entries] / deviation
        matrices.append(P / q)
    return matrices


def literal_step(model, x):
    """The parameters after a plain gradient step in z, layer by layer and group by group."""
    parameters = {k: p.detach() for k, p in model.named_parameters()}
    moves, place = {}, {}
    for name, (h, outputs_each) in inputs_of(model, x).items():
        layer = model.get_submodule(name)
        n = columns(h, layer)[0].shape[1]
        statistics = torch.zeros(n).double(), torch.ones(n).double()
        moves[name] = literal_preconditioner(layer, h, outputs_each, statistics)
        weight = parameters[f"{name}.weight"].flatten(1)
        bias = parameters.get(f"{name}.bias", torch.zeros(len(weight)).double())
        theta = torch.cat([bias[:, None], weight], 1).chunk(len(moves[name]))
        place[name] = [torch.linalg.solve(P, t.T) for P, t in zip(moves[name], theta, strict=True)]

    def restored(z):
        values = {}
        for name, parts in z.items():
            theta = torch.cat([(P @ part).T for P, part in zip(moves[name], parts, strict=True)])
            shape = parameters[f"{name}.weight"].shape
            values[f"{name}.weight"] = theta[:, 1:].reshape(shape)
            if f"{name}.bias" in parameters:
                values[f"{name}.bias"] = theta[:, 0]
        return values

    gradient = grad(lambda z: loss(functional_call(model, restored(z), (x,))))(place)
    return restored(
        {
            name: [z - RATE * g for z, g in zip(place[name], gradient[name], strict=True)]
            for name in place
        }
    )


def step_by_bnp(model, x, **named):
    model = deepcopy(model)
    bnp = BNP(model, rho=RHO, eps_1=EPS_1, eps_2=EPS_2, **named)
    loss(model(x)).backward()
    bnp.precondition()
    torch.optim.SGD(model.parameters(), RATE).step()
    return model.state_dict()


def error(model, x, **named):
    """The largest error of the step, relative to the largest change of that parameter."""
    expected, found = literal_step(model, x), step_by_bnp(model, x, **named)
    before = model.state_dict()
    return max(
        float((found[k] - expected[k]).abs().max() / (expected[k] - before[k]).abs().max())
        for k in expected
    )


@pytest.mark.parametrize("name", SUBJECTS)
def test_a_step_is_a_plain_one_in_other_parameters(name):
    build, x = SUBJECTS[name]
    assert error(build(), x) < TOLERANCE


@pytest.mark.parametrize("name", SUBJECTS)
def test_what_is_to_be_compiled_does_the_same(name, monkeypatch):
    by_layer = preconditioned_gradients.steps_3_to_5_by_layer
    monkeypatch.setattr(torch, "compile", lambda function, fullgraph: function)
    assert BNP(SUBJECTS[name][0](), compiled=True)._steps is by_layer
    build, x = SUBJECTS[name]
    assert error(build(), x, compiled=True) < TOLERANCE


@pytest.mark.skipif(not can_compile("cpu"), reason="no C++ compiler: install one, such as g++")
def test_compiled_it_takes_batches_of_any_size():
    build, x = SUBJECTS["many images"]
    for images in (x, x[:-1]):
        assert error(build(), images, compiled=True) < TOLERANCE


def test_gradients_change_in_place_as_the_formula_returns_them():
    grad_b, grad_W, mean = drawn(3, seed=1), drawn(3, 5, seed=2), drawn(5, seed=3)
    variance, q_squared = drawn(5, seed=4).square() + 0.1, 1.7
    expected = preconditioning.preconditioned_gradient(
        grad_b, grad_W, mean, variance, q_squared=q_squared
    )
    part = preconditioned_gradients.Matrices(grad_b, grad_W, mean, variance, q_squared)
    preconditioned_gradients.steps_4_and_5([part])
    for found, right in zip((grad_b, grad_W), expected, strict=True):
        torch.testing.assert_close(found, right, rtol=1e-14, atol=1e-14)


CHANGES = ("sign", "not centred", "deviation", "q", "at once", "no step 5", "bias without q")
FEW = SUBJECTS["dense, few examples"]


@pytest.mark.parametrize("change", CHANGES)
def test_wrong_steps_4_and_5_are_seen(change, monkeypatch):
    monkeypatch.setattr(preconditioned_gradients, "steps_4_and_5", in_place(change))
    assert error(FEW[0](), FEW[1]) > 1e-3


def assert_seen():
    assert max(error(build(), x) for build, x in (FEW, SUBJECTS["dense"])) > 1e-4


@pytest.mark.parametrize("shares", [lambda rho: (1 - rho, rho), lambda rho: (0, 1)])
def test_a_wrong_step_2_is_seen(shares, monkeypatch):
    def wrong(old, new, rho):
        kept, taken = shares(rho)
        for o, n in zip(old, new, strict=True):
            o.mul_(kept).add_(n, alpha=taken)

    monkeypatch.setattr(preconditioned_gradients, "running", wrong)
    assert_seen()


@pytest.mark.parametrize(
    "wrong",
    [
        lambda v, constants: v + constants.eps_1 * v.mean() + constants.eps_2,
        lambda v, constants: v + constants.eps_1 * v.max(),
        lambda v, constants: v + constants.eps_2,
    ],
)
def test_a_wrong_variance_of_step_3_is_seen(wrong, monkeypatch):
    monkeypatch.setattr(
        preconditioned_gradients,
        "regularized",
        lambda variances, constants: [wrong(v, constants) for v in variances],
    )
    assert_seen()


@pytest.mark.parametrize("wrong", [lambda N, n: 1, lambda N, n: n / N, lambda N, n: max(N / n, 1)])
def test_a_wrong_q_of_step_3_is_seen(wrong, monkeypatch):
    monkeypatch.setattr(preconditioning, "scale_factor", wrong)
    assert_seen()


def test_wrong_statistics_are_seen(monkeypatch):
    right = batch_statistics.of

    def unbiased(layer, inputs):
        found = right(layer, inputs)
        return found._replace(variance=found.variance * found.size / (found.size - 1))

    def not_centred(layer, inputs):
        found = right(layer, inputs)
        return found._replace(variance=found.variance + found.mean**2)

    for wrong in (unbiased, not_centred):
        monkeypatch.setattr(batch_statistics, "of", wrong)
        assert error(FEW[0](), FEW[1]) > 1e-3


def test_a_wrong_q_of_a_convolution_is_seen(monkeypatch):
    build, x = SUBJECTS["many images"]
    monkeypatch.setattr(layer_preconditioner, "q_squared", lambda n, N, rows: max(n / N, 1.0))
    assert error(build(), x) > 1e-3
    monkeypatch.setattr(layer_preconditioner, "q_squared", lambda n, N, rows: max(n / N, rows / N))
    assert error(build(), x) > 1e-3


def test_a_second_step_uses_the_first_ones_statistics():
    build, x = SUBJECTS["dense"]
    model = build()
    bnp = BNP(model, rho=RHO)
    for batch in (x, 5 - 2 * x):
        model(batch).sum().backward()
        bnp.precondition()
    mean = (1 - RHO) * (RHO * x.mean(0) + (5 - 2 * x).mean(0))
    torch.testing.assert_close(bnp.state_dict()["0.mean"], mean, rtol=1e-14, atol=0)
    spread = RHO**2 + (1 - RHO) * (RHO * x.var(0, correction=0) + 4 * x.var(0, correction=0))
    torch.testing.assert_close(bnp.state_dict()["0.variance"], spread, rtol=1e-14, atol=0)


def test_the_constants_are_the_papers():
    assert preconditioned_gradients.Constants() == (1e-2, 1e-4, 0.99)
    assert BNP(dense()).constants == preconditioned_gradients.Constants()

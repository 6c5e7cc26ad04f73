"""Layers that normalise against their formulas written out, number by number, with gradients."""

from copy import deepcopy
from functools import partial
from math import inf

import pytest
import torch
from torch import nn

from theory.nn.batch_group_normalization import BatchGroupNormalization
from theory.nn.batch_renormalization import BatchRenormalization
from theory.nn.lp_normalization import LpNormalization
from theory.nn.post_activation import PostActivation

EPS, RHO, SHARE = 0.05, 0.8, 0.3
TOLERANCE = 2.0**-53 * 2**10

UNITS = [(6, 3), (2, 3), (3, 3, 2, 4), (2, 3, 1, 1)]
GROUPS = [(7, 6), (7, 6, 2, 3)]
lp = partial(LpNormalization, 3, eps=EPS, momentum=1 - RHO)
renormalization = partial(BatchRenormalization, 3, eps=EPS, rho=RHO)
in_groups = partial(BatchGroupNormalization, 6, eps=EPS, rho=RHO, share=SHARE)
behind = partial(PostActivation, eps=EPS, rho=RHO)
LAYERS = {
    "l1": (partial(lp, 1), UNITS),
    "l2": (partial(lp, 2), UNITS),
    "linf": (partial(lp, inf), UNITS),
    "renormalization": (renormalization, UNITS),
    "before a linear layer": (lambda: behind(nn.Linear(3, 2)), [(6, 3), (2, 3)]),
    "before one without bias": (lambda: behind(nn.Linear(3, 2, bias=False)), [(6, 3)]),
    "before a convolution": (lambda: behind(nn.Conv2d(3, 2, (2, 3), stride=2)), [(2, 3, 5, 6)]),
    "before one in groups": (lambda: behind(nn.Conv2d(4, 6, 3, groups=2)), [(2, 4, 5, 5)]),
    "before one padded by its edge": (
        lambda: behind(nn.Conv2d(3, 2, 3, padding=1, padding_mode="replicate")),
        [(2, 3, 4, 4)],
    ),
    "before one padded around": (
        lambda: behind(nn.Conv2d(3, 2, 3, padding="same", padding_mode="circular")),
        [(2, 3, 4, 4)],
    ),
    "all examples": (in_groups, GROUPS),
    "all examples in pairs of channels": (partial(in_groups, channels=2), GROUPS),
    "each example": (partial(in_groups, 1, 2, share=1.0), [*GROUPS, (1, 6)]),
    "ghosts of two": (partial(in_groups, 2, 6, share=0.0), GROUPS),
    "ghosts of three": (partial(in_groups, 3, 3), GROUPS),
    "ghosts larger than the batch": (partial(in_groups, 9), GROUPS),
}
GHOSTS = {None: [7], 1: [1] * 7, 2: [3, 2, 2], 3: [4, 3], 9: [7]}
"""How many examples the ghost batches have of seven."""

CASES = [(name, shape) for name, (_, shapes) in LAYERS.items() for shape in shapes]
every_case = pytest.mark.parametrize(("name", "shape"), CASES)


def drawn(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator, dtype=torch.float64)


def made(name):
    """A layer with generic parameters and averages."""
    layer = LAYERS[name][0]().double()
    for number, (key, values) in enumerate(layer.state_dict().items()):
        generic = drawn(*values.shape, seed=number + 1)
        is_spread = key.endswith(("norm", "deviation", "var"))
        values.copy_(1 + generic.abs() if is_spread else generic / 2)
    return layer


def averages(layer):
    """What is subtracted in evaluation, and what is divided by or is the mean square."""
    if isinstance(layer, LpNormalization):
        return layer.running_mean, layer.running_norm
    if isinstance(layer, BatchGroupNormalization):
        return layer.running_mean, layer.square
    return layer.running.mean, layer.running.deviation


def spread(layer, h):
    """What each unit, or group, of ``(example, unit, entry)`` is divided by."""
    if not isinstance(layer, LpNormalization):
        return ((h - h.mean((0, 2), keepdim=True)) ** 2).mean((0, 2), keepdim=True).add(EPS) ** 0.5
    if layer.p == inf:
        return h.abs().amax((0, 2), keepdim=True) + EPS
    return ((h.abs() ** layer.p).mean((0, 2), keepdim=True) + EPS) ** (1 / layer.p)


def moved(old, new):
    return RHO * old + (1 - RHO) * new.detach().flatten()


def in_training(layer, y):
    """The normalized batch, and the averages that it leaves."""
    first, second = averages(layer)
    ghosts = GHOSTS[getattr(layer, "examples", None)] if len(y) == 7 else [len(y)]
    normalized = []
    for ghost in y.split(ghosts):
        h = ghost.reshape(len(ghost), len(first), -1)
        mean, scale = h.mean((0, 2), keepdim=True), spread(layer, h)
        z = (h - mean) / scale
        if isinstance(layer, BatchRenormalization):
            z = (z * scale.detach() + mean.detach() - first[:, None]) / second[:, None]
        normalized.append(z.reshape(ghost.shape))
        if isinstance(layer, BatchGroupNormalization):
            scale = (h**2).mean((0, 2))
        first, second = moved(first, mean), moved(second, scale)
    return torch.cat(normalized), (first, second)


def in_evaluation(layer, y):
    """The normalized batch."""
    middle, scale = (values[:, None] for values in averages(layer))
    h = y.reshape(len(y), len(middle), -1)
    if isinstance(layer, BatchGroupNormalization):
        middle = layer.share * h.mean(2, keepdim=True) + (1 - layer.share) * middle
        square = layer.share * (h**2).mean(2, keepdim=True) + (1 - layer.share) * scale
        scale = (square - middle**2 + EPS) ** 0.5
    return ((h - middle) / scale).reshape(y.shape)


def of_normalized(layer, z):
    """The output, of the normalized batch."""
    each = (-1, *(1 for _ in z.shape[2:]))
    z = layer.weight.reshape(each) * z + layer.bias.reshape(each)
    return layer.layer(z) if isinstance(layer, PostActivation) else z


def differences(name, shape):
    """Errors in training: of the output, of all gradients and of the averages."""
    ours, theirs = made(name), made(name)
    y = (2 + 3 * drawn(*shape)).requires_grad_()
    copy = y.detach().clone().requires_grad_()
    normalized, left = in_training(theirs, copy)
    expected, found = of_normalized(theirs, normalized), ours(y)
    for output in (expected, found):
        (drawn(*found.shape, seed=9) * output).sum().backward()
    pairs = [
        (found, expected),
        (y.grad, copy.grad),
        *[(p.grad, q.grad) for p, q in zip(ours.parameters(), theirs.parameters(), strict=True)],
        *zip(averages(ours), left, strict=True),
    ]
    return [float((a - b).abs().max().detach()) for a, b in pairs]


@every_case
def test_training_is_the_formula(name, shape):
    assert max(differences(name, shape)) < TOLERANCE


@every_case
def test_evaluation_is_by_the_averages_and_leaves_them(name, shape):
    layer, y = made(name).eval(), 2 + 3 * drawn(*shape)
    before = {key: values.clone() for key, values in layer.state_dict().items()}
    with torch.no_grad():
        expected = of_normalized(layer, in_evaluation(layer, y))
        torch.testing.assert_close(layer(y), expected, rtol=TOLERANCE, atol=TOLERANCE)
        torch.testing.assert_close(layer(y[:1]), expected[:1], rtol=TOLERANCE, atol=TOLERANCE)
    torch.testing.assert_close(layer.state_dict(), before, rtol=0, atol=0)


@pytest.mark.parametrize("name", ["l1", "l2", "linf"])
def test_first_and_second_derivatives_pass_difference_quotients(name):
    y = drawn(4, 3, seed=7).requires_grad_()
    assert torch.autograd.gradcheck(made(name), y, check_forward_ad=True)
    assert torch.autograd.gradgradcheck(made(name), y)


POST = [(name, shape) for name, shape in CASES if name.startswith("before")]


@pytest.mark.parametrize(("name", "shape"), POST)
def test_in_evaluation_post_activation_is_a_vanilla_layer(name, shape):
    layer, h = made(name).eval(), 2 + 3 * drawn(*shape)
    vanilla = layer.vanilla()
    torch.testing.assert_close(vanilla(h), layer(h), rtol=1e-12, atol=1e-12)
    vanilla.weight.data.zero_()  # a copy
    assert layer.layer.weight.any()


@pytest.mark.parametrize("options", [{"padding": 1}, {"padding": "same"}])
def test_convolutions_that_no_vanilla_layer_equals(options):
    with pytest.raises(ValueError, match="pads its maps with zeros"):
        PostActivation(nn.Conv2d(3, 3, 3, **options)).vanilla()


def test_half_precision_meets_parameters_of_single_precision():
    layer = LpNormalization(3, 2)
    assert layer(drawn(5, 3).to(torch.bfloat16)).dtype == torch.float32
    assert layer.running_norm.dtype == torch.float32


def test_a_unit_that_does_not_vary():
    y = torch.tensor([[1.0, 5.0], [3.0, 5.0]], requires_grad=True)
    assert LpNormalization(2, inf, eps=0.0)(y)[:, 1].tolist() == [0.0, 0.0]
    with pytest.raises(ValueError, match=r"\(2, 2\) has a unit of zeros and eps = 0"):
        LpNormalization(2, 2, eps=0.0)(0 * y)
    z = BatchRenormalization(2, rho=0.5)(y)
    assert z[:, 1].tolist() == [5.0, 5.0]
    z = PostActivation(nn.Linear(2, 2))(z) + BatchGroupNormalization(2)(z)
    (z * torch.tensor([[1.0, 2.0], [3.0, 5.0]])).sum().backward()
    assert y.grad.isfinite().all()


HALF = {
    "renormalization": lambda: BatchRenormalization(2, rho=0.5),
    "l2": lambda: LpNormalization(2, 2),
    "l3": lambda: LpNormalization(2, 3),
    "groups": lambda: BatchGroupNormalization(2),
    "behind": lambda: PostActivation(nn.Linear(2, 2)),
}


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("name", HALF)
def test_half_precision_has_its_statistics_in_float32(name, dtype):
    """Of entries whose squares are beyond float16, to the rounding of the output."""
    y = (300 + 1500 * torch.rand(16, 2, generator=torch.Generator().manual_seed(0))).to(dtype)
    torch.manual_seed(0)
    half, whole = HALF[name]().to(dtype), HALF[name]().double()
    whole.load_state_dict(half.state_dict())
    found, expected = half(y), whole(y.double())
    assert found.dtype == dtype
    largest = expected.abs().max()
    assert (found - expected).abs().max() <= 4 * torch.finfo(dtype).eps * largest


@pytest.mark.parametrize("name", HALF)
def test_shapes_are_known_without_numbers(name):
    y = torch.empty(16, 2, device="meta")
    assert HALF[name]().to("meta")(y).shape == y.shape


IN_EVALUATION = {
    f"groups, share {share}": partial(BatchGroupNormalization, 2, share=share)
    for share in (0.0, 0.3, 1.0)
}


def made_for_two(name, training):
    torch.manual_seed(0)
    layer = (HALF | IN_EVALUATION)[name]().train(training)
    if name == "behind":
        nn.init.eye_(layer.layer.weight)
    return layer


def with_gradient(layer, y, size):
    y = y.requires_grad_()
    z = layer(y)
    z.backward(size * drawn(*y.shape, seed=1).to(y))
    return z.detach(), y.grad


def assert_digits(layer, y, size=1.0):
    """Of the output and the gradient in each unit, against the layer in double precision."""
    whole = deepcopy(layer).double()
    exact, found = with_gradient(whole, y.double(), size), with_gradient(layer, y, size)
    for single, double in zip(found, exact, strict=True):
        error = (single - double).abs().transpose(0, 1).flatten(1)
        assert (error.amax(1) <= 2e-6 * double.abs().transpose(0, 1).flatten(1).amax(1)).all()
    return whole


@pytest.mark.parametrize("size", [1e20, 2e37])
@pytest.mark.parametrize("name", [*HALF, *IN_EVALUATION])
def test_squares_and_sums_beyond_the_format_cost_no_digits(name, size):
    """One far unit and one that is not."""
    y = 0.3 + drawn(*((40, 2) if name in HALF else (8, 2, 5))).float()
    y[:, 1] *= size
    assert_digits(made_for_two(name, name in HALF), y)


@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("name", HALF)
def test_differences_beyond_the_format_cost_no_digits(name, training):
    y = torch.tensor([[3e38, 1.0], [3e38, 2.0], [3e38, 4.0], [-3e38, 0.0]])
    layer = made_for_two(name, True)
    if not training:
        layer(y)  # which leaves averages as large
        layer.eval()
    # Batch Renormalization passes on s g, s being 3e38.
    assert_digits(layer, y, 2.0**-10 if training and name == "renormalization" else 1.0)


POWERS = [(64, 3.0), (3, 1e14), (60, 0.1), (3, 1e-15), (2, 1e25), (2, 1e-30), (400, 1e-20)]


@pytest.mark.parametrize(("p", "size"), POWERS)
def test_powers_of_any_size_cost_no_digits(p, size):
    y = size * torch.tensor([[1.0], [-2.0], [0.5], [1.5]])
    layer = LpNormalization(1, p, eps=0.0)
    expected = assert_digits(layer, y).running_norm
    torch.testing.assert_close(layer.running_norm.double(), expected, rtol=2e-6, atol=0)


@pytest.mark.parametrize("share", [0.0, 0.3])
def test_in_evaluation_groups_of_many_batches_are_one_call(share):
    layer, y = BatchGroupNormalization(2, share=share).eval(), drawn(4, 3, 2, 5).float()
    torch.testing.assert_close(torch.vmap(layer)(y), torch.stack([layer(each) for each in y]))


def test_next_to_a_large_mean_the_spread_of_groups_is_kept():
    y = 3000 + torch.randn(64, 2, generator=torch.Generator().manual_seed(0))
    layer, exact = (BatchGroupNormalization(2, rho=0.0, share=0.3).to(d) for d in
                    (torch.float32, torch.float64))  # fmt: skip
    y64 = y.double()
    layer(y), exact(y64)
    # The definition with mean squares, in double, where it has the digits.
    mean = 0.3 * y64 + 0.7 * y64.mean(0)
    variance = 0.3 * y64**2 + 0.7 * (y64**2).mean(0) - mean**2
    expected = (y64 - mean) / (variance + 1e-5).sqrt()
    for found in (layer.eval()(y), exact.eval()(y64)):
        assert (found - expected).abs().max() < 1e-3


def test_of_units_on_axis_1_alone_there_is_a_layer_behind():
    with pytest.raises(
        ValueError, match=r"was given h of shape \(5, 4, 4\); expected \(batch, unit"
    ):
        PostActivation(nn.Linear(4, 2))(torch.ones(5, 4, 4))
    with pytest.raises(ValueError, match=r"shape \(5, 4\); expected \(batch, channel, height, wid"):
        PostActivation(nn.Conv2d(4, 2, 1))(torch.ones(5, 4))


def test_buffers_have_the_names_of_torch():
    """Of one channel and all examples the layer evaluates the state of PyTorch's."""
    theirs, y = nn.BatchNorm1d(3), torch.randn(5, 3, generator=torch.Generator().manual_seed(0))
    theirs(10 * y - 2)
    state = theirs.state_dict()
    del state["num_batches_tracked"]
    ours = BatchGroupNormalization(3, eps=theirs.eps)
    ours.load_state_dict(state)
    torch.testing.assert_close(ours.eval()(y), theirs.eval()(y))


@pytest.mark.parametrize("name", [*HALF, *IN_EVALUATION])
def test_in_evaluation_an_exported_layer_takes_batches_of_any_size(name):
    layer = (HALF | IN_EVALUATION)[name]().eval()
    y = drawn(5, 2).float()
    batch = ({0: torch.export.Dim("batch")},)
    exported = torch.export.export(layer, (y,), dynamic_shapes=batch).module()
    for rows in (5, 2):
        torch.testing.assert_close(exported(y[:rows]), layer(y[:rows]), rtol=0, atol=0)

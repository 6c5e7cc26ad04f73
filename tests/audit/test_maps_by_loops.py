"""A layer's inputs as a matrix, and a unit's Hessian, against loops that are written out here."""

from itertools import product
from math import inf, isclose

import numpy as np
import pytest
import torch
from torch import nn

from verify.audit import audit, gramian, one_batch
from verify.audit.conditioning import conditioning
from verify.audit.map_statements import unlike_maps
from verify.audit.terminal import hessian

LAYERS = {
    "linear": (lambda: nn.Linear(3, 2), (7, 3)),
    "linear of a sequence": (lambda: nn.Linear(3, 2), (2, 4, 3)),
    "one axis, strided": (lambda: nn.Conv1d(2, 4, 3, stride=2, padding=1), (3, 2, 9)),
    "two axes": (lambda: nn.Conv2d(2, 3, 3, padding=1), (3, 2, 5, 4)),
    "valid": (lambda: nn.Conv2d(2, 3, 3), (3, 2, 5, 4)),
    "strided, 7 by 7": (lambda: nn.Conv2d(1, 2, 7, stride=2, padding=3), (6, 1, 9, 9)),
    "patches of even side": (lambda: nn.Conv2d(1, 2, 2, stride=2), (9, 1, 6, 6)),
    "dilated": (lambda: nn.Conv2d(2, 3, 3, dilation=2, padding=2), (3, 2, 6, 6)),
    "not square": (lambda: nn.Conv2d(2, 3, (1, 3), stride=(2, 1), padding=(0, 1)), (4, 2, 5, 5)),
    "other padding than a margin": (lambda: nn.Conv2d(1, 2, 3, padding=2), (4, 1, 5, 5)),
    "same, even kernel": (lambda: nn.Conv2d(1, 2, 2, padding="same"), (4, 1, 5, 5)),
    "reflected": (lambda: nn.Conv2d(1, 2, 3, padding=1, padding_mode="reflect"), (4, 1, 5, 5)),
    "groups": (lambda: nn.Conv2d(4, 6, 3, groups=2, padding=1), (4, 4, 5, 5)),
    "a group for each channel": (lambda: nn.Conv2d(3, 3, 3, groups=3, padding=1), (4, 3, 5, 5)),
    "three axes": (lambda: nn.Conv3d(1, 2, 2, stride=(1, 2, 1)), (3, 1, 4, 5, 4)),
}


def matrix_by_loops(layer, x, group):
    """Return the unfolded matrix of a group, entry by entry, the ones first."""
    x = x.numpy()
    if isinstance(layer, nn.Linear):
        return np.array([[1.0, *row] for row in x.reshape(-1, x.shape[-1])])
    axes, kernel = x.ndim - 2, layer.kernel_size
    if isinstance(layer.padding, str):
        total = [d * (k - 1) for d, k in zip(layer.dilation, kernel, strict=True)]
        margins = [(t // 2, t - t // 2) for t in total]
    else:
        margins = [(p, p) for p in layer.padding]
    mode = {"zeros": "constant", "reflect": "reflect"}[layer.padding_mode]
    padded = np.pad(x, [(0, 0), (0, 0), *margins], mode=mode)
    sizes = [
        (padded.shape[2 + i] - layer.dilation[i] * (kernel[i] - 1) - 1) // layer.stride[i] + 1
        for i in range(axes)
    ]
    own = x.shape[1] // layer.groups
    rows = []
    for n, *place in product(range(len(x)), *map(range, sizes)):
        row = [1.0]
        for channel, *entry in product(range(own), *map(range, kernel)):
            at = [place[i] * layer.stride[i] + entry[i] * layer.dilation[i] for i in range(axes)]
            row.append(padded[n, group * own + channel][tuple(at)])
        rows.append(row)
    return np.array(rows)


def centred_and_normalized(H):
    """Return the matrix with its columns after the first centred, and those of norm sqrt(rows)."""
    centred = np.concatenate([H[:, :1], H[:, 1:] - H[:, 1:].mean(0)], axis=1)
    return centred, centred / (np.linalg.norm(centred, axis=0) / np.sqrt(len(H)))


def kappa(matrix):
    values = np.linalg.svd(matrix, compute_uv=False)
    nonzero = values[values > 1e-12 * values[0]]
    return nonzero[0] / nonzero[-1], len(nonzero)


def drawn(name):
    torch.manual_seed(2)
    make, shape = LAYERS[name]
    return make().double(), torch.rand(shape).double() + 0.5


@pytest.mark.parametrize("name", LAYERS)
def test_scatter_and_moments_are_those_of_the_unfolded_matrix(name):
    layer, x = drawn(name)
    means, variances = gramian.moments(layer, x)
    scatters, deviations = (f(layer, x, means) for f in (gramian.scatter, gramian.deviations))
    for group in range(gramian.groups(layer)):
        H = matrix_by_loops(layer, x, group)
        centred = H[:, 1:] - H[:, 1:].mean(0)
        assert gramian.positions(layer, x) == len(H)
        np.testing.assert_allclose(deviations[group], centred, atol=1e-14)
        np.testing.assert_allclose(scatters[group], centred.T @ centred, rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(means[group], H[:, 1:].mean(0), rtol=1e-12)
        np.testing.assert_allclose(variances[group], H[:, 1:].var(0), rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("name", LAYERS)
def test_chunks_change_nothing(name, monkeypatch):
    layer, x = drawn(name)
    means, _ = gramian.moments(layer, x)
    whole = gramian.scatter(layer, x, means)
    rows = torch.cat(list(gramian.rows(layer, x)), 1)
    monkeypatch.setattr(gramian, "ENTRIES", 1)
    monkeypatch.setattr(gramian, "structure", lambda _: None)
    torch.testing.assert_close(gramian.scatter(layer, x, means), whole, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(torch.cat(list(gramian.rows(layer, x)), 1), rows)


OFFSETS = {
    "linear": (lambda: nn.Linear(3, 1), (64, 3)),
    "of one entry": (lambda: nn.Conv2d(3, 1, 1), (8, 3, 4, 4)),
    "with zeros around": (lambda: nn.Conv2d(2, 1, 3, padding=1), (8, 2, 4, 4)),
    "strided": (lambda: nn.Conv2d(2, 1, 3, stride=2, padding=1), (16, 2, 6, 6)),
    "reflected": (lambda: nn.Conv2d(2, 1, 3, padding=1, padding_mode="reflect"), (8, 2, 5, 5)),
}


@pytest.mark.parametrize(
    ("name", "offset"),
    [(name, 1e3) for name in OFFSETS] + [(n, 1e8) for n in ("linear", "of one entry", "reflected")],
)
def test_an_offset_costs_condition_numbers_no_digits(name, offset):
    torch.manual_seed(3)
    make, shape = OFFSETS[name]
    layer, x = make().double(), torch.randn(shape).double() + offset
    found = conditioning(layer, x)
    H = matrix_by_loops(layer, x, 0)
    centred, normalized = centred_and_normalized(H)
    for spectrum, matrix in ((found.centred, centred), (found.normalized, normalized)):
        assert spectrum.rank == H.shape[1]
        assert isclose(spectrum.kappa, np.linalg.cond(matrix), rel_tol=1e-7)
    if offset > 1e6:  # about the number of columns times the offset's square
        assert found.plain.kappa == inf
    else:
        assert isclose(found.plain.kappa, np.linalg.cond(H), rel_tol=1e-7)


@pytest.mark.parametrize("rows", [4, 9, 10, 11])
@pytest.mark.parametrize("offset", [1.0, 1e4])
def test_fewer_rows_than_columns(rows, offset):
    torch.manual_seed(3)
    x = torch.randn(rows, 9).double() + offset
    found = conditioning(nn.Linear(9, 1).double(), x)
    assert_spectra_are_those_of(found, matrix_by_loops(nn.Linear(9, 1), x, 0))
    assert found.plain.rank == min(rows, 10)


@pytest.mark.parametrize("scale", [1e8, 1e11])
def test_scales_of_features_cost_condition_numbers_no_digits(scale):
    torch.manual_seed(3)
    x = torch.randn(500, 3).double() * torch.tensor([1.0, scale, 1.0]).double()
    found = conditioning(nn.Linear(3, 1).double(), x)
    inverse = np.linalg.pinv(np.linalg.qr(np.c_[np.ones(500), x.numpy()]).R)
    least = 1 / np.linalg.norm(inverse, 2)
    assert isclose(found.plain.kappa, np.linalg.norm(x.numpy(), 2) / least, rel_tol=1e-3)
    assert found.normalized.kappa < 2
    assert found.is_full_rank


@pytest.mark.parametrize("rows", [3, 8, 64, 2000])
@pytest.mark.parametrize("part", [1e-3, 1e-7, 1e-10])
def test_features_that_are_nearly_one_are_told_apart(rows, part):
    torch.manual_seed(3)
    x = torch.randn(rows, 3).double()
    x[:, 2] = 2 * x[:, 0] + part * x[:, 2] + 5
    found = conditioning(nn.Linear(3, 1).double(), x)
    H = matrix_by_loops(nn.Linear(3, 1), x, 0)
    _, normalized = centred_and_normalized(H)
    rank = min(rows, 4)

    def condition(matrix):
        values = np.linalg.svd(matrix, compute_uv=False)
        return values[0] / values[rank - 1]

    assert found.normalized.rank == rank
    assert isclose(found.normalized.kappa, condition(normalized), rel_tol=1e-14 / part + 1e-7)
    assert isclose(found.plain.kappa, condition(H), rel_tol=1e-14 / part + 1e-7)


@pytest.mark.parametrize("rows", [4, 64])
def test_a_feature_twice_and_one_that_does_not_vary(rows):
    torch.manual_seed(3)
    x = torch.randn(rows, 8).double() + 2
    x[:, 5], x[:, 2] = x[:, 1], 7.0
    found = conditioning(nn.Linear(8, 1).double(), x)
    H = matrix_by_loops(nn.Linear(8, 1), x, 0)
    expected, rank = kappa(H)
    assert found.plain.rank == rank == min(rows, 7)
    assert isclose(found.plain.kappa, expected, rel_tol=1e-9)
    assert (found.constant, found.is_full_rank) == (1, False)
    _, normalized = centred_and_normalized(np.delete(H, 3, axis=1))  # without the constant one
    assert isclose(found.normalized.kappa, kappa(normalized)[0], rel_tol=1e-7)


def test_a_condition_number_beyond_what_is_resolved_is_infinite():
    x = torch.randn(50, 2).double() * torch.tensor([1.0, 1e14]).double()
    model = nn.Sequential(nn.Linear(2, 3).double(), nn.Tanh())
    report = audit(model, x, None, lambda z, _: z.sum(), entries=0)
    (row,) = report.maps
    assert (row.kappa, row.gain, row.is_full_rank) == (inf, inf, True)
    assert row.kappa_normalized < 2
    assert "beyond what float64 resolves" in report.findings[0].sentence
    assert report.unexpected == []


@pytest.mark.parametrize("name", LAYERS)
def test_condition_numbers_are_those_of_the_matrices(name):
    layer, x = drawn(name)
    found = conditioning(layer, x)
    matrices = [matrix_by_loops(layer, x, g) for g in range(gramian.groups(layer))]
    H = max(matrices, key=lambda H: kappa(H)[0])
    assert_spectra_are_those_of(found, H)
    scales = [1.0, *(1 / H[:, 1:].std(0))]
    assert isclose(found.scaling, max(scales) / min(scales), rel_tol=1e-9)
    assert found.is_full_rank == (found.plain.rank == H.shape[1])
    gain = (found.plain.kappa / found.normalized.kappa) ** 2
    assert isclose(found.gain, gain, rel_tol=1e-6)


def assert_spectra_are_those_of(found, H):
    spectra = found.plain, found.centred, found.normalized
    for spectrum, matrix in zip(spectra, (H, *centred_and_normalized(H)), strict=True):
        expected, rank = kappa(matrix)
        assert spectrum.rank == rank
        assert isclose(spectrum.kappa, expected, rel_tol=1e-7)


def unit_hessian_by_differentiation(model, x, loss, name, unit):
    """Return the Hessian in one unit's bias and weights, by differentiating the whole model."""
    layer = model.get_submodule(name)
    weight, bias = layer.weight.detach(), layer.bias.detach()

    def of(flat):
        w = weight.clone()
        b = bias.clone()
        w = torch.cat([w[:unit], flat[1:].reshape(1, *w.shape[1:]), w[unit + 1 :]])
        b = torch.cat([b[:unit], flat[:1], b[unit + 1 :]])
        outputs = torch.func.functional_call(model, {f"{name}.weight": w, f"{name}.bias": b}, (x,))
        return loss(outputs)

    start = torch.cat([bias[unit : unit + 1], weight[unit].flatten()])
    return torch.autograd.functional.hessian(of, start).numpy()


def preconditioner_by_loops(H):
    mean, deviation = H[:, 1:].mean(0), H[:, 1:].std(0)
    P = np.zeros((H.shape[1], H.shape[1]))
    P[0, 0] = 1
    for j in range(1, H.shape[1]):
        P[j, j] = 1 / deviation[j - 1]
        P[0, j] = -mean[j - 1] / deviation[j - 1]
    return P


HESSIANS = {
    "S is diagonal": (lambda: nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 3)), (20, 3)),
    "a product for each weight": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 2, 2), nn.Tanh(), nn.Flatten(), nn.Linear(18, 4), nn.Tanh(),
            nn.Linear(4, 3),
        ),
        (40, 1, 4, 4),
    ),
}  # fmt: skip


@pytest.mark.parametrize("said", HESSIANS)
def test_a_units_hessian_is_that_of_the_whole_model(said):
    torch.manual_seed(4)
    make, shape = HESSIANS[said]
    model, x = make().double(), torch.rand(shape).double()
    labels = torch.randint(3, (len(x),))

    def loss(outputs, _=None):
        return nn.functional.cross_entropy(outputs, labels)

    report = audit(model, x, None, loss)
    row = next(row for row in report.maps if row.hessian_said == said)
    assert row.hessian is not None
    hessian = unit_hessian_by_differentiation(model, x, loss, row.layer, row.unit)
    inputs = model[: int(row.layer)](x).detach()
    H = matrix_by_loops(model[int(row.layer)], inputs, 0)
    P = preconditioner_by_loops(H)

    def kappa_of(matrix):
        values = np.abs(np.linalg.eigvalsh(matrix))
        return values.max() / values.min()

    assert isclose(row.hessian, kappa_of(hessian), rel_tol=1e-5)
    assert isclose(row.hessian_preconditioned, kappa_of(P.T @ hessian @ P), rel_tol=1e-5)


def test_of_too_many_weights_some_are_taken_and_named(monkeypatch):
    torch.manual_seed(4)
    make, shape = HESSIANS["a product for each weight"]
    model, x = make().double(), torch.rand(shape).double()
    labels = torch.randint(3, (len(x),))

    def loss(outputs, _=None):
        return nn.functional.cross_entropy(outputs, labels)

    monkeypatch.setattr(one_batch, "PRODUCTS", 4)
    row = next(row for row in audit(model, x, None, loss).maps if row.hessian_columns)
    assert (row.layer, row.columns, row.hessian_columns) == ("0", 5, 4)
    assert "(unit 0, 4 of 5 columns)" in hessian(row) or "(unit 1, 4 of 5 columns)" in hessian(row)
    chosen = [0, 1, 3, 4]
    whole = unit_hessian_by_differentiation(model, x, loss, "0", row.unit)
    H = matrix_by_loops(model[0], x, 0)[:, chosen]
    P, part = preconditioner_by_loops(H), whole[np.ix_(chosen, chosen)]
    assert isclose(row.hessian, np.linalg.cond(part), rel_tol=1e-5)
    assert isclose(row.hessian_preconditioned, np.linalg.cond(P.T @ part @ P), rel_tol=1e-5)


def test_below_batch_normalization_a_bias_does_nothing_and_the_cosine_is_zero():
    torch.manual_seed(6)
    model = nn.Sequential(
        nn.Conv2d(2, 3, 3), nn.BatchNorm2d(3, 1e-12), nn.Tanh(), nn.Flatten(), nn.Linear(48, 4)
    ).double()
    labels = torch.randint(4, (64,))
    report = audit(model, torch.rand(64, 2, 6, 6).double(), labels, nn.functional.cross_entropy)
    below, last = report.maps
    assert (below.useless_bias, below.normalized_by) == (True, "1")
    assert abs(below.cosine) < 1e-9
    assert below.hessian_said.startswith("not full rank")
    assert (last.useless_bias, last.normalized_by) == (False, "")
    assert abs(last.cosine) > 1e-3
    said = "its bias does nothing: layer 1 takes it away"
    assert any(said in finding.sentence for finding in report.findings)


def test_a_layer_with_fewer_rows_than_columns_is_told_that_theorem_4_does_not_apply():
    torch.manual_seed(8)
    model = nn.Sequential(nn.Linear(30, 3)).double()
    report = audit(
        model, torch.rand(8, 30).double(), torch.randint(3, (8,)), nn.functional.cross_entropy
    )
    row = report.maps[0]
    assert (row.rank, row.columns, row.is_full_rank) == (8, 31, False)
    assert row.theorem_4 == "does not apply: rank 8 of 31"
    assert row.hessian_said == "not full rank: Theorem 4 does not apply"
    claims = {s.statement for s in report.statements}
    assert "L-thm-4a" not in claims


def test_proposition_10_is_about_kernels_with_a_middle():
    torch.manual_seed(10)
    model = nn.Sequential(
        nn.Conv2d(2, 3, 3, padding=1), nn.Conv2d(3, 3, 3, stride=2, padding=1), nn.Conv2d(3, 2, 1)
    ).double()
    x = torch.rand(4, 2, 6, 6).double()
    report = audit(model, x, None, lambda z, _: (z**3).mean())
    said = [row.proposition_10 for row in report.maps]
    assert [s.startswith("holds") for s in said] == [True, False, False]
    H = matrix_by_loops(model[0], x, 0)
    means = H[:, 1:].mean(0).reshape(2, 3, 3)
    own = x.mean((0, 2, 3)).numpy()[:, None, None]
    bound = (3 - 1) * (1 / 12 + 1 / 12 - 2 / (4 * 36)) * x.abs().amax((0, 2, 3)).numpy()
    worst = (np.abs(means - own) / bound[:, None, None]).max()
    found = next(s for s in report.statements if s.statement == "L-prop-10")
    assert isclose(found.worst_ratio, worst, rel_tol=1e-9)


REASONS = {
    "linear": "it is no convolution",
    "linear of a sequence": "it is no convolution",
    "one axis, strided": "it is over one axis",
    "two axes": "",
    "valid": "not as many zeros around as keep the size of the maps",
    "strided, 7 by 7": "it moves by 2 and 2",
    "patches of even side": (
        "a kernel of 2 by 2 without a middle, it moves by 2 and 2,"
        " not as many zeros around as keep the size of the maps"
    ),
    "dilated": "a dilation of 2 and 2",
    "not square": "a kernel of 1 by 3, it moves by 2 and 1",
    "other padding than a margin": "not as many zeros around as keep the size of the maps",
    "same, even kernel": (
        "a kernel of 2 by 2 without a middle, not as many zeros around as keep the size of the maps"
    ),
    "reflected": "its padding is reflect",
    "groups": "2 groups of channels",
    "a group for each channel": "3 groups of channels",
    "three axes": "it is over 3 axes",
}


@pytest.mark.filterwarnings("ignore:Using padding='same' with even kernel")
@pytest.mark.parametrize("name", LAYERS)
def test_proposition_10_is_said_not_to_apply_for_what_is_so(name):
    make, shape = LAYERS[name]
    layer = make()
    assert unlike_maps(layer) == REASONS[name]
    report = audit(layer, closure=lambda: (layer(torch.rand(shape)) ** 3).sum(), entries=0)
    (row,) = report.maps
    expected = f"does not apply: {REASONS[name]}" if REASONS[name] else "holds"
    assert row.proposition_10.startswith(expected)


def weight_by_hand(layer):
    """Return what a weight-normed or spectral-normed layer multiplies by."""
    if hasattr(layer, "weight_g"):
        g, v = layer.weight_g, layer.weight_v
    elif hasattr(made := layer.parametrizations.weight, "original1"):
        g, v = made.original0, made.original1
    else:
        v, one = made.original.detach(), made[0]
        u = nn.functional.normalize(v @ one._v, dim=0, eps=one.eps)  # a step of the power method
        right = nn.functional.normalize(v.T @ u, dim=0, eps=one.eps)
        return v / (u @ v @ right)
    rows = v.detach().flatten(1).norm(dim=1).reshape(g.shape)
    return g.detach() * v.detach() / rows


@pytest.mark.filterwarnings("ignore:`torch.nn.utils.weight_norm` is deprecated")
@pytest.mark.parametrize(
    ("wrap", "make", "times"),
    [
        (nn.utils.parametrizations.weight_norm, lambda: nn.Linear(4, 4), 1),
        (nn.utils.parametrizations.weight_norm, lambda: nn.Linear(4, 4), 2),
        (nn.utils.parametrizations.weight_norm, lambda: nn.Conv1d(4, 4, 3, padding=1), 2),
        (nn.utils.weight_norm, lambda: nn.Linear(4, 4), 2),
        # Its weight is another at every call.
        (nn.utils.parametrizations.spectral_norm, lambda: nn.Linear(4, 4), 1),
    ],
    ids=["weight_norm", "shared", "of maps", "by a hook", "spectral_norm"],
)
def test_the_cosine_of_a_weight_that_is_made_of_others(wrap, make, times):
    torch.manual_seed(11)
    layer, x = wrap(make()).double(), torch.randn(3, 4, 4).double()
    report = audit(layer, closure=lambda: several(layer, x, times), budget=0)
    weight = weight_by_hand(layer).requires_grad_()
    is_linear = isinstance(layer, nn.Linear)
    function = nn.functional.linear if is_linear else nn.functional.conv1d
    more = {} if is_linear else {"padding": 1}
    bias = layer.bias.detach()
    loss = several(lambda z: function(z, weight, bias, **more), x, times)
    (gradient,) = torch.autograd.grad(loss, weight)
    expected = (weight * gradient).sum() / weight.norm() / gradient.norm()
    (row,) = report.maps
    assert isclose(row.cosine, expected.item(), rel_tol=1e-9)
    assert abs(row.cosine) > 1e-3


def several(layer, x, times):
    for _ in range(times):
        x = layer(x).tanh()
    return (x**3).sum() + x.sum()


def test_the_cosine_is_none_where_no_gradient_reaches_the_weights():
    layer = nn.utils.parametrizations.weight_norm(nn.Linear(4, 3))
    layer.parametrizations.requires_grad_(False)
    x = torch.randn(8, 4)
    assert audit(layer, closure=lambda: layer(x).square().sum(), budget=0).maps[0].cosine is None


def features_of(inputs, layers, kind):
    torch.manual_seed(0)
    made = nn.Sequential(*layers()).to(kind)
    return made(inputs.to(kind)).detach()


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
@pytest.mark.parametrize(
    ("layers", "rank"),
    [
        (lambda: (nn.Linear(8, 16), nn.BatchNorm1d(16)), 9),
        (lambda: (nn.Linear(4, 8), nn.LayerNorm(8)), 6),
        (lambda: (nn.Linear(12, 12),), 13),
    ],
    ids=["wider", "without a direction", "full"],
)
def test_roundings_of_the_network_are_no_rank(layers, rank, kind):
    inputs = torch.randn(64, 12, generator=torch.Generator().manual_seed(3))
    width = layers()[0].in_features
    exactly, rounded = (
        conditioning(nn.Linear(1, 1), features_of(inputs[:, :width], layers, each))
        for each in (torch.float64, kind)
    )
    assert exactly.plain.rank == rounded.plain.rank == min(rank, exactly.columns)
    assert rounded.plain.kappa == pytest.approx(exactly.plain.kappa, rel=0.05)
    assert rounded.normalized.kappa == pytest.approx(exactly.normalized.kappa, rel=0.05)


def test_where_all_that_varies_are_roundings_no_right_statement_is_said_to_fail():
    """The norm of the features is at least N n/(N - 1), of what is left of them it is N."""
    last = 2.0**-10  # digit of 10000 in single precision
    steps = torch.tensor([[0.0, 1, 1, -1, 1], [1, 0, -1, -1, -1], [-1, -1, 1, 1, -1]])
    x, model = 1e4 + last * steps, nn.Sequential(nn.Linear(5, 4), nn.Tanh(), nn.Linear(4, 3))
    report = audit(model, x, torch.arange(3), nn.functional.cross_entropy, entries=0)
    assert (report.maps[0].rank, report.unexpected) == (1, [])
    (row,) = (row for row in report.statements if row.statement == "L-norm-Ghat/at-least")
    (layer,) = (layer for layer in row.layers if layer.layer == "0")
    assert layer.undecided == 1


@pytest.mark.parametrize("digits", [2.0**-52, 2.0**-40])
def test_the_rounding_of_a_mean_accuses_no_right_statement(digits):
    """Of two examples, where the norm of the features is equal to its bound."""
    steps = torch.tensor([[-1.0, 0, 2, -3], [-2, 6, -2, -8]], dtype=torch.float64)
    x, model = 0.7 + digits * steps, nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 3))
    loss = nn.functional.cross_entropy
    assert audit(model.double(), x, torch.arange(2), loss, entries=0).unexpected == []


def test_inputs_that_are_no_results_of_roundings_keep_their_rank():
    digits = torch.randint(17, (64, 12), generator=torch.Generator().manual_seed(5)) * 1.0
    digits[:, 3:] = digits[:, 3:] // 8 + digits[:, :1]
    exactly, rounded = (
        conditioning(nn.Linear(12, 1), digits.to(each)) for each in (torch.float64, torch.bfloat16)
    )
    assert rounded.plain == exactly.plain


def test_a_group_of_less_rank_is_the_worst():
    x = torch.randn(16, 4, 6, 6, generator=torch.Generator().manual_seed(6))
    x[:, 3], x[:, 1] = x[:, 2], x[:, 0] + 0.01 * x[:, 1]
    found = conditioning(nn.Conv2d(4, 4, 1, groups=2), x)
    assert (found.group, found.plain.rank, found.is_full_rank) == (1, 2, False)


def test_a_column_of_roundings_hides_no_other():
    inputs = torch.randn(256, 8, generator=torch.Generator().manual_seed(4)) + 3
    inputs[:, :3] = 3 + 1e-3 * (inputs[:, :3] - 3)
    found = conditioning(nn.Linear(8, 1), inputs.half())
    assert found.plain.rank == 6
    assert conditioning(nn.Linear(8, 1), inputs).plain.rank == 9

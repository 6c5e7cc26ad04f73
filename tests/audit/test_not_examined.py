"""What is not examined is named, with what to do; and only that."""

import pytest
import torch
from small_networks import CROSS_ENTROPY
from torch import nn
from torch.nn import functional
from torch.nn.utils import parametrizations, parametrize

from verify.audit import audit


class OwnNorm(nn.Module):
    def forward(self, x):
        return functional.layer_norm(x, x.shape[-1:])


class OwnRMSNorm(nn.Module):
    def forward(self, x):
        return functional.rms_norm(x, x.shape[-1:])


class ByHandNorm(nn.Module):
    def forward(self, x):
        return x / x.norm(dim=-1, keepdim=True)


class Own(nn.Module):
    """Its name does not tell."""

    def forward(self, x):
        return functional.batch_norm(x, None, None, training=True)


class AdaptiveLayerNorm(nn.Module):
    def __init__(self, function=True):
        super().__init__()
        self.scale, self.function = nn.Linear(6, 6), function

    def forward(self, x):
        normal = functional.layer_norm(x, [6]) if self.function else ByHandNorm()(x)
        return normal * self.scale(x)


class PreNorm(nn.Module):
    """Around a layer that is known, or named itself."""

    def __init__(self, norm):
        super().__init__()
        self.norm = norm

    def forward(self, x):
        return self.norm(x)


class Standardised(nn.Module):
    """Of weights, which it makes."""

    def forward(self, weight):
        return functional.layer_norm(weight, weight.shape[-1:])


class Images(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x[..., None, None]).mean((2, 3))


class States(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells = nn.GRU(6, 6)

    def forward(self, x):
        return self.cells(x)[0]


class Couples(nn.Module):
    def __init__(self):
        super().__init__()
        self.couple = nn.Bilinear(6, 6, 6)

    def forward(self, x):
        return self.couple(x, x)


class Attends(nn.Module):
    def __init__(self):
        super().__init__()
        self.heads = nn.MultiheadAttention(6, 2)

    def forward(self, x):
        return self.heads(x, x, x)[0]


def standardised():
    layer = nn.Linear(6, 6)
    parametrize.register_parametrization(layer, "weight", Standardised())
    return layer


def noted(layer, **options):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(6, 6), layer, nn.Linear(6, 3))
    x, labels = torch.randn(8, 6), torch.arange(8) % 3
    return audit(model, x, labels, CROSS_ENTROPY, budget=0, **options).notes


AS = "if it normalises its last axis say so, by --as"


@pytest.mark.filterwarnings("ignore:`torch.jit.script` is deprecated")
@pytest.mark.parametrize(
    ("make", "said"),
    [
        (OwnNorm, f"1: OwnNorm calls torch.nn.functional.layer_norm itself; {AS} OwnNorm=layer,"),
        (OwnRMSNorm, f"calls torch.nn.functional.rms_norm itself; {AS} OwnRMSNorm=rms,"),
        (ByHandNorm, f"1: ByHandNorm is not a class of torch.nn; {AS} ByHandNorm=rms (or =layer),"),
        (
            Own,
            "1: Own calls torch.nn.functional.batch_norm itself;"
            " BatchNorm of torch.nn there would be examined",
        ),
        (
            AdaptiveLayerNorm,
            "1: AdaptiveLayerNorm calls torch.nn.functional.layer_norm itself;"
            " LayerNorm of torch.nn there would be examined",
        ),
        (
            lambda: AdaptiveLayerNorm(function=False),
            "1: AdaptiveLayerNorm is not a class of torch.nn;"
            " where it normalises, LayerNorm or its like would be examined",
        ),
        (lambda: PreNorm(OwnNorm()), "1.norm: OwnNorm calls"),
        (lambda: PreNorm(ByHandNorm()), "1.norm: ByHandNorm is not a class of torch.nn"),
        (lambda: PreNorm(Own()), "1.norm: Own calls"),
        (
            lambda: Images(nn.LocalResponseNorm(2)),
            "1.layer: LocalResponseNorm of torch.nn is not examined",
        ),
        (
            lambda: Images(nn.ConvTranspose2d(6, 6, 2)),
            "1.layer: ConvTranspose2d of torch.nn is not examined",
        ),
        (
            lambda: torch.jit.script(nn.Sequential(nn.Linear(6, 6), nn.BatchNorm1d(6))),
            "1: a module made by torch.jit is not examined",
        ),
        (Couples, "1.couple: Bilinear of torch.nn is not examined"),
        (States, "1.cells: GRU of torch.nn is not examined"),
    ],
)
def test_what_is_not_examined_is_named_once(make, said):
    (note,) = noted(make())
    assert said in note


def test_attention_multiplies_by_all_of_its_weights_itself():
    assert noted(Attends()) == [
        "1.heads.out_proj: not called as a module",
        "1.heads: the projection of inputs in MultiheadAttention (in_proj) is not examined",
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: nn.LayerNorm(6),
        lambda: PreNorm(nn.LayerNorm(6)),
        lambda: parametrizations.weight_norm(nn.Linear(6, 6)),
        lambda: parametrizations.spectral_norm(nn.Linear(6, 6)),
        standardised,
    ],
    ids=["known", "around one", "weight_norm", "spectral_norm", "standardised weights"],
)
def test_nothing_is_said_of_what_is_known_or_makes_weights(make):
    assert noted(make()) == []


def test_a_class_with_many_layers_is_named_once():
    assert len(noted(nn.Sequential(Own(), Own(), OwnNorm(), OwnNorm()))) == 2
    assert noted(nn.Sequential(*(Images(nn.ConvTranspose2d(6, 6, 2)) for _ in range(2)))) == [
        "1.0.layer, 1.1.layer: ConvTranspose2d of torch.nn is not examined"
    ]


@pytest.mark.parametrize(
    ("name", "is_named"),
    [
        *[(name, True) for name in ("BN", "BN2d", "MyBN", "SyncBN", "AdaIN", "LN", "BNReLU")],
        *[(name, False) for name in ("BNN", "GIN", "LNet", "GAIN", "Inner")],
    ],
)
def test_a_class_whose_name_is_short_for_a_normalisation_is_named(name, is_named):
    assert bool(noted(type(name, (nn.Identity,), {"__module__": "mine"})())) == is_named


def test_what_was_not_asked_for_is_not_named():
    assert noted(Own(), layers=["0"]) == []


@pytest.mark.parametrize("is_module", [False, True], ids=["a function", "a module"])
def test_what_normalises_outside_of_the_model_is_named(is_module):
    layer, x = nn.Linear(6, 3), torch.randn(8, 6)
    after = nn.LayerNorm(3) if is_module else lambda y: functional.layer_norm(y, [3])
    report = audit(layer, closure=lambda: after(layer(x)).square().sum(), budget=0)
    assert report.notes == [
        "torch.nn.functional.layer_norm is called outside of the model's modules,"
        " and is not examined there"
    ]


def test_nothing_is_said_of_a_class_that_says_what_it_is(monkeypatch):
    class Around(OwnNorm):
        eps = 1e-5

        def __init__(self):
            super().__init__()
            self.inner = OwnNorm()

        def forward(self, x):
            return self.inner(x)

    monkeypatch.setattr(OwnNorm, "normalizes", "layer", raising=False)
    monkeypatch.setattr(OwnNorm, "eps", 1e-5, raising=False)
    assert noted(OwnNorm()) == noted(Around()) == []


def test_a_module_that_raises_is_no_longer_the_one_that_runs():
    class Tries(Own):
        def __init__(self):
            super().__init__()
            self.map = nn.Linear(7, 7)

        def forward(self, x):
            try:
                return self.map(x)
            except RuntimeError:
                return super().forward(x)

    said = [note.partition(";")[0] for note in noted(Tries())]
    assert said == [
        "1.map: not called as a module",
        "1: Tries calls torch.nn.functional.batch_norm itself",
    ]

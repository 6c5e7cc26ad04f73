"""What layers and measures are made with is in its range, or refused by its name."""

from math import inf, nan

import pytest
import torch
from torch import nn

from theory.nn.batch_renormalization import BatchRenormalization
from theory.nn.lp_normalization import LpNormalization
from theory.nn.measures.landscape import along_gradient, step_sizes
from theory.nn.moving_statistics import MovingStatistics
from theory.nn.noisy_batch_normalization import ActivationNoise, NoisyBatchNormalization
from theory.nn.post_activation import PostActivation

WRONG = {
    "p below 1": (lambda: LpNormalization(3, p=0.5), r"p = 0\.5; expected an exponent >= 1"),
    "p NaN": (lambda: LpNormalization(3, p=nan), "p = nan"),
    "eps negative": (lambda: LpNormalization(3, p=2, eps=-1), "eps = -1; expected a number >= 0"),
    "eps NaN": (lambda: LpNormalization(3, p=2, eps=nan), "eps = nan; expected a number >= 0"),
    "eps infinite": (lambda: LpNormalization(3, p=2, eps=inf), "eps = inf"),
    "momentum above 1": (
        lambda: LpNormalization(3, p=2, momentum=1.5),
        r"momentum = 1\.5; .*\[0, 1",
    ),
    "momentum NaN": (lambda: LpNormalization(3, p=2, momentum=nan), "momentum = nan"),
    "no features": (lambda: LpNormalization(0, p=2), "features = 0; expected how many units"),
    "eps zero": (lambda: MovingStatistics(3, eps=0), "eps = 0; expected a number > 0"),
    "eps of averages NaN": (lambda: BatchRenormalization(3, eps=nan), "eps = nan"),
    "eps of averages infinite": (lambda: MovingStatistics(3, eps=inf), "eps = inf"),
    "rho 1": (lambda: BatchRenormalization(3, rho=1), r"rho = 1; expected a number in \[0, 1\)"),
    "rho NaN": (lambda: PostActivation(nn.Linear(3, 2), rho=nan), "rho = nan"),
    "features a fraction": (lambda: BatchRenormalization(2.5), r"features = 2\.5"),
    "noise NaN": (lambda: ActivationNoise(3, n_mu=nan), "n_mu = nan.*all of them finite"),
    "noise infinite": (lambda: ActivationNoise(3, r_sigma=inf), "r_sigma = inf.*finite"),
    "noise of no units": (lambda: ActivationNoise(0), "features = 0"),
    "rank 3": (lambda: NoisyBatchNormalization(3, 3), "rank = 3; expected 2 .* or 4"),
    "rate NaN": (lambda: step_sizes(nan, (0.5, 4), 3), "learning_rate = nan"),
    "rate infinite": (lambda: step_sizes(inf, (0.5, 4), 3), "learning_rate = inf"),
    "range infinite": (lambda: step_sizes(0.1, (0.5, inf), 3), "choose a positive rate"),
    "step sizes NaN": (lambda: walked(nan), "give positive, finite and increasing ones"),
    "step sizes that end in NaN": (
        lambda: walked(0.1, nan),
        "give positive, finite and increasing",
    ),
    "step sizes infinite": (lambda: walked(0.1, inf), "give positive, finite and increasing"),
    "step sizes that fall": (lambda: walked(0.2, 0.1), "give positive, finite and increasing"),
    "no step sizes": (lambda: walked(), "give positive, finite and increasing"),
}


def walked(*sizes):
    model = nn.Linear(2, 1)
    return along_gradient(model, torch.ones(3, 2), torch.zeros(3, 1), nn.functional.mse_loss, sizes)


@pytest.mark.parametrize("name", WRONG)
def test_out_of_range(name):
    make, message = WRONG[name]
    with pytest.raises(ValueError, match=message):
        make()


def test_the_ends_of_the_ranges_are_allowed():
    LpNormalization(1, p=inf, eps=0, momentum=1)
    MovingStatistics(1, eps=1e-30, rho=0)
    ActivationNoise(1, n_mu=0, n_sigma=1, r_mu=0, r_sigma=0)
    assert step_sizes(0.1, (1, 2), 2) == pytest.approx((0.1, 0.2))
    walked(0.1, 0.2)

"""Networks that are trained once for all tests of witnesses, and the units of one layer."""

import pytest
import torch

from verify.settings import PROFILES, Settings
from verify.witnesses.trained import Units, layers


@pytest.fixture(scope="session")
def settings(shared):
    """All files of tests share one cache of networks that are trained in full."""
    return Settings(PROFILES["smoke"], cache=shared / "networks")


@pytest.fixture(scope="session")
def maps(settings):
    """The second layer of the convolutional network: 16 units with m = 64."""
    layer = layers("convolutional", "trained", 0, settings.cache)[1]
    return Units(layer, 0, torch.arange(16))

"""The printed reproduction of a released layer is the layer, and needs nothing of this suite."""

from __future__ import annotations

import pytest
import torch

from verify.conform.implementations.implementation import by_function, implementation, standalone


@pytest.fixture(scope="module")
def implementations():
    """PyTorch's; what compiles two of them takes seconds to import."""
    from verify.conform.implementations.torch import IMPLEMENTATIONS

    return IMPLEMENTATIONS


def doubled(x):
    """Twice."""
    return 2 * x


def test_a_reproduction_computes_what_the_layer_does(implementations):
    x, gamma, beta = torch.randn(6, 4), torch.randn(4), torch.randn(4)
    for found in vars(implementations).values():
        if found.family != "batch" or "NC" not in found.subject.layouts:
            continue
        if "compile" in found.subject.name:
            continue
        space: dict = {}
        exec(found.subject.script, space)
        expected = found.subject.layer(x, gamma, beta, 1e-5)
        torch.testing.assert_close(space["layer"](x, gamma, beta, 1e-5), expected)


def test_a_reproduction_imports_what_it_names_and_nothing_of_this_suite(implementations):
    script = standalone(implementations.batch_norm.subject.layer)
    assert script.startswith("from torch.nn import functional\n")
    assert "verify" not in script
    assert '"""' not in script


def test_implementations_are_found_by_their_functions():
    one = implementation("twice", doubled, distribution="torch")
    assert by_function(one).doubled is one

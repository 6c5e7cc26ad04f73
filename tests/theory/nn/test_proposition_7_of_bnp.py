"""Proposition 7 on BNP itself: a step of post-activation BN, folded, is one of the vanilla network.

In the form that is right: the statistics of the batch, held fixed; a bias b - W (mu / sigma);
learning rates alpha_BNP = q^2 alpha_BN, so alike where every layer has N >= n.
"""

from itertools import pairwise

import torch
from bnp_subjects import RATE, TOLERANCE, dense, drawn, in_place, loss
from torch import nn

from theory.nn import batch_statistics, preconditioned_gradients
from theory.nn.bnp import BNP


def post_activation_step(W, b, x, rate):
    """A gradient step of the BN network with B_{0,1}, its statistics detached; and both before."""
    W, b = ([p.clone().requires_grad_() for p in ps] for ps in (W, b))
    h, statistics = x, []
    for i in range(len(W)):
        mean = h.mean(0).detach()
        deviation = ((h - mean) ** 2).mean(0).sqrt().detach()
        statistics.append((mean, deviation))
        a = (h - mean) / deviation @ W[i].T + b[i]
        h = a.tanh() if i + 1 < len(W) else a
    loss(h).backward()
    with torch.no_grad():
        after = [p - rate * p.grad for p in (*W, *b)]
    return after[: len(W)], after[len(W) :], statistics


def as_vanilla(W, b, statistics):
    return [
        (W[i] / deviation, b[i] - W[i] @ (mean / deviation))
        for i, (mean, deviation) in enumerate(statistics)
    ]


def model_of(folded):
    sizes = [folded[0][0].shape[1], *(len(W) for W, _ in folded)]
    layers = [nn.Linear(n, p).double() for n, p in pairwise(sizes)]
    for layer, (W, b) in zip(layers, folded, strict=True):
        layer.weight.data, layer.bias.data = W.clone(), b.clone()
    return nn.Sequential(*[m for layer in layers for m in (layer, nn.Tanh())][:-1])


def proposition_7(examples, rate_of_bnp):
    """The largest relative difference between a step of BN, folded, and one of BNP."""
    model = dense()
    W, b = [model[0].weight, model[2].weight], [model[0].bias, model[2].bias]
    W, b = ([p.detach() for p in ps] for ps in (W, b))
    x = 2.0 + 3.0 * drawn(examples, 5, seed=5)
    after_W, after_b, statistics = post_activation_step(W, b, x, RATE)
    before, expected = as_vanilla(W, b, statistics), as_vanilla(after_W, after_b, statistics)
    vanilla = model_of(before)
    bnp = BNP(vanilla, rho=0.0, eps_1=0.0, eps_2=0.0)
    loss(vanilla(x)).backward()
    bnp.precondition()
    differences = []
    for layer, old, new in zip([vanilla[0], vanilla[2]], before, expected, strict=True):
        rate = rate_of_bnp(layer.in_features)
        for parameter, start, end in zip((layer.weight, layer.bias), old, new, strict=True):
            found = start - rate * parameter.grad
            differences.append(float((found - end).abs().max() / (end - start).abs().max()))
    return max(differences)


def test_proposition_7_with_as_many_examples_as_inputs():
    assert proposition_7(8, lambda n: RATE) < TOLERANCE


def test_proposition_7_fails_as_printed_with_fewer_examples():
    assert proposition_7(4, lambda n: RATE) > 0.1


def test_proposition_7_with_fewer_examples_at_a_rate_for_each_layer():
    assert proposition_7(4, lambda n: max(n / 4, 1) * RATE) < TOLERANCE


def test_proposition_7_sees_planted_mistakes(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(preconditioned_gradients, "steps_4_and_5", in_place("at once"))
        assert proposition_7(8, lambda n: RATE) > 1e-3
    right = batch_statistics.of
    with monkeypatch.context() as patch:
        patch.setattr(
            batch_statistics,
            "of",
            lambda layer, h: right(layer, h)._replace(variance=right(layer, h).variance * 8 / 7),
        )
        assert proposition_7(8, lambda n: RATE) > 1e-3

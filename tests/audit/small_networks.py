"""Networks of every kind that an audit meets, small; and data for them."""

from functools import partial
from unittest.mock import patch

import torch
from torch import nn

from theory.nn.networks.resnet import resnet18, resnet50
from theory.nn.networks.vgg import vgg
from verify.audit import audit, auditing
from verify.engine import CLAIMS

CROSS_ENTROPY = nn.functional.cross_entropy


class Block(nn.Module):
    """A transformer's block, normalised first."""

    def __init__(self, width, norm, heads=2, is_causal=False):
        super().__init__()
        self.norm1, self.norm2 = norm(width), norm(width)
        self.attention = nn.MultiheadAttention(width, heads, batch_first=True)
        self.mlp = nn.Sequential(
            nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width)
        )
        self.is_causal = is_causal

    def forward(self, x):
        h, mask = self.norm1(x), None
        if self.is_causal:
            mask = nn.Transformer.generate_square_subsequent_mask(x.shape[1], dtype=x.dtype)
        x = x + self.attention(h, h, h, attn_mask=mask, need_weights=False)[0]
        return x + self.mlp(self.norm2(x))


class VisionTransformer(nn.Module):
    """Patches of 4 by 4 as words, two blocks, the mean of the words."""

    def __init__(self, width=16, classes=10):
        super().__init__()
        self.patches = nn.Conv2d(3, width, 4, stride=4)
        self.places = nn.Parameter(0.1 * torch.randn(1, 16, width))
        self.blocks = nn.Sequential(Block(width, nn.LayerNorm), Block(width, nn.LayerNorm))
        self.norm = nn.LayerNorm(width)
        self.output = nn.Linear(width, classes)

    def forward(self, images):
        words = self.patches(images).flatten(2).mT
        return self.output(self.norm(self.blocks(words + self.places)).mean(1))


class LanguageModel(nn.Module):
    """Words, one causal block with RMS normalisation, and the next word."""

    def __init__(self, words=20, width=16):
        super().__init__()
        self.embedding = nn.Embedding(words, width)
        self.block = Block(width, nn.RMSNorm, is_causal=True)
        self.norm = nn.RMSNorm(width)
        self.output = nn.Linear(width, words, bias=False)

    def forward(self, words):
        return self.output(self.norm(self.block(self.embedding(words))))


class First(nn.Module):
    """The first of what a layer gives back."""

    def forward(self, pair):
        return pair[0]


class Detached(nn.BatchNorm1d):
    """A layer whose backward pass takes the variance for a constant."""

    def forward(self, y):
        centred = y - y.mean(0)
        sigma = (centred.square().mean(0).detach() + self.eps).sqrt()
        return self.weight * centred / sigma + self.bias


class Halved(nn.BatchNorm1d):
    """A layer whose backward pass gives half of the gradient."""

    def forward(self, y):
        z = super().forward(y)
        return z.detach() + (z - z.detach()) / 2


TOLD_OF = ("L-thm-4a", "L-thm-4c")
"""Of every layer that has a row."""
FEW = [claim for i, claim in enumerate(CLAIMS) if i % 8 == 0 or claim.id in TOLD_OF]


def audit_with_entries(*args, **options):
    """Audit with a look into one layer's entries, for few statements: all take seconds."""
    with patch.object(auditing, "_claims", lambda: FEW):
        return audit(*args, **options, entries=1)


def next_word(outputs, targets):
    return CROSS_ENTROPY(outputs.flatten(0, 1), targets.flatten())


def images(size, count=8):
    return torch.randn(count, 3, size, size), torch.randint(10, (count,))


def words():
    drawn = torch.randint(20, (6, 9))
    return drawn[:, :-1], drawn[:, 1:]


NETWORKS = {
    "ResNet-18": (
        partial(resnet18, (3, 32, 32), 10, width=4, normalization="batch"),
        partial(images, 32, 16),
        CROSS_ENTROPY,
    ),
    "ResNet-50": (
        partial(resnet50, (3, 32, 32), 10, width=2, normalization="batch"),
        partial(images, 32, 16),
        CROSS_ENTROPY,
    ),
    "VGG-16": (
        partial(vgg, (3, 32, 32), 10, width=4, normalization="batch"),
        partial(images, 32, 16),
        CROSS_ENTROPY,
    ),
    "vision transformer": (VisionTransformer, partial(images, 16), CROSS_ENTROPY),
    "language model": (LanguageModel, words, next_word),
}
"""What makes each, its data, and its loss."""


def made(name, dtype=torch.float64):
    """Return a network, a batch, targets and a loss, drawn alike at every call."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        network, data, loss = NETWORKS[name]
        model, (inputs, targets) = network().to(dtype), data()
    return model, inputs.to(dtype) if inputs.is_floating_point() else inputs, targets, loss


def trained(model, inputs, targets, loss, steps=3):
    """Take some steps of gradient descent."""
    optimiser = torch.optim.SGD(model.parameters(), lr=0.05)
    model.train()
    for _ in range(steps):
        optimiser.zero_grad()
        loss(model(inputs), targets).backward()
        optimiser.step()
    optimiser.zero_grad()
    return model

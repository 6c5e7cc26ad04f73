"""Every figure and table of measurements in both papers: what here corresponds to it.

Schemes without measurements (paper S, Fig. 5; paper L, Fig. 1 and 2) have no entry.

Source: Santurkar et al. 2018, last version and supplement (S); Lange, Helfrich and Ye 2022 (L).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from verify.experiments.experiment import Observation

CIFAR = "CIFAR-10 is not here: --data FOLDER"
_PLACES = re.compile(r"Fig\. ([0-9a-z, ]+)")


@dataclass(frozen=True)
class PaperFigure:
    """A figure of a paper and the experiment that looks for what it shows.

    Args:
        paper: "S" or "L".
        number: of the figure; "table 1" of a table.
        shows: its axes and what is compared.
        experiment: by name.
        axes: whether ours has the same, and what differs.
        untried: what could not be tried here, with what it takes.
    """

    paper: str
    number: str
    shows: str
    experiment: str
    axes: str
    untried: str = ""

    @property
    def command(self) -> str:
        """What runs it as the paper did, for those who have its data."""
        options = " ".join(re.findall(r"--[a-z]+ [A-Za-z]+", self.untried))
        command = f"python -m verify experiment {self.experiment} --profile deep"
        return f"{command} {options}".rstrip()

    def seen(self, observations: Iterable[Observation]) -> list[Observation]:
        """Return the observations whose source names this figure."""
        return [one for one in observations if self.number in numbers(one.source, self.paper)]


def numbers(source: str, paper: str) -> set[str]:
    """Return the numbers of the paper's figures that an observation's source names.

    >>> sorted(numbers("S-lp, sect. 3.3, Fig. 11a, 13a", "S"))
    ['11', '13']
    >>> numbers("L-fig-8, centre", "L"), numbers("L-fig-6-7, Fig. 6, left", "L")
    ({'8'}, {'6'})
    >>> sorted(numbers("L-table-1", "L")), numbers("L-table-1", "S")
    (['9', 'table 1'], set())
    """
    if not source.startswith(f"{paper}-"):
        return set()
    if source.startswith("L-table-1"):
        return {"9", "table 1"}
    if source.startswith("L-fig-8"):
        return {"8"}
    places = " ".join(_PLACES.findall(source))
    return set(re.findall(r"\d+", places))


FIGURES = (
    PaperFigure("S", "1", "accuracy by step, VGG with and without BN at two rates", "vgg",
                "same", CIFAR),
    PaperFigure("S", "2", "accuracy by step with noise after BN; activations by layer", "vgg",
                "same", CIFAR),
    PaperFigure("S", "3", "internal covariate shift by step: cosine and distance", "vgg",
                "same", CIFAR),
    PaperFigure("S", "4", "loss, change of the gradient and effective smoothness by step", "vgg",
                "same", CIFAR),
    PaperFigure("S", "6", "internal covariate shift of more layers", "vgg",
                "same; of layers of both networks", CIFAR),
    PaperFigure("S", "7", "change of mean and variance of activations by step, VGG", "vgg",
                "same", CIFAR),
    PaperFigure("S", "8", "activations by layer, deep linear network", "dln",
                "same; and deviations by step"),
    PaperFigure("S", "9", "landscape by step, deep linear network", "dln", "same"),
    PaperFigure("S", "10", "predictiveness of the gradient by step length", "vgg",
                "same", CIFAR),
    PaperFigure("S", "11", "VGG by ℓₚ norm: accuracy, loss along and change of the gradient",
                "vgg", "same", CIFAR),
    PaperFigure("S", "12", "deep linear network by ℓₚ norm: the same", "dln", "same"),
    PaperFigure("S", "13", "accuracy by step by ℓₚ norm, both networks", "vgg",
                "same; that of the deep linear network is in dln", CIFAR),
    PaperFigure("S", "14", "histograms of activations by ℓₚ norm, VGG", "vgg",
                "same; and changes of the moments by step", CIFAR),
    PaperFigure("L", "3", "loss and accuracy by epoch, 3 x 100 network, batch 60", "small-batch",
                "same", "MNIST and CIFAR-10 are not here: --data FOLDER"),
    PaperFigure("L", "4", "the same at batches of 6 and 1, also of the CNN", "small-batch",
                "same; here BN with 4 things as well", CIFAR),
    PaperFigure("L", "5", "loss and accuracy by epoch, 5-layer CNN, batches of 128 and 2",
                "small-batch", "same; batches of 60 in place of 128", CIFAR),
    PaperFigure("L", "6", "loss and accuracy by epoch, ResNet-110", "resnet",
                "same; of ResNet-8 on digits with noise, and on the paper's data of ResNet-110",
                "CIFAR-10 and CIFAR-100 are not here, and hundreds of epochs of ResNet-110 want a "
                "GPU: --data FOLDER --device cuda"),
    PaperFigure("L", "7", "loss and accuracy by epoch, ResNet-18", "resnet",
                "same, on the paper's data only",
                "ImageNet is not here, and wants GPUs: --data FOLDER --device cuda"),
    PaperFigure("L", "8", "training, condition numbers of the Hessian, and of D, by step",
                "conditioning", "same; and on 240 images, where Theorem 4 applies", CIFAR),
    PaperFigure("L", "9", "cumulative time of 20 epochs, BN and BNP, by batch size", "cost",
                "epoch by epoch, not cumulative", "the paper's GPU: --device cuda"),
    PaperFigure("L", "table 1", "seconds of an epoch, BN and BNP, by batch size", "cost",
                "ratios beside seconds", "the paper's GPU: --device cuda"),
)  # fmt: skip

r"""What paper L observes of small batches, and whether it was seen.

Accuracies are shares of the test images, without unit.  "Faster" is a higher accuracy as a mean
over epochs, "better" a higher one after the last.  Ours are other data, batches of 60 where the
paper has 128, and batch renormalization and LN where it has none: see the experiment.

Source: Lange, Helfrich and Ye 2022, sect. 5, Fig. 3 to 5.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from verify.experiments.classifier_training import FOUR_THINGS
from verify.experiments.experiment import Measured, Numbers, Observation
from verify.experiments.small_batch.readings import average, last, means, trainings

COMPARABLE = 0.02
"""Mean accuracies that differ by no more are comparable."""

SIGNIFICANT = 0.02
"""A difference of more is significant."""

LEAST_SEEDS, LEAST_EPOCHS = 3, 5
"""Fewer cannot tell one method from another."""

Accuracies = Mapping[str, float]
"""Means over seeds, by method."""


@dataclass(frozen=True)
class Seen:
    """Something that the paper says of a figure.

    Args:
        source: the figure.
        network, batch: where it is looked for.
        methods: of which it speaks.
        statement: what the paper says.
        criterion: what is looked at.
        measure: from a piece's numbers to one accuracy for each seed.
        judge: from the means by method to whether it appeared.
    """

    source: str
    network: str
    batch: int
    methods: tuple[str, ...]
    statement: str
    criterion: str
    measure: Callable[[Numbers], Sequence[float]]
    judge: Callable[[Accuracies], bool]


def above(better: Sequence[str], worse: Sequence[str], by: float = 0.0) -> Callable[..., bool]:
    """Judge whether each of some methods is above each of others by more than so much."""

    def judge(found: Accuracies) -> bool:
        return min(found[one] for one in better) > max(found[one] for one in worse) + by

    return judge


def together(methods: Sequence[str]) -> Callable[[Accuracies], bool]:
    """Judge whether some methods are all comparable."""

    def judge(found: Accuracies) -> bool:
        values = [found[method] for method in methods]
        return max(values) - min(values) <= COMPARABLE

    return judge


BETTER = "Mean accuracy after the last epoch: {} above {}."
FASTER = "Mean accuracy over all epochs: {} more than " + str(SIGNIFICANT) + " above {}."

SEEN = (
    Seen("Fig. 3", "dense", 60, ("batch", "bnp"), "BN and BNP have comparable performance.",
         f"Mean accuracy after the last epoch within {COMPARABLE} of each other.",
         last, together(("batch", "bnp"))),
    Seen("Fig. 3", "dense", 60, ("batch", "bnp", "none", "layer"),
         "BNP and BN outperform the vanilla and LN networks.",
         BETTER.format("BNP and BN", "both others"),
         last, above(("batch", "bnp"), ("none", "layer"))),
    Seen("Fig. 4, left", "dense", 6, ("bnp", "batch", "none"),
         "With mini-batch size 6, BNP outperforms BN and the vanilla network.",
         BETTER.format("BNP", "both"), last, above(("bnp",), ("batch", "none"))),
    Seen("Fig. 4, left", "dense", 6, ("batch-renormalization", "layer", "batch"),
         "Batch Renorm and LN perform better than BN.",
         BETTER.format("both", "BN"), last, above(("batch-renormalization", "layer"), ("batch",))),
    Seen("Fig. 4, right", "dense", 1, ("bnp", "layer", "none"),
         "Batch size 1: BNP and LN converge significantly faster than the vanilla network.",
         FASTER.format("both", "vanilla"), average,
         above(("bnp", "layer"), ("none",), SIGNIFICANT)),
    Seen("Fig. 5, left", "convolutional", 60, ("batch", "bnp"),
         "BN and BNP have comparable performance (batches of 128 there).",
         f"Mean accuracy after the last epoch within {COMPARABLE} of each other.",
         last, together(("batch", "bnp"))),
    Seen("Fig. 5, left", "convolutional", 60, ("batch", "bnp", FOUR_THINGS),
         "BN, BN with 4 things and BNP have comparable performance.",
         f"Mean accuracies after the last epoch within {COMPARABLE} of each other.",
         last, together(("batch", "bnp", FOUR_THINGS))),
    Seen("Fig. 5, left", "convolutional", 60, ("batch", "bnp", "none"),
         "They outperform the vanilla network (trained by Adam there).",
         BETTER.format("both", "vanilla"), last, above(("batch", "bnp"), ("none",))),
    Seen("Fig. 5, right", "convolutional", 2, ("bnp", "batch", "batch-renormalization"),
         "For mini-batch size 2, BNP significantly outperforms BN and Batch Renorm.",
         f"Mean accuracy after the last epoch: BNP more than {SIGNIFICANT} above both.",
         last, above(("bnp",), ("batch", "batch-renormalization"), SIGNIFICANT)),
    Seen("Fig. 5, right", "convolutional", 2, ("bnp", FOUR_THINGS),
         "For mini-batch size 2, BNP significantly outperforms BN with 4 things.",
         f"Mean accuracy after the last epoch: BNP more than {SIGNIFICANT} above it.",
         last, above(("bnp",), (FOUR_THINGS,), SIGNIFICANT)),
    Seen("Fig. 5, right", "convolutional", 2, ("batch", "bnp", "none", "batch-renormalization"),
         "BN underperforms all other methods.", BETTER.format("all of the paper's others", "BN"),
         last, above(("bnp", "none", "batch-renormalization"), ("batch",))),
    Seen("Fig. 4, right", "convolutional", 1, ("bnp", "none"),
         "With mini-batch size 1 BNP trains faster than the vanilla network.",
         FASTER.format("BNP", "vanilla"), average, above(("bnp",), ("none",), SIGNIFICANT)),
    Seen("Fig. 4, right", "convolutional", 1, ("bnp", "none"),
         "With mini-batch size 1 BNP reaches slightly higher accuracy than the vanilla network.",
         BETTER.format("BNP", "vanilla"), last, above(("bnp",), ("none",))),
    Seen("Fig. 4, right", "convolutional", 1, ("bnp", "none", FOUR_THINGS),
         "BN with 4 things significantly underperforms with mini-batch size 1.",
         f"Mean accuracy after the last epoch: both others more than {SIGNIFICANT} above it.",
         last, above(("bnp", "none"), (FOUR_THINGS,), SIGNIFICANT)),
)  # fmt: skip


def observations(measured: Measured) -> Sequence[Observation]:
    """Return what the paper observes of small batches, and whether it appeared."""
    found = [_of_training(seen, trainings(measured, seen.network, seen.batch)) for seen in SEEN]
    return [*found, _of_single_examples(measured)]


def _of_training(seen: Seen, pieces: Mapping[str, Numbers]) -> Observation:
    some = {method: pieces[method] for method in seen.methods}
    found = means({method: seen.measure(numbers) for method, numbers in some.items()})
    can_tell = all(
        len(numbers["runs"]) >= LEAST_SEEDS and numbers["epochs"] >= LEAST_EPOCHS
        for numbers in some.values()
    )
    told = "; ".join(_text(method, seen, numbers) for method, numbers in some.items())
    return Observation(
        source=f"L-fig-3-5, {seen.source}",
        statement=seen.statement,
        criterion=seen.criterion,
        appeared=seen.judge(found) if can_tell else None,
        found=told if can_tell else f"{told} (needs {LEAST_SEEDS} seeds, {LEAST_EPOCHS} epochs)",
    )


def _text(method: str, seen: Seen, numbers: Numbers) -> str:
    values = seen.measure(numbers)
    middle = means({method: values})[method]
    rate = numbers["rate"]
    return f"{method} {middle:.3f} ({min(values):.3f} to {max(values):.3f}) at rate {rate:g}"


def _of_single_examples(measured: Measured) -> Observation:
    every = {
        f"{method} in the {numbers['network']} network": said
        for numbers in measured.values()
        for method, said in numbers.get("refused", {}).items()
    }
    refused = [name for name, said in every.items() if said]
    return Observation(
        source="L-fig-3-5, Fig. 4, right",
        statement="For mini-batch size 1, BN and BN Renorm do not train.",
        criterion="In training mode both networks refuse a single example by an error.",
        appeared=len(refused) == len(every) if every else None,
        found=f"{len(refused)} of {len(every)} refuse it: {', '.join(refused)}",
    )

"""Numbers as the experiments return them, made up: all that the papers see is there to be seen.

What is given to a function is changed in them, so that something is not.
"""

from verify.experiments.classifier_training import FOUR_THINGS, METHODS
from verify.experiments.cost.figures import PRINTED
from verify.experiments.deep_linear.experiment import SHOWN
from verify.experiments.resnet.recipes import EVERY_FAMILY
from verify.experiments.small_batch.experiment import BATCHES
from verify.experiments.vgg.experiment import NOISE
from verify.experiments.vgg.experiment import SHOWN as SHOWN_OF_VGG


def meter(steps, values):
    return {"steps": list(steps), "values": list(values)}


def landscape(loss, factor):
    """A landscape whose ranges, changes and smoothness are a factor times those of 1."""
    return {
        "gradient_norm": 1.0,
        "losses": [loss, loss + factor],
        "gradient_changes": [0.01 * factor, factor],
        "loss_variation": [loss, loss + factor],
        "gradient_predictiveness": [0.01 * factor, factor],
        "effective_smoothness": factor,
    }


def training(normalization, factor, losses, cosine, layers, **facts):
    """A metered training whose landscape is as rough as a factor says, measured at 0, 1, ..."""
    steps = range(len(losses))
    seen = meter(steps, [landscape(loss, factor) for loss in losses])
    shift = {layer: {"difference": 1.0, "cosine": cosine, "gradient_norm": 2.0} for layer in layers}
    histogram = {"low": -1.0, "high": 1.0, "shares": [0.25, 0.5, 0.25]}
    return {
        "normalization": normalization,
        "seed": 0,
        "steps": len(losses),
        "times": [0.01, 1.0],
        "diverged": None,
        "loss": meter(steps, losses),
        **dict.fromkeys(("landscape", "random", "beyond"), seen),
        "shift": meter(steps, [shift] * len(steps)),
        "deviations": meter(steps, [dict.fromkeys(layers, 5.0)] * len(steps)),
        "histograms": meter(steps, [dict.fromkeys(layers, histogram)] * len(steps)),
        **facts,
    }


def updated(found, changed):
    return {name: numbers | (changed or {}).get(name, {}) for name, numbers in found.items()}


def dln_losses(over, last=10.0):
    values = [x / over for x in [100.0] * 5 + [10.0] * 4 + [last]]
    return {"loss": meter([0, 1, 2, 3, 4, 9000, 9200, 9400, 9600, 9999], values)}


def dln(changed=None):
    found = {
        name: training(name, factor, [2.0] * 10, cosine, SHOWN, kind="training")
        | {"steps": 10_000, **dln_losses(over)}
        for name, factor, over, cosine in (
            ("none", 50.0, 1, 0.99), ("batch", 1.0, 4, 0.1), ("l1", 1.0, 5, 0.1),
            ("l2", 1.0, 4, 0.1), ("linf", 1.0, 4, 0.1),
        )
    }  # fmt: skip
    for name, rates in {"none": (1e-6,), "batch": (1e-7, 1e-6, 1e-5)}.items():
        for rate in (1e-9, 1e-7, 1e-6, 1e-5):
            found[f"{name} {rate}"] = {
                "kind": "trial", "normalization": name, "seed": 0, "learning_rate": rate,
                "steps": 10, "diverged": None,
                "loss": meter([0, 9], [100.0, 10.0 if rate in rates else 90.0]),
            }  # fmt: skip
    return updated(found, changed)


def accuracies(share):
    return {"batch": share, "test": share}


def vgg(changed=None):
    found = {}
    for name, rate, factor, learnt, accuracy, change, cosine in (
        ("none", 0.1, 100.0, 6, 0.80, 0.1, 0.99),
        ("batch", 0.1, 1.0, 2, 0.95, 0.1, 0.2),
        ("noisy-batch", 0.1, 1.0, 2, 0.94, 1.0, 0.2),
        ("l1", 0.1, 1.0, 2, 0.96, 1.0, 0.2),
        ("l2", 0.1, 1.0, 2, 0.95, 1.0, 0.2),
        ("linf", 0.1, 1.0, 2, 0.94, 1.0, 0.2),
        ("none", 0.5, 1.0, 20, 0.1, 0.1, 0.2),
        ("batch", 0.5, 1.0, 2, 0.9, 0.1, 0.2),
        (NOISE, 0.1, 1.0, 20, 0.1, 0.1, 0.2),
    ):
        losses = [2.0 if step < learnt else 0.5 for step in range(20)]
        moments = [
            {
                layer: {"means": [change * step], "variances": [change * step]}
                for layer in SHOWN_OF_VGG
            }
            for step in range(20)
        ]
        found[f"{name} {rate}"] = training(name, factor, losses, cosine, SHOWN_OF_VGG) | {
            "steps": 400,
            "learning_rate": rate,
            "data": "digits",
            "batch_size": 64,
            "accuracy": meter([0, 19], [accuracies(a) for a in (0.1, accuracy)]),
            "moments": meter(range(20), moments),
        }
    return updated(found, changed)


PAPERS = {
    ("dense", 60, "batch"): 0.9, ("dense", 60, "bnp"): 0.91, ("dense", 60, "layer"): 0.85,
    ("dense", 60, "none"): 0.8, ("dense", 6, "bnp"): 0.9, ("dense", 6, "layer"): 0.88,
    ("dense", 6, "batch-renormalization"): 0.88, ("dense", 6, "batch"): 0.8,
    ("dense", 6, "none"): 0.79, ("dense", 1, "bnp"): 0.9, ("dense", 1, "layer"): 0.9,
    ("dense", 1, "none"): 0.7, ("convolutional", 60, "batch"): 0.9,
    ("convolutional", 60, "bnp"): 0.89, ("convolutional", 60, "none"): 0.8,
    ("convolutional", 2, "bnp"): 0.9, ("convolutional", 2, "batch-renormalization"): 0.8,
    ("convolutional", 2, "none"): 0.75, ("convolutional", 2, "batch"): 0.6,
    ("convolutional", 1, "bnp"): 0.9, ("convolutional", 1, "none"): 0.8,
    ("convolutional", 60, FOUR_THINGS): 0.9, ("convolutional", 2, FOUR_THINGS): 0.85,
    ("convolutional", 1, FOUR_THINGS): 0.3,
}  # fmt: skip
"""Last accuracies by network, batch and method."""


def small_batch(last=(), seeds=3, epochs=5, refused="one example"):
    last, pieces = PAPERS | dict(last), {}
    for network in ("dense", "convolutional"):
        for batch in BATCHES:
            methods = METHODS if batch > 1 else ("none", "layer", "bnp")
            for method in (*methods, *([FOUR_THINGS] if network == "convolutional" else [])):
                accuracy = last.get((network, batch, method), 0.5)
                curve = [accuracy * (k + 1) / epochs for k in range(epochs)]
                a_run = {"losses": [1.0] * epochs, "accuracies": curve, "diverged": None}
                trial = {"learning_rate": 0.1, "accuracies": [0.3], "diverged": None}
                pieces[f"{network} {batch} {method}"] = {
                    "network": network, "batch": batch, "method": method, "data": "digits",
                    "paper": 0.1, "images": 10, "epochs": epochs, "trials": [trial], "rate": 0.1,
                    "runs": [{"seed": seed, **a_run} for seed in range(seeds)],
                }  # fmt: skip
    single = {"network": "dense", "refused": {"batch": refused, "batch-renormalization": "1"}}
    return {**pieces, "single": single}


def conditioning(worse=0, seeds=3, losses=(1.0, 0.2), **changed):
    value = {
        "hessian": 1e8, "centred": 1e7, "preconditioned": 1e4, "guarded": 1e5,
        "scaling": 1e2, "guarded_scaling": 200.0,
    } | changed  # fmt: skip
    kept = {"steps": [0, 5], "values": [value, value]}
    trainings = {
        f"{method}, seed {seed}": {
            "method": method, "data": "digits", "images": 100, "epochs": 5, "seed": seed,
            "losses": [loss] * 5, "accuracies": [1 - loss / 2] * 5, "batch": kept, "many": kept,
        }
        for seed in range(seeds)
        for method, loss in zip(("none", "bnp"), losses, strict=True)
    }  # fmt: skip
    found = [
        {"law": "normal", "N": N, "n": 100, "worse": many, "largest": 1.5}
        for N, many in ((60, 7), (101, worse), (240, 0))
    ]
    return {**trainings, "random batches": {"method": "centring", "count": 20, "found": found}}


def cost(ratios):
    """Seconds of BNP at some ratios to those of BN, and of the hidden layers' at the paper's."""
    return {
        f"batch {batch}": {
            "batch": batch, "images": 1024, "device": "cpu",
            "seconds": {
                "none": [0.9] * 3, "batch": [1.0, 1.0, 5.0], "bnp": [ratio, ratio, 5 * ratio],
                "bnp, hidden": [PRINTED[batch], PRINTED[batch], 5 * PRINTED[batch]],
            },
        }
        for batch, ratio in ratios.items()
    }  # fmt: skip


EARLY = {"batch": 0.70, "group": 0.60, "bnp": 0.75, "group+bnp": 0.80}
LATE = {"batch": 0.93, "group": 0.85, "bnp": 0.80, "group+bnp": 0.93}


def resnet(early=(), late=(), epochs=130, network="ResNet-110", **changed):
    """Two seeds of one network, from test accuracies before and after the first decay."""
    family, early, late = EVERY_FAMILY[network], EARLY | dict(early), LATE | dict(late)
    return {
        f"{network}, {method}, seed {seed}": {
            "network": network,
            "method": method,
            "seed": seed,
            "data": family.data,
            "batch": 128,
            "parameters": 1_727_962,
            "first_step": {"rate": 0.01, "before": 3.0, "after": 2.5},
            "training_loss": [2.0 / (1 + epoch) for epoch in range(epochs)],
            "test_accuracy": [
                (early if epoch < family.decays[0] else late)[method] + 0.001 * seed
                for epoch in range(epochs)
            ],
            **changed,
        }
        for method in family.recipes
        for seed in (0, 1)
    }

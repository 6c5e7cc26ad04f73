"""Numbers as metered trainings of two networks return them, made up."""


def meter(steps, values):
    return {"steps": list(steps), "values": list(values)}


def seen(loss, factor):
    """A landscape whose ranges, changes and smoothness are a factor times those of 1."""
    return {
        "gradient_norm": 1.0,
        "losses": [loss, loss + factor],
        "gradient_changes": [0.01 * factor, factor],
        "loss_variation": [loss, loss + factor],
        "gradient_predictiveness": [0.01 * factor, factor],
        "effective_smoothness": factor,
    }


def training(normalization, factor, *, losses, cosine, layers, seed=0, **facts):
    """A training whose landscape is as rough as a factor says, measured at 0, 1, ..."""
    steps = range(len(losses))
    landscape = [seen(loss, factor) for loss in losses]
    shift = {layer: {"difference": 1.0, "cosine": cosine, "gradient_norm": 2.0} for layer in layers}
    histogram = {"low": -1.0, "high": 1.0, "shares": [0.25, 0.5, 0.25]}
    return {
        "normalization": normalization,
        "seed": seed,
        "steps": len(losses),
        "times": [0.01, 1.0],
        "diverged": None,
        "loss": meter(steps, losses),
        "landscape": meter(steps, landscape),
        "random": meter(steps, landscape),
        "beyond": meter(steps, landscape),
        "shift": meter(steps, [shift] * len(steps)),
        "deviations": meter(steps, [dict.fromkeys(layers, 1.5 * factor)] * len(steps)),
        "histograms": meter(steps, [dict.fromkeys(layers, histogram)] * len(steps)),
        **facts,
    }

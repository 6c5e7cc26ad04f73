"""The statements of Santurkar, Tsipras, Ilyas and Madry, one line each."""

from theory.summary import OWN, Section, lines_of

result, remark, proof = map(lines_of, Section)

LINES = [
    result(
        "S-thm-4.1",
        "The gradient with and without the layer",
        {"at the layer's output": "", "of two networks": "/two-networks"},
    ),
    result("S-thm-4.2a", "The Hessian along the gradient", OWN),
    result(
        "S-thm-4.2b",
        "The Hessian along the gradient, where H preserves relative norms",
        {"as the proof uses it": "/direct", "their ratio": "/ratio", "their order": "/order"},
    ),
    result(
        "S-obs-4.3",
        "The layer can give its batch back, and all minima are preserved",
        {
            "first sentence": "/activations",
            "second, with a bias, for least squares": "/minima/no-bias/corrected",
            "without a bias": "/minima/no-bias",
            "constant γ, β": "/minima/fixed",
        },
    ),
    result("S-thm-4.4", "The largest gradient in the weights", OWN),
    result(
        "S-lemma-4.5",
        "The nearest optimum is nearer",
        {
            "the distance to kW*, trainable γ, β": "/trainable",
            "kW* an optimum, with a bias, for least squares": "/trainable/minimum",
            "constant γ, β": "/fixed",
            "no bias": "/no-bias",
        },
    ),
    result(
        "S-thm-C1",
        "Smoothness in the weights, the maximum over inputs",
        {"with <": "/kappa", "with ≤": "/kappa/at-most"},
    ),
    result("S-fact-C1", "The gradient through the layer", OWN),
    result("S-fact-C2", "The layer's Jacobian", {"(1)": "-eq-1", "(2)": "-eq-2"}),
    result("S-thm-4.1-supp", "The gradient, in the supplement", OWN),
    result(
        "S-v1-thm-3.1",
        "First version: an output's sensitivity to a weight",
        {"α as used": "/as-used", "as defined": "/as-defined"},
    ),
    result(
        "S-v1-thm-C3",
        "First version: an output's sensitivity, in the appendix",
        {"without the layer": "-vanilla", "with it": "/as-used"},
    ),
    result(
        "S-v1-thm-3.2",
        "First version: the gradient in one weight",
        {
            "c the square of a cosine, at the layer's output": "/square",
            "a cosine": "/cosine",
            "of two networks": "/two-networks",
        },
    ),
    result(
        "S-v1-thm-C4",
        "First version: the gradient in one weight, under a condition",
        {
            "c the square of a cosine, at the layer's output": "/square",
            "a cosine": "/cosine",
            "of two networks": "/two-networks",
        },
    ),
    result(
        "S-v1-lemma-3.3",
        "First version: near-optimal weights stay near-optimal",
        {"ε < 1/2": "", "any ε": "/any-epsilon"},
    ),
    result(
        "S-v1-thm-3.4",
        "First version: each entry of the Hessian shrinks",
        {"constants chosen first": "/any-constants", "for each network": "/own-constants"},
    ),
    result(
        "S-v1-thm-C6",
        "First version: a bound on each entry of the Hessian",
        {
            "one weight, for the loss shown": "/same-weight",
            "two weights of a unit, for that loss": "/same-unit",
            "two units of the same weights": "/two-units",
        },
    ),
    result("S-v1-fact-C1", "First version: the gradient through the layer", OWN),
    result(
        "S-v1-fact-C2",
        "First version: the layer's Jacobian",
        {"(1)": "-eq-1", "(2), α as used": "-eq-2/as-used", "as defined": "-eq-2/as-defined"},
    ),
    remark("S-thm-4.1-identification", "The loss's gradients in two networks are one", OWN),
    remark("S-thm-4.2-identification", "The loss's Hessians in two networks are one", OWN),
    remark(
        "S-remark-growth",
        "How the gains grow with the dimension, and what they need",
        {
            "the squared sum, an identity": "/sum",
            "for a mean loss": "/mean-loss",
            "a shorter gradient, any weights": "/lipschitz",
        },
    ),
    remark(
        "S-thm-4.2-discussion",
        "When the two conditions on curvature hold",
        {"H is positive semi-definite": "/psd", "⟨ŷ, g⟩ > 0": "/descent"},
    ),
    remark(
        "S-remark-predictive",
        "Steps are more predictive",
        {"second-order term": "/smoothness", "the gradient's change": "/gradient"},
    ),
    remark(
        "S-v1-remark-resnet",
        "First version: α where weights are near the identity",
        {"of an input and its output": "/as-used", "of any pair": "/any-pair"},
    ),
    remark(
        "S-v1-remark-always",
        "First version: the layer always makes the loss more Lipschitz",
        {"in a weight": "/one-weight", "in the outputs": "/output"},
    ),
    remark(
        "S-v1-remark-spectral",
        "First version: bounded entries bound the spectral norm",
        {"a bound": "/corrected", "an improvement": ""},
    ),
    proof("S-eq-4-9", "Theorem 4.1: equations (4) to (9)"),
    proof("S-eq-24-33", "Theorem 4.2: equations (24), (27) and (30)"),
    proof("S-eq-41-42", "Theorem 4.2: the Hessian in closed form, (41) and (42)"),
    proof("S-eq-43-47", "Theorem 4.2: projections, (43) to (47)"),
    proof("S-eq-10-18", "Theorem 4.4: equations (10) to (18)"),
    proof("S-eq-52-58", "Theorem C.1: equations (52) to (58)"),
    proof("S-steps", "Every other equation of Appendix C"),
    proof("S-v1-eq-58", "First version: the Hessian in closed form, (58)"),
    proof("S-v1-steps", "First version: every other equation of Appendix C"),
]

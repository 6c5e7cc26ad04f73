"""The statements of Santurkar, Tsipras, Ilyas and Madry, one line each."""

from theory.summary import Line, Section

RESULTS, REMARKS, PROOFS = Section.RESULTS, Section.REMARKS, Section.PROOFS

LINES = [
    Line(
        "S-thm-4.1",
        RESULTS,
        "The gradient with and without the layer",
        {"at the layer's output": "S-thm-4.1", "of two networks": "S-thm-4.1/two-networks"},
    ),
    Line(
        "S-thm-4.2a",
        RESULTS,
        "The Hessian along the gradient",
        {"": "S-thm-4.2a"},
    ),
    Line(
        "S-thm-4.2b",
        RESULTS,
        "The same, where H preserves relative norms",
        {
            "as the proof uses it": "S-thm-4.2b/direct",
            "their ratio": "S-thm-4.2b/ratio",
            "their order": "S-thm-4.2b/order",
        },
    ),
    Line(
        "S-obs-4.3",
        RESULTS,
        "The layer can give its batch back, and all minima are preserved",
        {
            "first sentence": "S-obs-4.3/activations",
            "second, with a bias": "S-obs-4.3/minima/bias",
            "without": "S-obs-4.3/minima/no-bias",
            "constant γ, β": "S-obs-4.3/minima/fixed",
        },
    ),
    Line(
        "S-thm-4.4",
        RESULTS,
        "The largest gradient in the weights",
        {"": "S-thm-4.4"},
    ),
    Line(
        "S-lemma-4.5",
        RESULTS,
        "The nearest optimum is nearer",
        {
            "trainable γ, β and a bias": "S-lemma-4.5/trainable",
            "constant γ, β": "S-lemma-4.5/fixed",
            "no bias": "S-lemma-4.5/no-bias",
        },
    ),
    Line(
        "S-thm-C1",
        RESULTS,
        "Smoothness in the weights, at most over inputs",
        {"<": "S-thm-C1/kappa", "≤": "S-thm-C1/kappa/at-most"},
    ),
    Line("S-fact-C1", RESULTS, "The gradient through the layer", {"": "S-fact-C1"}),
    Line(
        "S-fact-C2",
        RESULTS,
        "The layer's Jacobian",
        {"(1)": "S-fact-C2-eq-1", "(2)": "S-fact-C2-eq-2"},
    ),
    Line(
        "S-thm-4.1-supp",
        RESULTS,
        "The gradient, in the supplement",
        {"": "S-thm-4.1-supp"},
    ),
    Line(
        "S-v1-thm-3.1",
        RESULTS,
        "First version: an output's sensitivity to a weight",
        {
            "α as used": "S-v1-thm-3.1/as-used",
            "as defined": "S-v1-thm-3.1/as-defined",
        },
    ),
    Line(
        "S-v1-thm-C3",
        RESULTS,
        "First version: the same, in the appendix",
        {"without the layer": "S-v1-thm-C3-vanilla", "with it": "S-v1-thm-C3/as-used"},
    ),
    Line(
        "S-v1-thm-3.2",
        RESULTS,
        "First version: the gradient in one weight",
        {
            "c the square of a cosine": "S-v1-thm-3.2/square",
            "a cosine": "S-v1-thm-3.2/cosine",
        },
    ),
    Line(
        "S-v1-thm-C4",
        RESULTS,
        "First version: the same, under a condition",
        {"c the square of a cosine": "S-v1-thm-C4/square", "a cosine": "S-v1-thm-C4/cosine"},
    ),
    Line(
        "S-v1-lemma-3.3",
        RESULTS,
        "First version: near-optimal weights stay near-optimal",
        {"ε < 1/2": "S-v1-lemma-3.3", "any ε": "S-v1-lemma-3.3/any-epsilon"},
    ),
    Line(
        "S-v1-thm-3.4",
        RESULTS,
        "First version: each entry of the Hessian shrinks",
        {
            "constants chosen first": "S-v1-thm-3.4/any-constants",
            "for each network": "S-v1-thm-3.4/own-constants",
        },
    ),
    Line(
        "S-v1-thm-C6",
        RESULTS,
        "First version: a bound on each entry of the Hessian",
        {
            "one weight": "S-v1-thm-C6/same-weight",
            "one unit": "S-v1-thm-C6/same-unit",
            "two units": "S-v1-thm-C6/two-units",
        },
    ),
    Line(
        "S-v1-fact-C1",
        RESULTS,
        "First version: the gradient through the layer",
        {"": "S-v1-fact-C1"},
    ),
    Line(
        "S-v1-fact-C2",
        RESULTS,
        "First version: the layer's Jacobian",
        {
            "(1)": "S-v1-fact-C2-eq-1",
            "(2), α as used": "S-v1-fact-C2-eq-2/as-used",
            "as defined": "S-v1-fact-C2-eq-2/as-defined",
        },
    ),
    Line(
        "S-thm-4.1-identification",
        REMARKS,
        "The loss's gradients in two networks are one",
        {"": "S-thm-4.1-identification"},
    ),
    Line(
        "S-remark-growth",
        REMARKS,
        "How the gains grow with the dimension, and what they need",
        {
            "the squared sum": "S-remark-growth/sum",
            "for a mean loss": "S-remark-growth/mean-loss",
            "a shorter gradient, any weights": "S-remark-growth/lipschitz",
        },
    ),
    Line(
        "S-thm-4.2-discussion",
        REMARKS,
        "When the two conditions on curvature hold",
        {
            "H is positive semi-definite": "S-thm-4.2-discussion/psd",
            "⟨ŷ, g⟩ > 0": "S-thm-4.2-discussion/descent",
        },
    ),
    Line(
        "S-remark-predictive",
        REMARKS,
        "Steps are more predictive",
        {
            "second-order term": "S-remark-predictive/smoothness",
            "the gradient's change": "S-remark-predictive/gradient",
        },
    ),
    Line(
        "S-v1-remark-resnet",
        REMARKS,
        "First version: α where weights are near the identity",
        {
            "of an input and its output": "S-v1-remark-resnet/as-used",
            "of any pair": "S-v1-remark-resnet/any-pair",
        },
    ),
    Line(
        "S-v1-remark-always",
        REMARKS,
        "First version: the layer always makes the loss more Lipschitz",
        {
            "in a weight": "S-v1-remark-always/one-weight",
            "in the outputs": "S-v1-remark-always/output",
        },
    ),
    Line(
        "S-v1-remark-spectral",
        REMARKS,
        "First version: bounded entries bound the spectral norm",
        {"": "S-v1-remark-spectral"},
    ),
    Line("S-eq-4-9", PROOFS, "Theorem 4.1: equations (4) to (9)"),
    Line("S-eq-24-33", PROOFS, "Theorem 4.2: equations (24) to (33)"),
    Line("S-eq-41-42", PROOFS, "Theorem 4.2: the Hessian in closed form, (41) and (42)"),
    Line("S-eq-43-47", PROOFS, "Theorem 4.2: projections, (43) to (47)"),
    Line("S-eq-10-18", PROOFS, "Theorem 4.4: equations (10) to (18)"),
    Line("S-eq-52-58", PROOFS, "Theorem C.1: equations (52) to (58)"),
    Line("S-steps", PROOFS, "Every other equation of Appendix C"),
    Line("S-v1-eq-58", PROOFS, "First version: the Hessian in closed form, (58)"),
    Line("S-v1-steps", PROOFS, "First version: every other equation of Appendix C"),
]

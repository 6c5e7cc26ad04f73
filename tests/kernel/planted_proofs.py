"""For each theorem that is written by hand, a wrong statement: what is edited, and into what."""

import re

EDITS = {
    "Calculus.v": {
        "hessian_symmetric": ("dot (hessian F z a) b", "- dot (hessian F z a) b"),
    },
    "Derivatives.v": {
        "fact_C_2": ("- 1 / INR m", "+ 1 / INR m"),
        "fact_C_1": ("INR m * g b - sum g", "g b - sum g"),
        "equation_41_42": ("hessian_form gamma eps y", "hessian_form gamma 0 y"),
    },
    "Abstract.v": {"sexpand_ok": ("seval s = meval", "- seval s = meval")},
    "Inputs.v": {"largest_gradient": ("(s ^ 2 * norm2 a)", "(s * norm2 a)")},
    "santurkar2018/theorem_4_1.v": {
        "theorem_4_1_equality": ("- dot g yhat ^ 2 / INR m", "- dot g yhat ^ 2"),
        "theorem_4_1": ("norm2 g - dot one g ^ 2", "norm2 g - 2 * dot one g ^ 2"),
        "theorem_4_1_eps": ("0 <= eps", "True"),
        "theorem_4_1_eps_equality": ("1 + eps / sigma^2", "1 - eps / sigma^2"),
        "theorem_4_1_bound": ("gamma^2 / sigma^2 *", "gamma / sigma^2 *"),
        "theorem_4_1_supplement_fails": ("(1 < m)%nat", "(0 < m)%nat"),
        "theorem_4_1_supplement_refuted": ("~ theorem_4_1_supplement", "theorem_4_1_supplement"),
    },
    "santurkar2018/theorem_4_2.v": {
        "hessian_of_batch_norm": ("3 / INR m", "2 / INR m"),
        "theorem_4_2_equality": ("- gamma / (INR m", "+ gamma / (INR m"),
        "theorem_4_2": ("0 < variance y", "0 <= variance y"),
        "theorem_4_2_eps_corrected": ("3 * b^2", "2 * b^2"),
        "theorem_4_2_second_display": ("dot w (H w) <= dot g (H g)", "True"),
        "theorem_4_2_second_display_corrected": ("gamma^2 <= sigma^2", "True"),
        "theorem_4_2_second_display_refuted": ("~ theorem", "theorem"),
    },
    "santurkar2018/theorem_4_4.v": {
        "theorem_4_4_corrected": ("lambda^2 / INR m", "lambda^2"),
        "theorem_4_4_eps": ("0 <= eps", "True"),
        "theorem_4_4_refuted": ("(S power)", "0"),
    },
    "santurkar2018/theorem_c_1.v": {
        "theorem_c_1_corrected": ("2 / (INR m * sigma)", "1 / (INR m * sigma)"),
        "theorem_c_1_last_term": ("27 / 64", "26 / 64"),
        "theorem_c_1_refuted": ("~ theorem", "theorem"),
    },
    "santurkar2018/lemma_4_5.v": {
        "observation_4_3": ("k <> 0", "True"),
        "lemma_4_5": ("- 1 / norm2 W", "- 2 / norm2 W"),
    },
    "santurkar2018/version_1.v": {
        "version_1_theorem_3_1": ("dot one x = 0", "True"),
        "version_1_theorem_3_1_corrected": ("1 + eps", "1 - eps"),
        "version_1_theorem_3_2_sharpened": ("(4 * sigma^2)", "(5 * sigma^2)"),
        "version_1_theorem_3_2": ("1 / sqrt c + 1", "1 / sqrt c - 1"),
        "version_1_lemma_3_3_sharpened": ("< 3 * e", "< 2 * e"),
        "version_1_lemma_3_3": ("e < 1/2", "e < 1"),
    },
}
"""The old text stands once in the theorem's statement."""

WRONG_LAYERS = {
    "divided by m - 1": (
        "sum (fun i => (y i - mean y)^2) / INR m",
        "sum (fun i => (y i - mean y)^2) / (INR m - 1)",
    ),
    "epsilon outside of the root": (
        "R := sqrt (variance y + eps)",
        "R := sqrt (variance y) + eps",
    ),
    "not centred": ("(y i - mean y) / deviation eps y", "y i / deviation eps y"),
}
"""A definition in Layer.v as somebody could have written it."""


def edited(source: str, theorem: str, old: str, new: str) -> str:
    """Return a file's text up to a theorem, with that theorem's statement edited."""
    start = next(re.finditer(rf"Theorem {theorem}\b", source)).start()
    statement, _, rest = source[start:].partition("\nProof.")
    assert statement.count(old) >= 1, f"{theorem} does not say {old!r}"
    proof, end, _ = rest.partition("Qed.")
    return f"{source[:start]}{statement.replace(old, new, 1)}\nProof.{proof}{end}\n"

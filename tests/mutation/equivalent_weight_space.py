"""Mutants that say the same: the statements in weight space, the remarks, and the proofs' steps."""

from __future__ import annotations

from reasons import ADDED_NUMBER, CENTRED, CHOICE, VANISHES, Places

S = "theory/santurkar2018"
WEIGHT_SPACE: dict[str, Places] = {
    CENTRED: {
        (f"{S}/proof_4_2_collected.py", "lines_38_40"): (
            "inner(yhat, u) -> inner(yhat, c)",
            "inner(yhat, u) -> inner(yhat, c) #2",
        ),
        (f"{S}/proof_4_2_along_gradient.py", "lines_48_49"): ("centre(at.g) -> at.g #2",),
        (f"{S}/lemma_4_5_readings.py", "at_best"): (
            "gamma * yhat + mean(t) -> gamma * yhat - mean(t)",
            "gamma * yhat + mean(t) -> gamma * yhat",
            "mean(t) -> 0 * mean(t)",
        ),
    },
    ADDED_NUMBER: {
        (f"{S}/proof_4_2_product_rule.py", "line_23"): (
            "at.one * mean(network.gradient(network.loss, z))"
            " -> mean(network.gradient(network.loss, z))",
        ),
        (f"{S}/proof_4_2_collected.py", "factor"): (
            "at.one * inner(at.one, w) -> inner(at.one, w)",
        ),
        (f"{S}/proof_4_2_collected.py", "lines_38_40"): (
            "one * inner(one, w) -> inner(one, w)",
            "one * inner(one, w_one) -> inner(one, w_one)",
            "one * inner(one, w_yhat) -> inner(one, w_yhat)",
        ),
    },
    VANISHES: {
        (f"{S}/observation_4_3_minima.py", "with_bias"): (
            "centre(network.direction) -> centre(network.other_direction)",
            "centre(network.direction) -> centre(network.y)",
            "centre(network.direction) -> centre(network.z)",
            "centre(network.y) -> centre(network.direction)",
            "centre(network.y) -> centre(network.other_direction)",
            "centre(network.y) -> centre(network.z)",
        ),
        (f"{S}/lemma_4_5_readings.py", "with_bias"): (
            "centre(network.other_direction) -> centre(network.direction)",
            "centre(network.other_direction) -> centre(network.y)",
            "centre(network.other_direction) -> centre(network.z)",
            "centre(network.y) -> centre(network.other_direction)",
            "centre(network.y) -> centre(network.z)",
        ),
        (f"{S}/proof_4_4_chain_rule.py", "bias"): (
            "0 * left -> 0",
            "0 * left -> left",
            "0 * left -> 1 * left",
        ),
    },
    CHOICE: {
        (f"{S}/remark_growth.py", "BEST_SCALE"): (
            "off(case.direction, centre(case.y)) -> off(case.other_direction, centre(case.y))",
            "off(case.direction, centre(case.y)) -> off(case.y, centre(case.y))",
            "centre(case.y) -> centre(case.direction)",
        ),
        (f"{S}/remark_predictive.py", "LINEAR"): (
            "case.with_isotropic_loss(case.direction, 0)"
            " -> case.with_isotropic_loss(case.other_direction, 0)",
        ),
        (f"{S}/theorem_c1.py", "LINEAR"): (
            "case.with_isotropic_loss(case.other_direction, 0)"
            " -> case.with_isotropic_loss(case.direction, 0)",
        ),
        (f"{S}/theorem_c1.py", "CONVEX"): (
            "case.with_isotropic_loss(case.other_direction, 1)"
            " -> case.with_isotropic_loss(case.direction, 1)",
        ),
    },
}

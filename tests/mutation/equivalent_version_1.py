"""Mutants that say the same in the first version's statements."""

from __future__ import annotations

from reasons import (
    CANCELS,
    CENTRED,
    CHOICE,
    CONSTANT,
    LINEAR,
    SCALE,
    SHIFT,
    SIGN,
    UNUSED,
    VANISHES,
    ZERO,
    Places,
)

V = "theory/santurkar2018/version_1"


def _elsewhere(call: str, *places: str) -> tuple[str, ...]:
    """Return the changes of a derivative's point, the middle argument of a call."""
    changed = (f"network.{place}" for place in places)
    return tuple(f"{call} -> {call.replace('network.y', other, 1)}" for other in changed)


OTHER_POINTS = ("direction", "other_direction", "z")
ZERO_SIGMA = tuple(
    f"0 * at.sigma -> 0 * {other}" for other in ("at.beta", "at.gamma", "at.sigma ** 2")
)
VERSION_1: dict[str, Places] = {
    SCALE: {
        (f"{V}/theorem_3_1.py", "as_correlation"): (
            "pearson(network.direction, network.y) -> pearson(network.direction, network.z)",
        ),
        (f"{V}/theorem_3_1.py", "by_correlation"): ("centre(network.y) -> centre(network.z)",),
        (f"{V}/theorem_c3.py", "CORRELATED"): (
            "pearson(network.direction, network.y) -> pearson(network.direction, network.z)",
        ),
        (f"{V}/remark_always.py", "oblique"): ("centre(network.y) -> centre(network.z)",),
        (f"{V}/remark_resnet.py", "CORRELATED"): (
            "pearson(network.y, network.y) -> pearson(network.z, network.y)",
            "pearson(network.y, network.y) -> pearson(network.y, network.z)",
        ),
    },
    LINEAR: {
        (f"{V}/theorem_c3.py", "vanilla"): _elsewhere(
            "network.derivative(lambda y: y, network.y, network.direction)", *OTHER_POINTS
        ),
        (f"{V}/theorem_c3.py", "vanilla_corrected"): _elsewhere(
            "network.derivative(lambda y: y, network.y, x)", *OTHER_POINTS
        ),
        (f"{V}/proof_c3.py", "line_3_corrected"): _elsewhere(
            "network.derivative(lambda y: y, network.y, network.direction)", *OTHER_POINTS
        ),
        (f"{V}/equation_58.py", "alpha_defined"): _elsewhere(
            "network.derivative(lambda y: inner(x, y), network.y, x_k)", *OTHER_POINTS
        ),
        (f"{V}/proof_c6_two_units_vanilla.py", "without_layer"): _elsewhere(
            "network.derivative(slope, network.y, network.direction)", *OTHER_POINTS
        ),
        (f"{V}/proof_c6_vanilla.py", "second_derivative"): _elsewhere(
            "network.derivative(slope, network.y, x)", *OTHER_POINTS
        ),
        (f"{V}/sign_flip.py", "both"): (
            "entries(network, loss, at.yhat) -> entries(network, loss, at.g)",
            "entries(network, loss, at.yhat) -> entries(network, loss, at.one)",
        ),
    },
    CONSTANT: {
        (f"{V}/proof_c6_second_term.py", "bracket_45"): tuple(
            f"network.direction - explained(network, y) -> {other}explained(network, y)"
            for other in ("-", "network.other_direction - ", "network.y - ", "network.z - ")
        ),
        (f"{V}/proof_c6_vanilla.py", "line_690_rank_one"): (
            "t + t * t / (2 * CURVATURE) -> t * t / (2 * CURVATURE)",
        ),
    },
    SIGN: {
        (f"{V}/remark_spectral.py", "vanilla"): (
            "network.z + network.gamma * (y - network.y)"
            " -> network.z - network.gamma * (y - network.y)",
        ),
        (f"{V}/proof_c6_vanilla.py", "line_686"): (
            "network.z + network.gamma * (y - network.y)"
            " -> network.z - network.gamma * (y - network.y)",
        ),
        (f"{V}/proof_c6_vanilla.py", "line_690_rank_one"): (
            "t + t * t / (2 * CURVATURE) -> t - t * t / (2 * CURVATURE)",
        ),
    },
    SHIFT: {
        (f"{V}/proof_c6_first_term.py", "by_outputs"): (
            "mean(network.y) -> 0 * mean(network.y)",
            "mean(network.y) -> mean(network.direction)",
            "mean(network.y) -> mean(network.other_direction)",
            "mean(network.y) -> mean(network.z)",
            "at.sigma * yhat + offset -> at.sigma * yhat - offset",
            "at.sigma * yhat + offset -> at.sigma * yhat",
        ),
    },
    CENTRED: {
        (f"{V}/weights.py", "pearson"): ("centre(x) -> x", "centre(y) -> y"),
        (f"{V}/theorem_3_2_readings.py", "pearson_any_mean"): (
            "centre(x) -> x",
            "centre(g) -> g",
        ),
        (f"{V}/theorem_c6_corrected.py", "bent_margin"): (
            "centre(network.direction) -> network.direction",
            "centre(network.other_direction) -> network.other_direction",
        ),
    },
    CANCELS: {
        (f"{V}/proof_c4.py", "line_14"): (
            "centre(network.direction) -> centre(network.other_direction)",
            "centre(network.direction) -> centre(network.y)",
            "centre(network.direction) -> centre(network.z)",
        ),
        (f"{V}/proof_c4.py", "bound_17"): (
            "centre(network.direction) -> network.direction",
            "centre(network.direction) -> centre(network.other_direction)",
            "centre(network.direction) -> centre(network.y)",
            "centre(network.direction) -> centre(network.z)",
        ),
    },
    UNUSED: {
        (f"{V}/theorem_c6.py", "any_epsilon_margin"): (
            "units(network, True) -> units(network, False)",
        ),
    },
    VANISHES: {
        (f"{V}/remark_resnet.py", "at_identity"): (
            "sensitivity(network, network.y) -> sensitivity(network, network.z)",
        ),
    },
    ZERO: {
        (f"{V}/theorem_3_4.py", "any_constants"): ZERO_SIGMA,
        (f"{V}/remark_resnet.py", "at_identity"): ZERO_SIGMA,
        (f"{V}/proof_c6_two_units.py", "line_625"): ZERO_SIGMA,
    },
    CHOICE: {
        (f"{V}/lemma_3_3.py", "brought_near"): (
            "centre(x) -> x",
            "centre(x) * (2 * radius(case) / (1 + square)) -> 2 * radius(case) / (1 + square)",
            "centre(x) -> x #2",
            "2 * radius(case) -> radius(case)",
            "2 * radius(case) -> 1 * radius(case)",
            "1 + square -> 2 + square",
            "goal + step(case.direction, case) -> goal - step(case.direction, case)",
            "goal + step(case.direction, case) -> goal",
            "step(case.direction, case) -> step(case.other_direction, case)",
            "step(case.direction, case) -> step(case.y, case)",
            "near + step(case.y, case) -> near - step(case.y, case)",
            "near + step(case.y, case) -> near",
            "step(case.y, case) -> step(case.direction, case)",
            "step(case.y, case) -> step(case.other_direction, case)",
        ),
        (f"{V}/proof_c4.py", "hundredfold"): (
            "100 * case.direction -> 100 * case.other_direction",
        ),
        (f"{V}/remark_zero_correlation.py", "orthogonal"): (
            "case.other_direction -> case.direction",
            "case.other_direction -> case.y",
        ),
        (f"{V}/remark_zero_correlation.py", "NO_COSINE"): (
            "orthogonal(case, case.direction) -> orthogonal(case, case.other_direction)",
        ),
        (f"{V}/remark_zero_correlation.py", "NO_CORRELATION"): (
            "centre(case.direction) -> centre(case.other_direction)",
        ),
        (f"{V}/sign_flip.py", "part_across"): (
            "centre(case.direction) -> centre(case.other_direction)",
            "centre(case.other_direction) -> centre(case.direction)",
        ),
    },
}

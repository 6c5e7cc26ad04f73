"""Where an output fails, in words: what the cases have in common, and what that may mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from verify.conform.cases import (
    AS_MADE,
    CONSTANT,
    MASKED,
    MASKED_UNIT,
    NO_GAMMA,
    NOT_FINITE,
    SCALE,
    SIZES,
    WIDE,
    Stratum,
)
from verify.conform.judge import REMEMBERED, Cell
from verify.conform.words import FAILURES, Word

LOUD = tuple(word for word in FAILURES if word not in (Word.INACCURATE, Word.OTHER_CONVENTION))
"""What is not said in the cell itself."""
NAMED = 3
"""More cases than these are counted."""
ORDINARY, ELSEWHERE = "plain", "right elsewhere"
LONG, SUBNORMAL = 1000, "subnormal"

BLOCK, VECTOR = 32, 16
"""Kernels take so many entries or channels at once, or multiples of them."""

GAMMA_ZERO = ("gamma zero", "gamma all zero")

SURE: tuple[tuple[str, Callable[[Stratum], bool]], ...] = (
    ("small gradients are set to zero", lambda s: s.log_slope < 0),
    ("large gradients are clipped", lambda s: s.log_slope > 0),
    (
        "gamma, beta, the running statistics or the output are clipped or rounded",
        lambda s: s.change == WIDE,
    ),
    ("a cotangent of zero is divided by, or left out", lambda s: s.change in (MASKED, MASKED_UNIT)),
    ("a gamma of zero is treated on its own", lambda s: s.change in GAMMA_ZERO),
    ("gamma and beta are treated on their own as they are made", lambda s: s.change == AS_MADE),
    ("beta without gamma goes another way", lambda s: s.change == NO_GAMMA),
    ("an entry that is not finite leaves its channel", lambda s: s.kind == NOT_FINITE),
)
"""What it may mean, whatever the output looks like there."""
MEANS: tuple[tuple[str, Callable[[Stratum], bool]], ...] = (
    *SURE,
    (
        "entries beyond a block are left out, or their number is rounded",
        lambda s: s.kind == SIZES and max(s.together, s.units) >= LONG,
    ),
    ("an axis of length one is treated on its own", lambda s: bool(s.single)),
    ("an eps of zero is taken for none that was given", lambda s: s.eps == 0),
    ("an axis is found by its length", lambda s: "equal" in s.name or s.together == s.units),
    ("memory is read without its strides", lambda s: bool(s.layout)),
    ("maps are read otherwise than rows", lambda s: len(s.axes) > len("NC")),
    ("a batch of one entry is treated on its own", lambda s: s.name == "m = 1"),
    (
        "whole blocks or vectors are treated on their own",
        lambda s: s.together % BLOCK == 0 or s.units % VECTOR == 0,
    ),
    (
        "a small variance is treated on its own, as by a floor",
        lambda s: s.kind == CONSTANT or s.log_scale < 0 or s.change == SUBNORMAL,
    ),
    ("large numbers are cut off", lambda s: s.kind == SCALE and s.log_scale >= 0),
)
"""What it may mean when all failing cases are of a kind."""
KEPT = "something is kept from one call to the next, or left to chance"
LATER = "a later call writes into the first one's result"
READ_AGAIN = ("own gradient", "own jvp", "evaluation", "evaluation without gradient")
"""Modes whose first result is read when it is returned, and after the later calls."""
ANOTHER_PATH = "another path where no gradient is recorded"
MERGED = "the examples of a vmap are not kept apart"
SLOPES = ("x", "gamma", "beta")
RECORDED = "recorded gradient"
UNTRACKED = "untracked evaluation"
THROUGH_RECORDED = (
    *("repeated gradient", "one at a time", "in flight", "output changed"),
    *("vmap gradient", "vmap all gradient", "second rr", "second fr", "third"),
)
"""Modes that take a gradient so that it can be differentiated again."""
OF_MODE = {
    (RECORDED, ""): "another backward where a further derivative is recorded (create_graph=True)",
    ("repeated", "z"): KEPT,
    ("repeated", "first z"): LATER,
    ("repeated gradient", ""): f"{KEPT}, in the backward",
    **{("repeated gradient", f"first {name}"): LATER for name in SLOPES},
    ("in flight", ""): "the backward uses what a later forward left",
    ("one at a time", ""): "the gradient depends on which inputs need one",
    ("output changed", ""): "the backward reads the output, which a later layer may change",
    ("without gradient", ""): ANOTHER_PATH,
    ("without gradient", "first z"): LATER,
    ("evaluation without gradient", ""): ANOTHER_PATH,
    ("running without gradient", ""): "another step of training where no gradient is recorded",
    **{("gradient twice", f"first {name}"): LATER for name in SLOPES},
    ("gradient twice", ""): "the backward overwrites what it needs for a second one, or keeps it",
    **{(f"vmap{of}", ""): MERGED for of in ("", " parameters", " all")},
    **{(f"vmap{of} gradient", ""): f"{MERGED} in the backward" for of in ("", " all")},
    ("step second", ""): "the step of training has another backward",
    ("recomputed", ""): "the step is taken once more where the backward computes it again",
    **{("recomputed", name): "the step of training has another backward" for name in SLOPES},
    (UNTRACKED, ""): "evaluation goes another way where no running statistics are kept",
}
"""What it may mean when a mode fails where its plain counterpart does not."""
AFTER = {
    ", g constant": (
        "derivative where the cotangent has one",
        "it depends on whether the cotangent needs a gradient",
    ),
    ", in pairs": (
        "gradient of one input at a time",
        "the gradient depends on which inputs need one",
    ),
    ", apart": ("derivative of all inputs at once", "it depends on which inputs have a derivative"),
    ", in flight": (
        "one straight after its forward",
        "the backward uses what a later forward left",
    ),
}
"""By the end of an output's name: what it should equal, and what it may mean if it does not."""
COUNTERPART = {
    "repeated": "forward",
    "without gradient": "forward",
    "vmap": "forward",
    "vmap parameters": "forward",
    "vmap all": "forward",
    UNTRACKED: "forward",
    RECORDED: "gradient",
    "repeated gradient": "gradient",
    "in flight": "gradient",
    "one at a time": "gradient",
    "output changed": "gradient",
    "gradient twice": "gradient",
    "vmap gradient": "gradient",
    "vmap all gradient": "gradient",
    "recomputed": "running",
    "running without gradient": "running",
    "evaluation without gradient": "evaluation",
    "step second": "second rr",
}


def place(cells: Sequence[Cell], strata: Sequence[Stratum]) -> tuple[str, str]:
    """Say at which cases an output fails that is right at the ordinary one, and what it may mean.

    Args:
        cells: of one mode and output.
        strata: of the examination.
    """
    failing = list(dict.fromkeys(cell.stratum for cell in cells if cell.word in LOUD))
    right = {cell.stratum for cell in cells if cell.word is Word.RIGHT} - set(failing)
    if not failing or not right or ORDINARY in failing:
        return "", ""
    more = len(failing) - NAMED
    named = ", ".join(failing[:NAMED]) + (f" and {more} more" if more > 0 else "")
    if all(cell.reason == REMEMBERED for cell in cells if cell.word in LOUD):
        return f"{ELSEWHERE}, wrong at {named}", "a batch of one entry is treated like any other"
    known = [stratum for stratum in strata if stratum.name in failing]
    meanings = (meaning for meaning, is_met in MEANS if all(is_met(s) for s in known))
    return f"{ELSEWHERE}, wrong at {named}", next(meanings, "")


def counterpart(mode: str, output: str) -> str | None:
    """Return the plainer mode that has the same output, if there is one."""
    is_slope = mode in ("recomputed", UNTRACKED) and output in SLOPES
    return "gradient" if is_slope else COUNTERPART.get(mode)


def meaning(mode: str, output: str) -> str:
    """Return what it may mean that a mode fails where its counterpart does not."""
    return OF_MODE.get((mode, output)) or OF_MODE.get((mode, ""), "")

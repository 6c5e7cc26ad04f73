"""A small evidence folder's contents: a proof, a counterexample, measurements, and gaps."""

from __future__ import annotations

from typing import Any

from theory.santurkar2018 import theorem_4_1, theorem_4_1_supplement
from verify.evidence import Record

CLAIMS = [*theorem_4_1.CLAIMS, *theorem_4_1_supplement.CLAIMS]
PROVED, REFUTED, WAITING = "S-thm-4.1", "S-thm-4.1-supp", "S-thm-4.1-supp/eps"
COUNTEREXAMPLE = {
    "m": 3,
    "y": ["0", "1", "0"],
    "gamma": "1",
    "beta": "0",
    "eps": "0",
    "loss": "<a, z> + <z, B z>/2",
    "parameters": {"a": ["0", "-1/2", "0"], "B": [["0"] * 3] * 3},
    "u": ["0", "0", "0"],
    "v": ["0", "0", "0"],
    "lambda": "1",
    "actual": "1/4 + sqrt(2)/3",
    "claimed": "0",
    "arithmetic": "exact",
}


def points(stratum: str, m: int, count: int, violated: bool = False) -> list[dict[str, Any]]:
    sizes = [10.0 ** (i - count / 2) for i in range(count)]
    return [
        {
            "actual": size * (2 if violated else 0.9),
            "claimed": size,
            "stratum": stratum,
            "m": m,
            "violated": violated,
        }
        for size in sizes
    ]


RECORDS = [
    Record(PROVED, "abstract", proof={"scope": "every m", "slack": "0", "terms": ["(0) * (1)^2"]}),
    Record(
        "S-thm-4.1/eps",
        "abstract",
        proof={
            "scope": "every m",
            "slack": "<c, g>**2*epsilon*gamma**2/(m*sigma**6)",
            "terms": ["(epsilon*gamma**2/(m*sigma**4)) * (<c, g>/sigma)^2"],
        },
    ),
    Record(
        PROVED,
        "autograd",
        instances=30,
        worst_ratio=0.9,
        worst_token="random:generic:0:1",
        points=points("generic", 8, 12) + points("m=3", 3, 8),
    ),
    Record(
        PROVED,
        "trained",
        instances=90,
        points=[
            p
            for layer in (0, 1)
            for stage in ("initial", "midway", "trained")
            for p in points(f"dense {stage} layer {layer}", 64, 5)
        ],
    ),
    Record(REFUTED, "exact", instances=9, violated=1, counterexample=COUNTEREXAMPLE),
    Record(REFUTED, "autograd", instances=5, violated=5, points=points("generic", 8, 5, True)),
]

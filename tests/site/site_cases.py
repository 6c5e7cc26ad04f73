"""A small evidence folder's contents: a proof, a counterexample, measurements, and gaps."""

from __future__ import annotations

from typing import Any

from theory.lange2022 import proposition_7
from theory.santurkar2018 import theorem_4_1
from theory.santurkar2018.version_1 import facts
from verify import engine
from verify.description import describe_run
from verify.evidence import Writer
from verify.experiments import figures
from verify.experiments.evidence import Result
from verify.experiments.experiment import Experiment, Observation
from verify.record import Record
from verify.results import EVERY_M, Counterexample, Proof
from verify.settings import PROFILES, Settings

NAMES = {claim.id for claim in theorem_4_1.THEOREM}
CLAIMS = [claim for claim in theorem_4_1.CLAIMS if claim.id in NAMES]
UNREADABLE = [claim for claim in facts.CLAIMS if claim.result == "S-v1-fact-C1"]
SHOWN = [*CLAIMS, *UNREADABLE, *proposition_7.OVERPARAMETRISATION]
"""The site's: they, one that is unreadable with what is right, and formulas wider than a page."""
PROVED, REFUTED, WAITING = "S-thm-4.1", "S-thm-4.1-supp", "S-thm-4.1-supp/eps"
COUNTEREXAMPLE = Counterexample(
    {"m": 3},
    {
        "y": ["0", "1", "0"],
        "gamma": "1",
        "beta": "0",
        "eps": "0",
        "loss": "<a, z> + <z, B z>/2",
        "parameters": {"a": ["0", "-1/2", "0"], "B": [["0"] * 3] * 3},
        "u": ["0", "0", "0"],
        "v": ["0", "0", "0"],
        "lambda": "1",
    },
    actual="1/4 + sqrt(2)/3",
    claimed="0",
)


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
    Record(PROVED, "abstract", proof=Proof((EVERY_M,), "0", ("(0) * (1)^2",))),
    Record(
        "S-thm-4.1/eps",
        "abstract",
        proof=Proof(
            (EVERY_M,),
            "<c, g>**2*epsilon*gamma**2/(m*sigma**6)",
            ("(epsilon*gamma**2/(m*sigma**4)) * (<c, g>/sigma)^2",),
        ),
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


def silent(claims, records):
    """Records of the other witnesses of these statements, which found nothing."""
    named = {record.claim for record in records}
    examined = [claim for claim in claims if claim.id in named]
    return [Record(*pair.name) for pair in engine.pairs(examined, engine.WITNESSES)]


def write_records(folder, claims, records):
    """Write a folder of evidence of a run that found these."""
    marks = engine.todays(Settings(PROFILES["smoke"], 0, "numpy", "cpu"), claims)
    writer = Writer(folder, describe_run("smoke", 0, "numpy", "cpu"), marks)
    for record in [*records, *silent(claims, records)]:
        writer.add(record)
    writer.close()


def drawn(measured):
    """Two figures: one of one panel, one of three."""
    losses = [numbers["loss"] for numbers in measured.values()]
    one, [axes] = figures.new("Loss, 2 seeds, n = 4", r"Mean & range, $\ell_2$, a_1 < b*2*.")
    three, panels = figures.new("Three panels, 2 seeds", "The same thrice.", columns=3)
    for each in (axes, *panels):
        figures.mean_and_range(each, [1, 2, 3], losses, figures.STYLES["batch"])
        each.set(xlabel="step", ylabel="loss (no unit)")
        each.legend()
    return {"loss": one, "panels": three}


def observed(measured):
    """One that was observed, one that was not, and one of which nothing can be told."""
    return [
        Observation("S-fig, Fig. 9a", r"it falls | by $10^2$", "last_loss < first", True, "2 < 9*"),
        Observation("S-fig, Fig. 9b", "it *never* rises", "no step up", False, "3 of 4 steps"),
        Observation("S-fig, Fig. 9c", "it costs $5", "a shop", None, "no shop on <this> machine"),
    ]


def no_pieces(setting):
    """Nothing is run."""
    return []


EXPERIMENT = Experiment(
    name="dln",
    title="The deep linear network [small]",
    rows=("S-DLN", "S-fig"),
    description="Layers, $W_1 \\cdots W_{25}$.\n\nFewer steps than in the paper <so far>.",
    pieces=no_pieces,
    figures=drawn,
    observations=observed,
)
"""With characters that Markdown and HTML would take for something else."""

SEEN = {"layer": "1", "claim": PROVED, "undecided": 0, "vacuous": 1}
RESULT = Result(
    name="dln",
    title=EXPERIMENT.title,
    rows=EXPERIMENT.rows,
    description=EXPERIMENT.description,
    profile="smoke",
    seeds=(0, 1),
    data="no data folder",
    run=describe_run("smoke", 0, "torch", "cpu"),
    seconds={"a": 1.0, "b": 2.0},
    pieces={
        "a": {"loss": [9.0, 3.0, 2.0]},
        "b": {
            "loss": [8.0, 4.0, None],
            "theorems": [{**SEEN, "instances": 8, "violated": 0, "worst_ratio": 0.75}],
        },
    },
)

"""Evidence that somebody else wrote: markup in every text that a record has."""

from __future__ import annotations

from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any

from msgspec import convert
from site_cases import CLAIMS, PROVED, RECORDS, WAITING, silent

from verify import engine
from verify.description import describe_run
from verify.evidence import Run, Writer
from verify.record import Record
from verify.results import Proof, Theorem
from verify.settings import PROFILES, Settings

SCRIPT = "<script>alert(1)</script>"
HOSTILE = f"\"'><b>{SCRIPT}<img src=x onerror=alert(2)>\n\n```{{raw}} html\n{SCRIPT}\n```\n"
"""What ends an attribute, an element, a line, a paragraph and a fence of code."""
SETTINGS = Settings(PROFILES["smoke"], 0, HOSTILE, HOSTILE)


def poisoned(value: Any, kept: tuple[str, ...] = ()) -> Any:
    """Return nested values with markup after every text, but that under the keys that are kept."""
    if isinstance(value, str):
        return value + HOSTILE
    if isinstance(value, dict):
        return {key: v if key in kept else poisoned(v, kept) for key, v in value.items()}
    if isinstance(value, list | tuple):
        return [poisoned(v, kept) for v in value]
    return value


def record(found: Record) -> Record:
    """Return a record with markup in all that does not name what it is about."""
    texts = poisoned(asdict(found), kept=("claim", "witness", "fingerprint"))
    strata = {name + HOSTILE: {"instances": 3, "holds": 3} for name in ("one", "two")}
    sizes = {f"m = 2{HOSTILE}": f"fails{HOSTILE}"}
    return convert(texts | {"strata": strata, "sizes": sizes, "notes": HOSTILE}, Record)


def proof_that_names(letter: str) -> Record:
    """Return a proof of a statement that no other record is about, with a size somebody wrote."""
    sizes = ({letter + HOSTILE: None, f"n{HOSTILE}": 2}, {letter + HOSTILE: 3, f"n{HOSTILE}": 2})
    return Record(WAITING, "symbolic", proof=Proof(sizes))


THEOREM = Theorem(HOSTILE, HOSTILE, f"True {HOSTILE}", (HOSTILE,), HOSTILE, HOSTILE)


def records() -> list[Record]:
    """Return hostile records: a proof, a counterexample, measurements, a theorem."""
    hostile = [record(found) for found in RECORDS]
    return [*hostile, proof_that_names("N"), replace(
        record(RECORDS[0]), witness="kernel", claim=PROVED, theorem=THEOREM
    )]  # fmt: skip


def write(folder: Path) -> None:
    """Write a folder of evidence whose texts are all hostile."""
    described = describe_run("smoke", 0, "numpy", "cpu")
    texts = {
        f.name: getattr(described, f.name) + HOSTILE
        for f in fields(Run)
        if isinstance(getattr(described, f.name), str) and f.name != "profile"
    }
    versions = {name + HOSTILE: HOSTILE for name in ("numpy", "torch")}
    run = replace(
        described, **texts | {"backend": HOSTILE, "device": HOSTILE, "versions": versions}
    )
    writer = Writer(folder, run, engine.todays(SETTINGS, CLAIMS))
    for found in [*records(), *silent(CLAIMS, records())]:
        writer.add(found)
    writer.close()

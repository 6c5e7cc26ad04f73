"""A site, built once from a small evidence folder, for all processes of a run of the tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from unittest.mock import patch

import pytest
from site_cases import CLAIMS, EXPERIMENT, RECORDS, RESULT, SHOWN, write_records

from verify.experiments import run
from verify.experiments.evidence import folder_of
from verify.site import api_pages
from verify.site.build import GENERATED, write_pages

ROOT = Path(__file__).resolve().parents[2]
LIBRARY, SANTURKAR, LANGE = "theory.convolution", "theory.santurkar2018", "theory.lange2022"
MODULES = {
    LIBRARY: [f"{LIBRARY}.windows"],
    SANTURKAR: [f"{SANTURKAR}.theorem_4_1", f"{SANTURKAR}.version_1.facts"],
    LANGE: [f"{LANGE}.proposition_7"],
}
REFERENCE = {
    "LIBRARY": {LIBRARY: api_pages.LIBRARY[LIBRARY]},
    "STATEMENTS": {name: api_pages.STATEMENTS[name] for name in (SANTURKAR, LANGE)},
    "modules": MODULES.__getitem__,
}
"""Some of the pages of the library and of statements; ``make docs`` builds all."""
IMPLEMENTATIONS = "haiku.jsonl"
"""The others' pages are made alike."""
Made = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def evidence(made_once: Made) -> Path:
    return made_once("evidence", write_evidence)


def write_evidence(folder: Path) -> None:
    write_records(folder, CLAIMS, RECORDS)
    run.view(EXPERIMENT, RESULT, folder_of(folder, EXPERIMENT.name))


@pytest.fixture(scope="session")
def sources(evidence: Path, made_once: Made) -> Path:
    return made_once("site", partial(write_sources, evidence)) / "docs"


def write_sources(evidence: Path, folder: Path) -> None:
    """Copy what is written by hand, and write the rest; of what is alike, a part."""
    target = folder / "docs"
    ignored = shutil.ignore_patterns("_build", *GENERATED)
    shutil.copytree(ROOT / "docs", target, ignore=ignored)
    kept, measured = ROOT / "docs" / "measured", folder / "measured"
    others = [path.name for path in kept.glob("*.jsonl") if path.name != IMPLEMENTATIONS]
    # Experiments that are kept are drawn, which takes long.
    shutil.copytree(kept, measured, ignore=shutil.ignore_patterns("experiments", *others))
    with patch.multiple(api_pages, **REFERENCE):
        write_pages(evidence, target, SHOWN, measured)


@pytest.fixture(scope="session")
def site(sources: Path, made_once: Made) -> Path:
    return made_once("html", partial(build, sources))


def build(sources: Path, built: Path) -> None:
    """Build with warnings as errors."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, str(sources), str(built)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr

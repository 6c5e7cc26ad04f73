"""A site, built once from a small evidence folder, for all processes of a run of the tests."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from site_cases import CLAIMS, EXPERIMENT, RECORDS, RESULT, silent

from verify import engine
from verify.description import describe_run
from verify.evidence import Writer
from verify.experiments import run
from verify.experiments.evidence import folder_of
from verify.settings import PROFILES, Settings
from verify.site.build import GENERATED, write_pages

ROOT = Path(__file__).resolve().parents[2]
Made = Callable[[str, Callable[[Path], None]], Path]


@pytest.fixture(scope="session")
def evidence(made_once: Made) -> Path:
    return made_once("evidence", write_evidence)


def write_evidence(folder: Path) -> None:
    settings = Settings(PROFILES["smoke"], 0, "numpy", "cpu")
    described = describe_run("smoke", 0, "numpy", "cpu")
    writer = Writer(folder, described, engine.todays(settings, CLAIMS))
    for record in [*RECORDS, *silent(CLAIMS, RECORDS)]:
        writer.add(record)
    writer.close()
    run.view(EXPERIMENT, RESULT, folder_of(folder, EXPERIMENT.name))


@pytest.fixture(scope="session")
def sources(evidence: Path, made_once: Made) -> Path:
    return made_once("site", partial(write_sources, evidence)) / "docs"


def write_sources(evidence: Path, folder: Path) -> None:
    """Copy what is written by hand, and write the rest."""
    target = folder / "docs"
    ignored = shutil.ignore_patterns("_build", *GENERATED)
    shutil.copytree(ROOT / "docs", target, ignore=ignored)
    measured = folder / "measured"  # experiments that are kept are drawn, which takes long
    without = shutil.ignore_patterns("experiments")
    shutil.copytree(ROOT / "docs" / "measured", measured, ignore=without)
    write_pages(evidence, target, CLAIMS, measured)
    keep_reference_small(target)


def keep_reference_small(target: Path) -> None:
    """Leave out what takes long and is built by ``make docs`` anyway."""
    for page in (target / "reference").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if ":members:" in text:
            page.write_text(f"{text.partition('```')[0]}\n", encoding="utf-8")


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

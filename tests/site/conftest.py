"""A site built once from a small evidence folder, and a browser to look at it."""

from __future__ import annotations

import shutil
import subprocess
import sys
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


@pytest.fixture(scope="session")
def evidence(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("evidence")
    settings = Settings(PROFILES["smoke"], 0, "numpy", "cpu")
    described = describe_run("smoke", 0, "numpy", "cpu")
    writer = Writer(folder, described, engine.todays(settings, CLAIMS))
    for record in [*RECORDS, *silent(CLAIMS, RECORDS)]:
        writer.add(record)
    writer.close()
    run.view(EXPERIMENT, RESULT, folder_of(folder, EXPERIMENT.name))
    return folder


@pytest.fixture(scope="session")
def sources(evidence: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Copy what is written by hand, and write the rest."""
    target = tmp_path_factory.mktemp("site") / "docs"
    ignored = shutil.ignore_patterns("_build", *GENERATED)
    shutil.copytree(ROOT / "docs", target, ignore=ignored)
    measured = target.parent / "measured"  # experiments that are kept are drawn, which takes long
    without = shutil.ignore_patterns("experiments")
    shutil.copytree(ROOT / "docs" / "measured", measured, ignore=without)
    write_pages(evidence, target, CLAIMS, measured)
    keep_reference_small(target)
    return target


def keep_reference_small(target: Path) -> None:
    """Leave out what takes long and is built by ``make docs`` anyway."""
    for page in (target / "reference").glob("*.md"):
        text = page.read_text(encoding="utf-8")
        if ":members:" in text:
            page.write_text(f"{text.partition('```')[0]}\n", encoding="utf-8")


@pytest.fixture(scope="session")
def site(sources: Path) -> Path:
    """Build with warnings as errors."""
    built = sources / "_build" / "html"
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, str(sources), str(built)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return built

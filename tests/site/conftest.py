"""A site built once from a small evidence folder, and a browser to look at it."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from site_cases import CLAIMS, EXPERIMENT, RECORDS, RESULT

from verify import engine
from verify.evidence import Writer, describe_run
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
    for record in RECORDS:
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
    write_pages(evidence, target, CLAIMS)
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


def find_browser() -> str | None:
    names = ("chromium", "chromium-browser", "google-chrome")
    return next((path for name in names if (path := shutil.which(name))), None)


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Start Chromium with the flags that keep it off the network."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    path = find_browser()
    if path is None:
        pytest.skip("no Chromium on this machine (Debian: apt-get install chromium)")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(
            executable_path=path,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
            ],
        )
        yield browser
        browser.close()
